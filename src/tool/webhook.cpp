#include "tool/webhook.h"

#include <algorithm>

#include "base/glob.h"
#include "json/writer.h"
#include "tool/network_guard.h"

namespace callgate::tool {
namespace {

void add_context(json::ObjectWriter& object, const ToolContext& known) {
  json::ObjectWriter context(object.key("context"));
  context.string("request", known.request_id);
  context.string("key", known.key_name);
  context.string("model", known.model);
  context.string("session", known.session);
  context.close();
}

std::string about_call(const ToolCall& call, const ToolResult* result) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("type", result == nullptr ? "before_tool_call" : "after_tool_call");
  object.string("tool", call.name);
  object.string("call_id", call.id);
  object.raw("arguments", call.arguments.empty() ? std::string_view("{}") : call.arguments);
  add_context(object, call.context);
  if (result != nullptr) {
    object.string("result", result->text);
    object.boolean("is_error", result->is_error);
  }
  object.close();
  return out;
}

std::string about_words(const WordQuestion& asked) {
  std::string out;
  json::ObjectWriter object(out);
  if (asked.moment == HookMoment::prompt) {
    object.string("type", "prompt");
    object.raw("messages", asked.messages);
  } else {
    object.string("type", "answer");
    object.string("channel", asked.channel);
    object.integer("choice", asked.choice);
    object.integer("index", asked.index);
    object.string("text", asked.text);
  }
  add_context(object, asked.context);
  object.close();
  return out;
}

net::Timeouts within(net::Millis timeout) {
  net::Timeouts timeouts{
      .connect = timeout, .tls = timeout, .first_byte = timeout, .idle = timeout};
  timeouts.total = timeout;
  return timeouts;
}

}  // namespace

bool judges_words(const HookConfig& hook, HookMoment moment, std::string_view key,
                  std::string_view model) {
  return std::find(hook.judges.begin(), hook.judges.end(), moment) != hook.judges.end() &&
         matches_any(hook.keys, key) && matches_any(hook.models, model);
}

Webhook::Webhook(HookConfig config, UrlTemplate::Place place,
                 std::unique_ptr<net::HttpClient> client)
    : config_(std::move(config)), place_(std::move(place)), client_(std::move(client)) {}

Result<std::unique_ptr<Webhook>> Webhook::make(net::Loop& loop, const HookConfig& config) {
  const auto wrong = [&config](std::string_view what) {
    return fail(ErrorCode::invalid_request, "hook " + config.name + ": " + std::string(what));
  };
  const Result<UrlTemplate> url = UrlTemplate::parse(config.url);
  if (!url) return wrong(url.error().message);
  Result<UrlTemplate::Place> place = url->expand({});
  if (!place) return wrong("url: {arguments} are for tools");
  const Result<NetworkGuard> guard = NetworkGuard::make(config.network);
  if (!guard) return wrong(guard.error().message);
  for (const auto& [name, value] : config.headers) {
    if (name.empty() || !net::is_sendable({name, value})) {
      return wrong("headers: a name or a value holds bytes that HTTP forbids");
    }
  }
  return std::unique_ptr<Webhook>(
      new Webhook(config, std::move(*place), make_guarded_client(loop, config.network, *guard)));
}

bool Webhook::is_asked(HookMoment moment, const ToolCall& call) const {
  return (moment == HookMoment::before ? config_.before : config_.after) &&
         matches_any(config_.tools, call.name) && matches_any(config_.keys, call.context.key_name);
}

bool Webhook::is_told(const HookEvent& event) const {
  return std::find(config_.told.begin(), config_.told.end(), event.moment) != config_.told.end() &&
         (event.tool.empty() || matches_any(config_.tools, event.tool)) &&
         matches_any(config_.keys, event.key);
}

net::ClientRequest Webhook::post(std::string_view body) const {
  net::ClientRequest request;
  request.path = place_.path;
  for (const auto& [name, value] : config_.headers) request.headers.add(name, value);
  request.headers.add("content-type", "application/json");
  request.headers.add("accept", "application/json");
  request.headers.add("user-agent", "callgate");
  request.body = body;
  return request;
}

net::Task<Result<std::string>> Webhook::question(std::string_view body, net::Millis timeout,
                                                 CancelToken& cancel) {
  const net::ClientRequest request = post(body);
  net::ClientExchange exchange(*client_, place_.target, within(timeout));
  const CancelToken::Hook hook(cancel, [&exchange] { exchange.cancel(); });
  const Result<void> sent = co_await exchange.send(request);
  if (!sent) co_return tl::unexpected(sent.error());
  if (exchange.status() == 204) co_return std::string();
  if (exchange.status() != 200) {
    co_return fail(ErrorCode::upstream_failed, "HTTP " + std::to_string(exchange.status()));
  }
  Result<std::string> answer = co_await exchange.read_all(config_.answer_bytes);
  if (answer && answer->empty()) *answer = " ";  // not the same as 204
  co_return answer;
}

net::Task<Result<HookVerdict>> Webhook::ask(const ToolCall& call, const ToolResult* result,
                                            net::Millis timeout, CancelToken& cancel) {
  const std::string body = about_call(call, result);
  const Result<std::string> answer = co_await question(body, timeout, cancel);
  if (!answer) co_return tl::unexpected(answer.error());
  if (answer->empty()) co_return HookVerdict();
  co_return read_verdict(*answer, result == nullptr ? HookMoment::before : HookMoment::after);
}

bool Webhook::judges(const WordQuestion& question) const {
  return judges_words(config_, question.moment, question.context.key_name, question.context.model);
}

net::Task<Result<WordVerdict>> Webhook::judge(const WordQuestion& asked, CancelToken& cancel) {
  const std::string body = about_words(asked);
  const Result<std::string> answer = co_await question(body, config_.timeout, cancel);
  if (!answer) co_return tl::unexpected(answer.error());
  if (answer->empty()) co_return WordVerdict();
  co_return read_word_verdict(*answer, asked.moment);
}

net::Task<Result<void>> Webhook::tell(std::string_view json) {
  const net::ClientRequest request = post(json);
  net::ClientExchange exchange(*client_, place_.target, within(config_.timeout));
  const Result<void> sent = co_await exchange.send(request);
  if (!sent) co_return tl::unexpected(sent.error());
  if (exchange.status() / 100 != 2) {
    co_return fail(ErrorCode::upstream_failed, "HTTP " + std::to_string(exchange.status()));
  }
  // Only so that the connection can be used again.
  (void)co_await exchange.read_all(config_.answer_bytes);
  co_return Result<void>();
}

}  // namespace callgate::tool
