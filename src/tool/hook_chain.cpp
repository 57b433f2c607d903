#include "tool/hook_chain.h"

#include <algorithm>

#include "tool/arguments.h"
#include "tool/bounded_text.h"

namespace callgate::tool {
namespace {

std::string_view outcome_word(const HookVerdict& verdict) {
  switch (verdict.action) {
    case HookVerdict::Action::allow:
      return verdict.arguments ? "rewrite" : "allow";
    case HookVerdict::Action::deny:
      return "deny";
    case HookVerdict::Action::replace:
      return "replace";
  }
  return "";
}

std::string with_reason(std::string_view words, std::string_view reason) {
  return std::string(words) + (reason.empty() ? "" : ": " + std::string(reason));
}

// What a failed hook means to a model. Why it failed is for the log.
std::string failure_words(std::string_view words, const Webhook& hook) {
  return with_reason(words, "the check \"" + hook.config().name + "\" could not be made");
}

constexpr net::Millis kLongest{24 * 3'600'000};

net::Millis shorter(net::Millis a, net::Millis b) {
  if (a == net::kNever || b == net::kNever) return std::max(a, b);
  return std::min(a, b);
}

constexpr std::string_view kDenied = "the call was denied";
constexpr std::string_view kWithheld = "the result was withheld";

}  // namespace

std::string_view to_string(HookMoment moment) {
  switch (moment) {
    case HookMoment::before:
      return "before";
    case HookMoment::after:
      return "after";
    case HookMoment::approval:
      return "approval";
    case HookMoment::loop_start:
      return "loop_start";
    case HookMoment::round:
      return "round";
    case HookMoment::loop_end:
      return "loop_end";
    case HookMoment::prompt:
      return "prompt";
    case HookMoment::answer:
      return "answer";
  }
  return "";
}

struct HookChain::Asked {
  const net::Loop& loop;
  Tool& tool;
  const ArgumentSchema* schema;
  ToolCall& call;
  CancelToken& cancel;
  net::Millis timeout;
  std::uint64_t began;
  bool denied = false;

  // Of the run's time; 0 when it is over.
  net::Millis left() const {
    const net::Millis spent(loop.now() - began);
    return spent >= timeout ? net::Millis(0) : timeout - spent;
  }
};

HookChain::HookChain(net::Loop& loop, std::vector<std::unique_ptr<Webhook>> hooks,
                     HookObserver observe)
    : loop_(loop),
      hooks_(std::move(hooks)),
      observe_(observe ? std::move(observe) : [](const HookNotice&) {}) {}

Result<std::shared_ptr<HookChain>> HookChain::make(net::Loop& loop,
                                                   const std::vector<HookConfig>& configs,
                                                   HookObserver observe) {
  std::vector<std::unique_ptr<Webhook>> hooks;
  for (const HookConfig& config : configs) {
    auto hook = Webhook::make(loop, config);
    if (!hook) return tl::unexpected(hook.error());
    hooks.push_back(std::move(*hook));
  }
  return std::shared_ptr<HookChain>(new HookChain(loop, std::move(hooks), std::move(observe)));
}

bool HookChain::is_asked(HookMoment moment, const ToolCall& call) const {
  return std::any_of(hooks_.begin(), hooks_.end(),
                     [&](const auto& hook) { return hook->is_asked(moment, call); });
}

net::Task<ToolResult> HookChain::run(Tool& tool, const ArgumentSchema* schema, ToolCall& call,
                                     net::Millis timeout, CancelToken& cancel) {
  if (!is_asked(HookMoment::before, call) && !is_asked(HookMoment::after, call)) {
    co_return co_await tool.run(call, timeout, cancel);
  }
  if (auto read = read_arguments(call.arguments); !read) {
    co_return error_result(read.error().message);
  }
  Asked asked{.loop = loop_,
              .tool = tool,
              .schema = schema,
              .call = call,
              .cancel = cancel,
              .timeout = shorter(kLongest, shorter(timeout, tool.limits().timeout)),
              .began = loop_.now()};
  std::optional<ToolResult> result = co_await before(asked);
  if (!result) {
    const net::Millis left = std::max(asked.left(), net::Millis(1));
    result = co_await tool.run(call, left, cancel);
  }
  if (!asked.denied && !cancel.cancelled()) co_await after(asked, *result);
  if (cancel.cancelled()) *result = error_result(kCancelledWords);
  tidy(*result, tool.limits().result_bytes);
  result->duration = net::Millis(loop_.now() - asked.began);
  co_return std::move(*result);
}

net::Task<Result<HookVerdict>> HookChain::ask(Webhook& hook, Asked& asked,
                                              const ToolResult* result) {
  const HookMoment moment = result == nullptr ? HookMoment::before : HookMoment::after;
  const net::Millis left = asked.left();
  Result<HookVerdict> verdict = fail(ErrorCode::timed_out, "the call's time is over");
  if (left.count() > 0) {
    const net::Millis limit = shorter(left, hook.config().timeout);
    verdict = co_await hook.ask(asked.call, result, limit, asked.cancel);
  }
  if (verdict && verdict->arguments && asked.schema != nullptr) {
    const Result<void> fits = asked.schema->check(*verdict->arguments);
    if (!fits) verdict = tl::unexpected(fits.error());
  }
  HookNotice notice{.hook = hook.config().name,
                    .when = to_string(moment),
                    .outcome = "failed",
                    .tool = asked.call.name};
  if (verdict) {
    notice.outcome = outcome_word(*verdict);
  } else if (asked.cancel.cancelled()) {
    notice.outcome = "cancelled";
  } else {
    notice.fault = verdict.error().message;
  }
  observe_(notice);
  const bool forgiven = !verdict && !asked.cancel.cancelled() && hook.config().allow_on_failure;
  if (forgiven) verdict = HookVerdict();
  co_return verdict;
}

net::Task<Judgement> HookChain::judge(WordQuestion& question, CancelToken& cancel) {
  Judgement made;
  for (const std::unique_ptr<Webhook>& hook : hooks_) {
    if (!hook->judges(question)) continue;
    Result<WordVerdict> verdict = co_await hook->judge(question, cancel);
    using Action = WordVerdict::Action;
    HookNotice notice{.hook = hook->config().name,
                      .when = to_string(question.moment),
                      .outcome = "failed",
                      .tool = ""};
    if (verdict) {
      notice.outcome = verdict->action == Action::deny      ? "deny"
                       : verdict->action == Action::rewrite ? "rewrite"
                                                            : "allow";
    } else if (cancel.cancelled()) {
      notice.outcome = "cancelled";
    } else {
      notice.fault = verdict.error().message;
    }
    observe_(notice);
    if (!verdict && !cancel.cancelled() && hook->config().allow_on_failure) continue;
    if (!verdict || verdict->action == Action::deny) {
      made.denied = true;
      made.failed = !verdict;
      made.hook = hook->config().name;
      if (verdict) made.reason = std::move(verdict->reason);
      co_return made;
    }
    if (verdict->action == Action::allow) continue;
    made.rewritten.push_back(hook->config().name);
    question.text = std::move(verdict->text);
    question.messages = std::move(verdict->messages);
    // Nothing is left that another hook could judge.
    if (question.moment == HookMoment::answer && question.text.empty()) co_return made;
  }
  co_return made;
}

std::vector<Webhook*> HookChain::told_of(const HookEvent& event) const {
  std::vector<Webhook*> told;
  for (const auto& hook : hooks_) {
    if (hook->is_told(event)) told.push_back(hook.get());
  }
  return told;
}

net::Task<> HookChain::tell(Webhook& hook, const HookEvent& event) {
  const Result<void> told = co_await hook.tell(event.json);
  HookNotice notice{.hook = hook.config().name,
                    .when = to_string(event.moment),
                    .outcome = told ? "told" : "failed",
                    .tool = event.tool};
  if (!told) notice.fault = told.error().message;
  observe_(notice);
}

net::Task<std::optional<ToolResult>> HookChain::before(Asked& asked) {
  for (const std::unique_ptr<Webhook>& hook : hooks_) {
    if (!hook->is_asked(HookMoment::before, asked.call)) continue;
    Result<HookVerdict> verdict = co_await ask(*hook, asked, nullptr);
    const bool late = asked.left().count() == 0;
    if (asked.cancel.cancelled() || late || !verdict ||
        verdict->action == HookVerdict::Action::deny) {
      asked.denied = true;
      if (asked.cancel.cancelled()) co_return error_result(kCancelledWords);
      if (late) co_return error_result(timeout_words(asked.timeout));
      if (!verdict) co_return error_result(failure_words(kDenied, *hook));
      co_return error_result(with_reason(kDenied, verdict->reason));
    }
    if (verdict->action == HookVerdict::Action::replace) {
      ToolResult replaced;
      replaced.text = std::move(verdict->result);
      replaced.is_error = verdict->is_error;
      co_return replaced;
    }
    if (verdict->arguments) asked.call.arguments = std::move(*verdict->arguments);
  }
  co_return std::nullopt;
}

// A tool that took all the time leaves none for those who must see its result: it is not shown.
net::Task<> HookChain::after(Asked& asked, ToolResult& result) {
  for (const std::unique_ptr<Webhook>& hook : hooks_) {
    if (!hook->is_asked(HookMoment::after, asked.call)) continue;
    // A hook sees the text alone, so nothing else may pass it by.
    result.content.clear();
    result.structured.clear();
    Result<HookVerdict> verdict = co_await ask(*hook, asked, &result);
    if (asked.cancel.cancelled()) co_return;
    if (!verdict) {
      result = error_result(asked.left().count() == 0 ? timeout_words(asked.timeout)
                                                      : failure_words(kWithheld, *hook));
      co_return;
    }
    switch (verdict->action) {
      case HookVerdict::Action::allow:
        break;
      case HookVerdict::Action::deny:
        result = error_result(with_reason(kWithheld, verdict->reason));
        co_return;
      case HookVerdict::Action::replace:
        result = ToolResult();
        result.text = std::move(verdict->result);
        result.is_error = verdict->is_error;
        break;
    }
  }
}

}  // namespace callgate::tool
