// The inside of a JSON string, decoded while it streams: names, and arguments that a model wrote as a string.
//
//   push "f\u00e", push "9e\" x"   decodes to "fée", closed, " x" is not read
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace callgate::dialect {

class JsonString {
 public:
  // The opening quote has been read.
  void begin();
  // Appends what is decoded; returns the bytes used, the closing quote included. An escape that JSON does not know
  // is taken as it is written. Half a surrogate pair becomes U+FFFD.
  std::size_t push(std::string_view bytes, std::string& decoded);
  bool closed() const { return state_ == State::closed; }

 private:
  enum class State : std::uint8_t { plain, escape, hex, closed };

  void step(char c, std::string& decoded);
  void take_unit(std::string& decoded);
  void flush_high(std::string& decoded);

  State state_ = State::closed;
  std::uint8_t digits_ = 0;
  std::uint16_t unit_ = 0;
  std::uint16_t high_ = 0;  // a first half that waits for its other one
};

}  // namespace callgate::dialect
