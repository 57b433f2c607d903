// One JSON document of a Chat Completions answer, a chunk of a stream or a whole answer, read into plain fields.
// Vendors' other names and shapes for the same thing end here; what the fields mean is the decoder's to say.
//
//   {"choices":[{"index":0,"delta":{"content":"Hi","tool_calls":null},"finish_reason":null}],"usage":null}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/event.h"
#include "json/escape.h"
#include "json/reader.h"
#include "upstream/repaired_read.h"

namespace callgate::upstream {

// A string of the document: a view into it where it needs no unescaping, else a copy in memory that is reused.
class Text {
 public:
  void clear() { *this = std::string_view(); }
  Text& operator=(std::string_view inside_document) {
    view_ = inside_document;
    copied_ = false;
    return *this;
  }
  void copy(std::string_view value) {
    copy_.assign(value);
    copied_ = true;
  }
  void append(std::string_view value) {
    if (!copied_) copy(view_);
    copy_.append(value);
  }
  // What the inside of a JSON string stands for, with halves of surrogate pairs as they are.
  void append_unescaped(std::string_view escaped) {
    if (!copied_) copy(view_);
    json::append_unescaped_halves(copy_, escaped);
  }
  std::string_view view() const { return copied_ ? std::string_view(copy_) : view_; }
  bool is_copy() const { return copied_; }
  bool empty() const { return view().empty(); }

 private:
  std::string_view view_;
  std::string copy_;
  bool copied_ = false;
};

// A list whose elements keep their memory when it is cleared.
template <class T>
class ReusedList {
 public:
  void clear() { size_ = 0; }
  T& add() {
    if (size_ == items_.size()) items_.emplace_back();
    T& item = items_[size_++];
    item.clear();
    return item;
  }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& front() { return items_.front(); }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }

 private:
  std::vector<T> items_;
  std::size_t size_ = 0;
};

// A member that callgate does not know.
struct OtherMember {
  Text name;
  std::string_view json;  // not null

  void clear();
};
using OtherMembers = ReusedList<OtherMember>;

// What one document says about one call.
struct CallPiece {
  std::optional<std::int64_t> index;
  Text id;
  Text name;
  Text arguments;
  Text other_arguments;            // under another key
  bool arguments_object = false;   // they came as a JSON value instead of a string
  bool arguments_renamed = false;  // they came under another key
  bool legacy = false;             // from `function_call`, which knows neither index nor id
  OtherMembers others;             // beside `function`

  void clear();
  // Its arguments, where it says nothing else.
  Text* only_arguments();
};

struct ChoicePiece {
  std::int64_t index = 0;
  Text text;
  Text plain;            // `text`, of the choice or of its message
  Text reasoning;        // `reasoning_content`
  Text other_reasoning;  // `reasoning`
  Text refusal;
  ReusedList<CallPiece> calls;
  Text finish;
  std::string_view logprobs;  // JSON, empty when null
  std::string_view error;     // JSON, empty when null
  OtherMembers others;        // beside `delta`
  OtherMembers message_others;
  enum class Source : std::uint8_t { none, delta, message } source = Source::none;

  void clear();
  // The only thing that it says: a text, reasoning, or arguments of a call that was named before. nullptr: there is more, or
  // nothing.
  Text* only_words();
};

struct Answer {
  ReusedList<ChoicePiece> choices;
  std::optional<Usage> usage;
  std::string_view usage_json;          // the object that it is from
  std::string_view service_tier;        // JSON, empty when null
  std::string_view system_fingerprint;  // JSON, empty when null
  std::string_view error;               // JSON, empty when there is none
  OtherMembers others;

  void clear();
};

class AnswerReader {
 public:
  // False: not a JSON object; the answer is then empty. What can be mended is, and is read again.
  // REQUIRES: `document` lives as long as answer() is used.
  bool read(std::string_view document);
  const Answer& answer() const { return answer_; }
  // The last document was the one before it with other words, which are these: all else was told with that one. nullptr: it is
  // another.
  const Text* other_words() const { return repeats_ ? words_ : nullptr; }
  // What was mended in the last document.
  const Mended& mended() const { return mended_; }

 private:
  bool read_document();
  void read_choices();
  void remember(std::size_t choices_begin, std::size_t choices_end);
  bool read_like_last();
  void remember_words();
  bool read_words_like_last();
  void read_choice(ChoicePiece& choice);
  void read_message(ChoicePiece& choice);
  void read_prose(ChoicePiece& choice, ChoicePiece::Source source);
  void read_content(ChoicePiece& choice);
  void read_part(ChoicePiece& choice);
  void read_legacy_call(ChoicePiece& choice);
  void read_calls(ChoicePiece& choice);
  void read_call(CallPiece& call);
  void read_call_member(std::string_view key, CallPiece& call, OtherMembers* others);
  void read_arguments(Text& arguments, CallPiece& call);
  void read_usage();
  void read_usage_of_others();
  // Of a reader's documents together at most 32 MiB are kept; later members are left out.
  void keep_other(std::string_view key, OtherMembers& others);
  void read_text(Text& text);
  std::optional<std::int64_t> read_integer();
  std::string_view read_raw();
  std::string_view read_error();
  void read_other_member(std::string_view key);
  void read_code_of(std::string_view name);
  void read_response();
  bool read_code();
  bool is_error() const;

  // What members outside the schema say about an error.
  struct Signs {
    bool certain = false;  // it is one, whatever else the document says
    bool failure = false;  // it is one unless there is an answer
    bool code = false;     // it is one with a message
    bool message = false;  // it is one if there is nothing else
    int members = 0;
  };

  json::Reader in_;
  std::string_view document_;
  std::string sanitized_;
  Mended mended_;
  std::size_t others_bytes_ = 0;
  Answer answer_;
  Signs signs_;

  // The chunks of one stream differ in their choices alone. What stood around the choices of the last document that
  // said nothing else is kept: a document that has the same there needs only its choices read.
  std::string before_choices_;
  std::string after_choices_;
  int misses_ = 0;  // in a row
  // Most of them differ in a few words alone. What stood around those of the last document that said nothing else, with the
  // quotes.
  std::string before_words_;
  std::string after_words_;
  Text* words_ = nullptr;  // of the answer, while there is something before them
  bool repeats_ = false;   // the last document said only other ones
  int word_misses_ = 0;
};

}  // namespace callgate::upstream
