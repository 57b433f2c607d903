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

#include <cstddef>
#include <string>
#include <string_view>

namespace callgate::dialect {

class ShownCalls {
 public:
  // A new value. `name_is_text`: no `>` ends the tag behind the opener of a call.
  void begin(bool name_is_text) {
    name_is_text_ = name_is_text;
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

  // A name to the end of its tag, then white space.
  bool is_name_tag() const {
    constexpr std::string_view kSpace = " \t\r\n";
    const std::size_t end = tag_.find_last_not_of(kSpace);
    if (end == std::string::npos) return false;
    const std::string_view name = std::string_view(tag_).substr(0, name_is_text_ ? end + 1 : end);
    return (name_is_text_ || tag_[end] == '>') && !name.empty() &&
           name.find_first_of("<>\n") == std::string_view::npos;
  }

  bool name_is_text_ = false;
  bool opening_ = false;
  std::size_t open_ = 0;
  std::string tag_;  // what stands behind the opener of a call
};

}  // namespace callgate::dialect
