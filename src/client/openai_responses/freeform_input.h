// The input of a custom tool, out of the arguments of the function that stands for it, while they stream:
//
//   {"input": "*** Begin Patch\n*** Add File: a.txt"}   ->   *** Begin Patch ...
//
// A model that writes something else than that object is heard as well: the only string of an object, or all that it wrote.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace callgate::client {

class FreeformInput {
 public:
  // Appends to `out` what is certain of the input.
  void push(std::string_view arguments, std::string& out);
  // The call ends: what is left.
  void finish(std::string& out);
  void reset();

 private:
  enum class Place : std::uint8_t {
    head,    // before the first character of the input
    inside,  // in the string
    after,   // it is over
    odd,     // something else than {"input":"...": decided at the end
  };

  void read_head(std::string& out);
  void read_string(std::string& out);

  Place place_ = Place::head;
  std::string held_;  // not yet read, or all of it where it is odd
};

}  // namespace callgate::client
