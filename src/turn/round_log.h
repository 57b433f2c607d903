// The rounds of a tool loop as the request log keeps them: what the model said and called in each, what its tools gave back, and
// when. docs/log.md has the form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/event.h"
#include "engine/turn_keeper.h"

namespace callgate::server {

class RoundLog {
 public:
  // `limit`: bytes of all rounds together; 0: nothing is kept. Of a round that no longer fits only its size is.
  explicit RoundLog(std::size_t limit) : limit_(limit) {}

  // The model is asked. `again`: since the last answer broke off before anything of it was used.
  void begin(std::uint32_t round, std::uint64_t at_ms, bool again);
  // An upstream answers: what an earlier one said in this round is forgotten.
  void begin_answer();
  void accept(const Event& event);
  void end_answer(std::uint64_t at_ms);

  struct ToolResult {
    std::string id;
    std::string name;
    bool is_error = false;
    std::int64_t duration_ms = 0;
    std::size_t bytes = 0;
    std::string text;  // its beginning
  };
  // A tool of the current round is done.
  void add_result(ToolResult result);

  // There is more to say than the answer itself says.
  bool has_rounds() const { return rounds_.size() > 1 || has_results_; }
  // A JSON array of events.
  std::string print() const;

 private:
  struct Round {
    std::uint32_t number = 0;
    std::uint64_t at_ms = 0;
    std::uint64_t end_ms = 0;
    std::unique_ptr<engine::TurnKeeper> said;
    std::vector<ToolResult> results;
  };

  std::size_t left() const;
  static std::size_t bytes_of(const Round& round);

  const std::size_t limit_;
  std::size_t used_ = 0;  // by results, and by what was said in rounds before the last
  bool has_results_ = false;
  std::vector<Round> rounds_;
};

}  // namespace callgate::server
