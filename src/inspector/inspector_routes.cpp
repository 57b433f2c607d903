#include "inspector/inspector_routes.h"

#include "admin/answer_beside.h"
#include "base/url_query.h"
#include "callgate/version.h"
#include "chat/message_json.h"
#include "client/protocol.h"
#include "front/admission.h"
#include "inspector/live_stream.h"
#include "inspector/page_routes.h"
#include "inspector/replay_request.h"
#include "inspector/smoke_check.h"
#include "inspector/turn_view.h"
#include "json/writer.h"
#include "upstream/wire_format.h"

namespace callgate::server {
namespace {

constexpr std::string_view kLivePath = "/v1/live/";
constexpr std::string_view kNoThreads = "this gateway has no threads for queries";

std::string key_of(const Ask& ask) { return ask.key == nullptr ? "" : ask.key->config.name; }

template <class List, class NameOf>
void append_names(std::string& out, const List& list, NameOf name_of) {
  append_list(out, list, [&](const auto& element) { json::append_string(out, name_of(element)); });
}

bool is_demo(const Config& config) {
  const UpstreamConfig* demo = config.find_upstream("demo");
  return demo != nullptr && demo->wire == "script" && config.find_model("demo-tools") != nullptr;
}

std::string print_facts(const Ask& ask) {
  const Config& config = ask.snapshot->config;
  std::string out;
  json::ObjectWriter object(out);
  object.string("object", "inspector");
  object.string("version", kVersion);
  object.boolean("demo", is_demo(config));
  object.boolean("store", config.store.url != "none");
  append_names(object.key("dialects"), ask.snapshot->dialects.all(),
               [](const Dialect* each) { return each->name; });
  append_names(object.key("wires"), upstream::all(),
               [](const WireFormat* each) { return each->name; });
  append_names(object.key("protocols"), client::all(),
               [](const Protocol* each) { return each->name; });
  append_names(object.key("models"), config.models,
               [](const ModelConfig& each) -> std::string_view { return each.name; });
  append_names(object.key("upstreams"), config.upstreams,
               [](const UpstreamConfig& each) -> std::string_view { return each.name; });
  json::ObjectWriter policy(object.key("policy"));  // with their defaults
  for_each_policy(
      {}, [&](std::string_view name, std::string_view value) { policy.string(name, value); });
  policy.close();
  object.close();
  return out;
}

net::Task<> show_facts(Ask& ask) {
  ask.headers.add("cache-control", "no-store");
  const std::string facts = print_facts(ask);
  co_await respond_json(ask, 200, facts);
}

// As the file would have it, secrets masked.
net::Task<> show_config(Ask& ask) {
  ask.headers.add("cache-control", "no-store");
  ask.headers.add("content-type", "text/plain; charset=utf-8");
  const std::string text = print_config(ask.snapshot->config);
  co_await ask.exchange.respond(200, ask.headers, text);
}

// Kept while a thread reads with them, whatever a reload does.
std::shared_ptr<const dialect::Catalog> dialects_of(const Ask& ask) {
  return {ask.snapshot, &ask.snapshot->dialects};
}

net::Task<> show_turn(Desk& desk, Ask& ask) {
  const std::string id = percent_decoded(ask.exchange.head().path.substr(kLivePath.size()));
  auto found = co_await find_recording(desk, id, key_of(ask));
  if (!found) {
    const Error missing = no_recording(id);
    co_return co_await desk.refuse(ask, missing);
  }
  const auto job = std::make_shared<CaptureJob>(std::move(*found));
  QueryPool::Work work = [job, dialects = dialects_of(ask)]() -> Result<std::string> {
    return print_turn(std::move(*job), dialects.get());
  };
  co_await answer_beside(desk, ask, std::move(work), kNoThreads);
}

net::Task<> replay_turn(Desk& desk, Ask& ask) {
  const auto body = co_await read_body(desk.world, ask);
  if (!body) co_return co_await desk.refuse(ask, body.error());
  auto question = read_replay_question(*body);
  if (!question) co_return co_await desk.refuse(ask, question.error());
  question->dialects = dialects_of(ask);
  const auto job = std::make_shared<std::optional<CaptureJob>>();
  if (!question->request.empty()) {
    *job = co_await find_recording(desk, question->request, key_of(ask));
    if (!*job) {
      const Error missing = no_recording(question->request);
      co_return co_await desk.refuse(ask, missing);
    }
  }
  QueryPool::Work work = [job, asked = *question] { return answer_replay(asked, std::move(*job)); };
  co_await answer_beside(desk, ask, std::move(work), kNoThreads);
}

net::Task<> parse_text(Desk& desk, Ask& ask) {
  const auto body = co_await read_body(desk.world, ask);
  if (!body) co_return co_await desk.refuse(ask, body.error());
  auto question = read_parse_question(*body);
  if (!question) co_return co_await desk.refuse(ask, question.error());
  question->dialects = dialects_of(ask);
  QueryPool::Work work = [asked = *question] { return answer_parse(asked); };
  co_await answer_beside(desk, ask, std::move(work), kNoThreads);
}

// What the page sends to this gateway as any client would.
net::Task<> show_smoke(Desk& desk, Ask& ask) {
  const auto question = read_smoke_question(ask.exchange.head().query);
  if (!question) co_return co_await desk.refuse(ask, question.error());
  ask.headers.add("cache-control", "no-store");
  const std::string request = print_smoke_request(*question);
  co_await respond_json(ask, 200, request);
}

net::Task<> check_smoke(Desk& desk, Ask& ask) {
  const auto body = co_await read_body(desk.world, ask);
  if (!body) co_return co_await desk.refuse(ask, body.error());
  auto answer = read_smoke_answer(*body);
  if (!answer) co_return co_await desk.refuse(ask, answer.error());
  QueryPool::Work work = [asked = *answer]() -> Result<std::string> {
    return print_smoke_verdicts(asked);
  };
  co_await answer_beside(desk, ask, std::move(work), kNoThreads);
}

// The route is there, but answers only while the configuration wants it.
net::Task<> if_wanted(Desk& desk, Ask& ask, net::Task<> (*answer)(Desk&, Ask&)) {
  if (ask.snapshot->config.inspector) co_return co_await answer(desk, ask);
  const Error off{.code = ErrorCode::not_found,
                  .message = "the inspector is off (inspector = false)"};
  co_await desk.refuse(ask, off);
}

}  // namespace

void add_inspector_routes(Routes& routes, Desk& desk) {
  add_page_routes(routes, desk);
  const auto add = [&](std::string_view method, std::string_view path,
                       net::Task<> (*answer)(Desk&, Ask&)) {
    routes.add({method, path, Guard::admin,
                [&desk, answer](Ask& ask) { return if_wanted(desk, ask, answer); }});
  };
  add("GET", "/v1/inspector", [](Desk&, Ask& ask) { return show_facts(ask); });
  add("GET", "/v1/config", [](Desk&, Ask& ask) { return show_config(ask); });
  add("GET", "/v1/live", watch_live);
  add("GET", "/v1/live/*", show_turn);
  add("POST", "/v1/replay", replay_turn);
  add("POST", "/v1/parse", parse_text);
  add("GET", "/v1/smoke", show_smoke);
  add("POST", "/v1/smoke", check_smoke);
}

}  // namespace callgate::server
