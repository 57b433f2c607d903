// WordJudge: asks the owner's hooks about the prompt and the answer of one request, and keeps their verdicts for the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/error.h"
#include "callgate/request.h"
#include "net/loop.h"
#include "net/task.h"
#include "telemetry/log.h"
#include "tool/cancel.h"
#include "tool/tool.h"
#include "tool/webhook.h"

namespace callgate::tool {
class ToolHost;
struct Judgement;
}  // namespace callgate::tool

namespace callgate::server {

class WordJudge {
 public:
  // `host` may be nullptr: then nothing is judged. REQUIRES: all outlive it.
  WordJudge(const tool::ToolHost* host, net::Loop& loop, telemetry::Logger& log,
            tool::ToolContext context);

  bool judges(tool::HookMoment moment) const;
  // Rewrites the request's messages as hooks say. An error: the prompt is denied, or could not be checked.
  net::Task<std::optional<Error>> judge_prompt(Request& request);

  struct Words {
    std::string_view channel;  // static text
    std::uint32_t choice = 0;
    std::string text;
  };
  // What may leave in place of the words, which may be nothing. Without a value the answer ends here.
  net::Task<std::optional<std::string>> judge_answer(Words words);

  // Nobody wants the answer: what is asked ends as denied.
  void cancel() { cancel_.cancel(); }
  // As `hook pii: rewrite x2, hook policy: deny (about weapons)`; empty: all was allowed.
  std::string verdicts() const;

 private:
  void note(const tool::Judgement& judgement, tool::HookMoment moment);
  void count(std::string verdict);

  const tool::ToolHost* const host_;
  net::Loop& loop_;
  telemetry::Logger& log_;
  const tool::ToolContext context_;
  tool::CancelToken cancel_;
  std::uint32_t asked_ = 0;  // pieces of the answer
  struct Verdict {
    std::string text;
    std::uint32_t count = 0;
  };
  std::vector<Verdict> verdicts_;
};

}  // namespace callgate::server
