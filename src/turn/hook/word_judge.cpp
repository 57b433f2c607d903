#include "turn/hook/word_judge.h"

#include <algorithm>
#include <utility>

#include "chat/message_json.h"
#include "tool/host.h"

namespace callgate::server {
namespace {

constexpr std::size_t kLongestReason = 200;  // in the log and in errors

std::string reason_of(const tool::Judgement& judgement) {
  if (judgement.failed) return "the check could not be made";
  return judgement.reason.substr(0, kLongestReason);
}

Error denial(const tool::Judgement& judgement) {
  Error error;
  const std::string reason = reason_of(judgement);
  error.code = judgement.failed ? ErrorCode::unavailable : ErrorCode::invalid_request;
  error.message = "the check \"" + judgement.hook + "\" denied the prompt" +
                  (reason.empty() ? "" : ": " + reason);
  if (!judgement.failed) error.upstream_code = "content_filter";
  return error;
}

}  // namespace

WordJudge::WordJudge(const tool::ToolHost* host, net::Loop& loop, telemetry::Logger& log,
                     tool::ToolContext context)
    : host_(host), loop_(loop), log_(log), context_(std::move(context)) {}

bool WordJudge::judges(tool::HookMoment moment) const {
  return host_ != nullptr && host_->judges(moment, context_.key_name, context_.model);
}

net::Task<std::optional<Error>> WordJudge::judge_prompt(Request& request) {
  if (!judges(tool::HookMoment::prompt)) co_return std::nullopt;
  tool::WordQuestion question{.moment = tool::HookMoment::prompt,
                              .context = context_,
                              .messages = print_messages(request.messages),
                              .text = {},
                              .channel = {}};
  tool::ToolHost::Judged judged = co_await host_->judge(loop_, std::move(question), cancel_);
  tool::Judgement& judgement = judged.judgement;
  if (!judgement.denied && !judgement.rewritten.empty()) {
    auto messages = read_messages(judged.words.messages);
    if (messages) {
      request.messages = std::move(*messages);
    } else {
      judgement.denied = true;
      judgement.failed = true;
      judgement.hook = judgement.rewritten.back();
      log_.warning("a hook wrote messages that cannot be read",
                   {{"hook", judgement.hook}, {"fault", messages.error().message}});
    }
  }
  note(judgement, tool::HookMoment::prompt);
  if (judgement.denied) co_return denial(judgement);
  co_return std::nullopt;
}

net::Task<std::optional<std::string>> WordJudge::judge_answer(Words words) {
  tool::WordQuestion question{.moment = tool::HookMoment::answer,
                              .context = context_,
                              .messages = {},
                              .text = std::move(words.text),
                              .channel = words.channel,
                              .choice = words.choice,
                              .index = asked_++};
  tool::ToolHost::Judged judged = co_await host_->judge(loop_, std::move(question), cancel_);
  note(judged.judgement, tool::HookMoment::answer);
  if (judged.judgement.denied) co_return std::nullopt;
  co_return std::move(judged.words.text);
}

void WordJudge::note(const tool::Judgement& judgement, tool::HookMoment moment) {
  for (const std::string& hook : judgement.rewritten) count("hook " + hook + ": rewrite");
  if (!judgement.denied || cancel_.cancelled()) return;
  const std::string reason = reason_of(judgement);
  count("hook " + judgement.hook + ": deny" + (reason.empty() ? "" : " (" + reason + ")"));
  log_.info("a hook denied a request's words", {{"request", context_.request_id},
                                                {"hook", judgement.hook},
                                                {"when", tool::to_string(moment)},
                                                {"reason", reason}});
}

void WordJudge::count(std::string verdict) {
  const auto known = std::find_if(verdicts_.begin(), verdicts_.end(),
                                  [&](const Verdict& old) { return old.text == verdict; });
  if (known != verdicts_.end()) {
    ++known->count;
  } else {
    verdicts_.push_back({std::move(verdict), 1});
  }
}

std::string WordJudge::verdicts() const {
  std::string all;
  for (const Verdict& verdict : verdicts_) {
    all += (all.empty() ? "" : ", ") + verdict.text;
    if (verdict.count > 1) all += " x" + std::to_string(verdict.count);
  }
  return all;
}

}  // namespace callgate::server
