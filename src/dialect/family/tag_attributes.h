// The attributes of one opening tag, as they stand between its name and its end:
//
//   name="get_weather" string='true'
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callgate::dialect {

// Finds the end of a tag's attributes; fed the bytes after the tag's name.
class AttributeScan {
 public:
  enum class State : std::uint8_t { open, closed, failed };

  // REQUIRES: `end`, such as ">", is not empty and outlives this.
  void begin(std::string_view end);
  // One more byte. A closed scan has read the end.
  State push(char c);
  // What was read, without the end.
  std::string_view text() const { return text_; }
  // How much of the end was read. Bytes of it are not in text().
  std::size_t matched() const { return matched_; }

 private:
  std::string_view end_;
  std::size_t matched_ = 0;  // of end_
  char quote_ = 0;           // the one that is open
  std::string text_;
};

// The value of attribute `key` in a tag's text, entities decoded once. The last one counts.
std::optional<std::string> attribute(std::string_view text, std::string_view key);

// Calls `each(key, value)` for every attribute. False: the text is not a list of attributes.
template <class Each>
bool for_each_attribute(std::string_view text, Each&& each);

// &amp; &lt; &gt; &quot; &apos; &#65; &#x41; decoded once; anything else stays.
std::string decode_entities(std::string_view text);

// Takes one attribute off the front of `text`. False: nothing is left, or `text` is not a list of attributes.
bool take_attribute(std::string_view& text, std::string_view& key, std::string_view& value);

template <class Each>
bool for_each_attribute(std::string_view text, Each&& each) {
  std::string_view key;
  std::string_view value;
  while (take_attribute(text, key, value)) each(key, decode_entities(value));
  return text.empty();
}

}  // namespace callgate::dialect
