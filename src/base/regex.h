// Regular expressions for patterns and texts of strangers: time linear in the text, memory bounded by the pattern. std::regex is neither.
//
//   const auto pattern = Regex::compile("[a-z]+(-[0-9]{1,3})?");
//   pattern->matches("tea-12") == Regex::Verdict::matches
//
// The syntax that Rust's and Google's engines share: literals, `.`, classes, \d \w \s and their opposites, groups with and without a name,
// alternatives, `*` `+` `?` `{m,n}` (greedy or not), `^` and `$` for the ends of the text. What else there is (flags, word boundaries,
// \p, [[:alpha:]], operations on classes, references, looking around) has no Regex. Beyond ASCII, \d \w \s and their opposites all match:
// a text is never called wrong for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace callgate {

class Regex {
 public:
  enum class Verdict : std::uint8_t {
    matches,
    differs,
    undecided,  // it would take more than kMaxSteps
  };
  static constexpr std::size_t kMaxPattern = 64 * 1024;  // bytes
  static constexpr std::size_t kMaxProgram = 20'000;     // steps of the compiled pattern
  static constexpr std::size_t kMaxSteps = 8'000'000;    // of one match: some 30 ms

  // Nothing: not a pattern of the syntax above, or too large.
  static std::optional<Regex> compile(std::string_view pattern);

  // Whether the pattern is all of `text`.
  Verdict matches(std::string_view text) const;
  // The same with at most `left` steps, and takes what it needs from them: for many texts with one bound.
  Verdict matches(std::string_view text, std::size_t& left) const;

 private:
  friend class RegexCompiler;
  using Ranges = std::vector<std::pair<char32_t, char32_t>>;  // both ends belong to it
  struct Step {
    enum class Kind : std::uint8_t { set, fork, jump, begin, end, done };
    Kind kind = Kind::done;
    std::uint32_t to = 0;     // fork, jump
    std::uint32_t other = 0;  // fork
    std::uint32_t set = 0;
  };

  class Threads;
  std::vector<Step> steps_;
  std::vector<Ranges> sets_;
};

}  // namespace callgate
