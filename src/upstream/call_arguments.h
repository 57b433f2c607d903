// The arguments of one call as they come in, without what servers put around them. Decides what of them may leave.
//
//   {}{"city":"Rome"}          an empty value first: dropped
//   {"city":"Rome"}}           brackets that close nothing: dropped
//   "{\"city\":\"Rome\"}"      JSON in a JSON string: held back until it is whole, then taken out
//   {"city":"Rome"}{"city":"Rome"}   the same again: dropped
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fnv1a.h"
#include "callgate/event.h"
#include "callgate/pipeline.h"
#include "json/scanner.h"

namespace callgate::upstream {

inline void count(RepairCounts& repairs, Repair repair) {
  ++repairs[static_cast<std::size_t>(repair)];
}

class CallArguments {
 public:
  using State = json::Scanner::State;

  // Takes a fragment. True: it may leave at once as it is and is not kept. False: it is held back. `direct`: the caller can
  // pass it on at once.
  bool push(std::string_view bytes, bool direct, RepairCounts& repairs);
  // The same for bytes in which control characters of strings stand as they are: they are escaped. Everything is held back.
  void push_unescaped(std::string_view bytes, RepairCounts& repairs);

  State state() const { return scanner_.state(); }
  // Bytes that are held back.
  std::size_t held() const { return held_.size() + rest_.size(); }
  // What of them may leave now. The views are valid until the next call.
  std::string_view ready() const { return std::string_view(held_).substr(0, ready_size()); }
  void remove_ready() { held_.erase(0, ready_size()); }
  // At the end of the call everything leaves: held_back(), then what followed the value.
  // An empty value that nothing replaced is an object, whatever it was.
  std::string_view held_back() const {
    return empty_ && held_.find('{') == std::string::npos ? std::string_view("{}") : held_;
  }
  std::string_view trailing() const {
    return after_ == After::brackets ? std::string_view() : std::string_view(rest_);
  }
  void remove_held();
  CallOutcome finish();
  void drop();

  // The value is empty and has not left: arguments that follow take its place.
  bool is_placeholder() const { return empty_; }
  // Something other than white space and brackets came after the value.
  bool has_garbage() const { return after_ == After::garbage; }
  bool same_value(const CallArguments& other) const {
    return length_ == other.length_ && hash_ == other.hash_;
  }
  bool same_value(std::string_view value) const;

 private:
  enum class After : std::uint8_t { nothing, brackets, garbage };

  std::size_t ready_size() const;
  bool push_value(std::string_view& bytes, bool direct, RepairCounts& repairs);
  void push_rest(std::string_view bytes, RepairCounts& repairs);
  void decode(RepairCounts& repairs);

  json::Scanner scanner_;
  std::string held_;                  // of the value
  std::string rest_;                  // after the value
  std::size_t rest_begin_ = 0;        // of what is not white space
  std::uint64_t hash_ = kFnv1aStart;  // of the value
  std::uint64_t length_ = 0;
  bool empty_ = false;
  bool encoded_ = false;  // the value is a string
  bool other_ = false;    // it may be null or an empty list
  bool counted_brackets_ = false;
  After after_ = After::nothing;
};

}  // namespace callgate::upstream
