// Arguments of a call that come in pieces, each with the path of its value, as fragments of one JSON object.
//
//   {"jsonPath":"$.at.city","stringValue":"Zü","willContinue":true}     {"at":{"city":"Zü
//   {"jsonPath":"$.at.city","stringValue":"rich"}                       rich"
//   {"jsonPath":"$.days[0]","numberValue":3}                            },"days":[3
//   the end of the call                                                 ]}
//
// Fragments leave in the order of the pieces. A path that leads back into an object or array which was left already is
// written once more, as a second member of that name: what was sent cannot be changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/surrogate_joiner.h"
#include "upstream/gemini/gemini_frame.h"

namespace callgate::upstream {

class GeminiArguments {
 public:
  // Another call.
  void start();
  void add(const GeminiArgument& piece, std::string& out);
  // Closes what is open. Without any pieces the result is {}.
  void finish(std::string& out);
  bool empty() const { return depth_ == 0; }
  // Halves of surrogate pairs that stayed alone and became U+FFFD.
  std::size_t replaced() const { return halves_.replaced(); }

 private:
  // A member of an object, or an element of an array.
  struct Step {
    bool is_index = false;
    std::uint64_t index = 0;
    std::string name;

    bool operator==(const Step&) const = default;
  };
  struct Level {
    Step step;  // how it is reached from the level above
    bool array = false;
    std::uint64_t written = 0;  // members or elements
  };

  void read_path(std::string_view path);
  bool read_steps(std::string_view path);
  bool read_bracket(std::string_view& rest);
  Step* add_step();
  void open(const Step& step, bool array, std::string& out);
  void close(std::string& out);
  void begin_value(const Step& step, std::string& out);
  void add_text(const GeminiArgument& piece, std::string& out);
  void end_text(std::string& out);

  std::vector<Level> levels_;  // depth_ of them are open, the object of all arguments first
  std::size_t depth_ = 0;
  std::vector<Step> steps_;  // of the piece at hand
  std::size_t step_count_ = 0;
  std::string path_;  // of the last piece
  bool in_string_ = false;
  SurrogateJoiner halves_;  // of the string
  std::string joined_;
};

}  // namespace callgate::upstream
