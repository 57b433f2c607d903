// Whole calls that a value shows, as a text about calls does. Until such a call is closed, its close markers are data:
//
//   <parameter=content>
//   <function=f>
//   <parameter=x>
//   1
//   </parameter>
//   </function>
//   is how to call f.
//   </parameter>
//
// A name alone shows no call: the opener of an argument has to follow it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "dialect/family/tagged_grammar.h"

namespace callgate::dialect {

class ShownCalls {
 public:
  // A new value. REQUIRES: `grammar` outlives this.
  void begin(const TaggedGrammar& grammar) {
    grammar_ = &grammar;
    opening_ = false;
    open_ = 0;
  }
  // The opener of a call stands in the value.
  void call_opener() {
    opening_ = true;
    tag_.clear();
  }
  // REQUIRES: is_opening(). Bytes of the value behind it.
  void text(std::string_view bytes) {
    tag_.append(bytes.substr(0, kMaxTag));
    opening_ = tag_.size() < kMaxTag;
  }
  // The opener of an argument stands in the value.
  void argument_opener() {
    if (opening_ && is_name_tag()) ++open_;
    opening_ = false;
  }
  // The call shown last is closed.
  void close() { --open_; }

  bool is_opening() const { return opening_; }
  bool any() const { return open_ > 0; }

 private:
  static constexpr std::size_t kMaxTag = 256;

  // A name to the end of its tag, then white space and fillers.
  bool is_name_tag() const {
    std::string_view name = tag_;
    const auto trim = [&] { name = name.substr(0, name.find_last_not_of(kSpace) + 1); };
    trim();
    for (const std::string_view filler : grammar_->filler) {
      if (!name.ends_with(filler)) continue;
      name.remove_suffix(filler.size());
      trim();
    }
    const std::string_view end = grammar_->call.end;
    if (!name.ends_with(end) || name.size() == end.size()) return false;
    name.remove_suffix(end.size());
    if (end.empty()) name.remove_prefix(std::min(name.find_first_not_of(kSpace), name.size()));
    return name.find_first_of("<>\n") == std::string_view::npos;
  }

  const TaggedGrammar* grammar_ = nullptr;
  bool opening_ = false;
  std::size_t open_ = 0;
  std::string tag_;  // what stands behind the opener of a call
};

}  // namespace callgate::dialect
