// HookChain: a run of a tool with the hooks before and after it. The hooks' time is part of the run's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "net/task.h"
#include "tool/argument_schema.h"
#include "tool/tool.h"
#include "tool/webhook.h"

namespace callgate::tool {

// The word for it in configurations and metrics.
std::string_view to_string(HookMoment moment);

// A question that a hook was asked, or an event that it was sent.
struct HookNotice {
  std::string_view hook;  // its name; `*` if an event was dropped before any hook was notified
  std::string_view when;  // to_string() of a HookMoment
  std::string_view
      outcome;  // allow, rewrite, replace, deny, failed or cancelled; told, failed or dropped
  std::string_view tool;
  std::string_view fault;  // of failed
};
using HookObserver = std::function<void(const HookNotice&)>;

// What became of a prompt or a piece of an answer.
struct Judgement {
  bool denied = false;
  bool failed = false;                 // denied, since a check could not be made
  std::string hook;                    // that denied it
  std::string reason;                  // of denied, may be empty
  std::vector<std::string> rewritten;  // by which hooks; the question has what they made of it
};

// Loop thread only. Runs hold on to it.
class HookChain {
 public:
  static Result<std::shared_ptr<HookChain>> make(net::Loop& loop,
                                                 const std::vector<HookConfig>& configs,
                                                 HookObserver observe);

  // As Tool::run(). `schema` judges arguments that a hook has rewritten; nullptr takes any object. `call` may be
  // changed. REQUIRES: the chain and everything given outlive the run.
  net::Task<ToolResult> run(Tool& tool, const ArgumentSchema* schema, ToolCall& call,
                            net::Millis timeout, CancelToken& cancel);

  // Asks the hooks that judge such words, one after the other; each sees what those before it made of them.
  // REQUIRES: everything given outlives the wait, and the chain does as well.
  net::Task<Judgement> judge(WordQuestion& question, CancelToken& cancel);

  // The hooks that want to know of it.
  std::vector<Webhook*> told_of(const HookEvent& event) const;
  // REQUIRES: the hook is one of these; the chain and everything given outlive the wait.
  net::Task<> tell(Webhook& hook, const HookEvent& event);

 private:
  struct Asked;
  HookChain(net::Loop& loop, std::vector<std::unique_ptr<Webhook>> hooks, HookObserver observe);

  net::Task<std::optional<ToolResult>> before(Asked& asked);
  net::Task<> after(Asked& asked, ToolResult& result);
  net::Task<Result<HookVerdict>> ask(Webhook& hook, Asked& asked, const ToolResult* result);
  bool is_asked(HookMoment moment, const ToolCall& call) const;

  net::Loop& loop_;
  const std::vector<std::unique_ptr<Webhook>> hooks_;
  const HookObserver observe_;
};

}  // namespace callgate::tool
