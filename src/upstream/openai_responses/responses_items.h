// The output items of a Responses answer as far as they have come, and which of them an event speaks of.
//
// An event names its item by `item_id` and `output_index`. Compatible servers leave either out, use one index for all
// items, or give deltas another id than the item; calls have their call_id as well. The id counts first, then the index,
// then what can only be meant.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/fnv1a.h"
#include "base/surrogate_joiner.h"
#include "upstream/openai_responses/responses_frame.h"

namespace callgate::upstream {

// How much of a text has left, and which text that was: what repeats it is not said again.
class Said {
 public:
  void add(std::string_view text) {
    length_ += text.size();
    hash_ = fnv1a(text, hash_);
  }
  std::size_t length() const { return length_; }
  bool is(std::string_view text) const { return text.size() == length_ && fnv1a(text) == hash_; }

  // Finds what of a whole text has not been said yet. It is given in pieces; each call returns the new part of a piece.
  class Rest {
   public:
    // `fits`: the text begins with what was said. If it does not, none of it is new.
    Rest(std::size_t said, bool fits) : skip_(said), fits_(fits) {}
    std::string_view of(std::string_view piece) {
      const std::size_t known = std::min(skip_, piece.size());
      skip_ -= known;
      return fits_ ? piece.substr(known) : std::string_view();
    }

   private:
    std::size_t skip_;
    bool fits_;
  };
  // `each(visit)` calls visit(piece) for every piece of the whole text.
  template <class Each>
  Rest rest(Each each) const {
    std::size_t left = length_;
    std::uint64_t hash = Said().hash_;
    each([&](std::string_view piece) {
      const std::string_view known = piece.substr(0, left);
      hash = fnv1a(known, hash);
      left -= known.size();
    });
    return {length_, left == 0 && hash == hash_};
  }
  std::string_view rest_of(std::string_view whole) const {
    return rest([&](auto visit) { visit(whole); }).of(whole);
  }

 private:
  std::size_t length_ = 0;
  std::uint64_t hash_ = kFnv1aStart;
};

struct OutputItem {
  enum class Kind : std::uint8_t { message, reasoning, call, custom_call, other };
  Kind kind = Kind::other;
  std::size_t number = 0;  // in the order of arrival
  std::size_t position =
      0;  // in the message that Chat Completions has: its text is one, wherever it stood
  std::string id;
  std::string other_id;  // that deltas use instead
  std::string call_id;
  std::string name;
  std::optional<std::int64_t> output_index;
  std::optional<std::int64_t> other_index;  // that deltas use instead
  bool id_used = false;                     // by a delta
  bool misplaced = false;                   // deltas came for another index
  bool done = false;
  bool matched = false;  // by an item of the whole response

  Said text;   // of a message, its reasoning summary, its arguments or its input
  Said other;  // refusal, or reasoning text
  SurrogateJoiner text_halves;
  SurrogateJoiner other_halves;
  Said part;  // of the part that came last
  bool part_is_other = false;
  std::optional<std::int64_t> part_index;
  std::size_t annotations = 0;
  std::string early;  // arguments that came with the start
  bool early_object = false;
};

OutputItem::Kind item_kind_of(std::string_view type);

class OutputItems {
 public:
  // The item that a delta, or another event inside an item, speaks of. One that is not known is added. nullptr: there are
  // too many.
  OutputItem* speaking(OutputItem::Kind kind, const ResponsesFrame& frame);
  // The item with that id, or the last one where there is no id. nullptr: it is not known.
  OutputItem* with_parts(std::string_view id);
  // The item that starts or ends with this frame. nullptr: it is not known.
  OutputItem* known(OutputItem::Kind kind, const ResponsesFrame& frame, bool ends);
  // nullptr: there are too many.
  OutputItem* add(OutputItem::Kind kind, const ResponsesItem& item,
                  std::optional<std::int64_t> output_index);
  // Goes through the output of a whole response: `use` gets every item, with the one that it was so far or nullptr.
  void match(const ReusedList<ResponsesItem>& output,
             const std::function<void(const ResponsesItem&, OutputItem*)>& use);

  std::deque<OutputItem>& all() { return items_; }

 private:
  OutputItem* add(OutputItem::Kind kind);
  OutputItem* next_unmatched(const ResponsesItem& item, std::size_t known,
                             std::span<std::size_t> cursors);

  std::deque<OutputItem> items_;
  std::size_t next_position_ = 0;
  bool has_message_ = false;
};

}  // namespace callgate::upstream
