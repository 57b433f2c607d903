#include "response/response_create.h"

#include <utility>

#include "chat/token_estimate.h"
#include "client/openai_responses/openai_responses.h"
#include "engine/answer_notes.h"
#include "front/admission.h"
#include "json/member.h"
#include "json/writer.h"
#include "net/companion.h"
#include "response/response_audience.h"
#include "turn/connection_audience.h"
#include "turn/count_tokens.h"
#include "turn/event_stream.h"
#include "turn/observe.h"

namespace callgate::server {
namespace {

constexpr std::string_view kIdPrefix = "resp_";
constexpr std::size_t kIdLength = 29;
constexpr std::string_view kBrokenOff =
    R"({"code":"server_error","message":"the response broke off inside the gateway"})";

// {"code":...,"message":...} of an error body.
std::string reason_of(std::string_view error_body) {
  const std::string_view error = json::given_member(error_body, "error");
  std::string code = json::member_text(error, "code");
  std::string reason;
  json::ObjectWriter object(reason);
  object.string("code", code.empty() ? "server_error" : code);
  object.string("message", json::member_text(error, "message"));
  object.close();
  return reason;
}

ResponseFields read_fields(const Ask& ask, std::string_view body) {
  ResponseFields fields = read_response_fields(body);
  for (const std::string_view name : {"x-callgate-conversation", "x-callgate-session"}) {
    if (ask.exchange.head().headers.find(name)) fields.history_elsewhere = true;
  }
  return fields;
}

// A turn that continues without its client, with all that it needs.
struct BackgroundTurn {
  std::shared_ptr<const Snapshot> snapshot;  // before what is in it
  std::unique_ptr<TurnSlots> slots;
  std::unique_ptr<LoopWork> work;
  net::Headers asked;
  std::shared_ptr<RunningResponse> running;
  std::string previous;
  ExpandedBody said;
  std::string broken;  // the object if something is thrown
};

net::Task<> run_background(const Desk& desk, std::shared_ptr<BackgroundTurn> shared) {
  BackgroundTurn& turn = *shared;
  const StreamGauge gauge(desk.world);
  const TurnJob& job = turn.work->job;
  const std::string cancelled = bare_response(job, "cancelled", "");
  TurnJob shape;  // for an object of a turn that never began
  shape.answer_id = job.answer_id;
  shape.request.model = job.request.model;
  shape.request.body = job.request.body;
  BackgroundAudience audience(turn.running);
  co_await run_response(desk, std::move(turn.work), turn.asked, audience);
  std::string object = audience.object();
  if (audience.is_scarce()) {
    const std::string error = client::kOpenaiResponses.error_body(out_of_memory());
    object = bare_response(shape, "failed", reason_of(error));
  } else if (object.empty()) {
    object = turn.running->is_cancelled() || audience.error().empty()
                 ? cancelled
                 : bare_response(shape, "failed", reason_of(audience.error()));
  }
  store::StoredResponse stored = to_stored(desk, object, turn.previous, turn.said.items);
  // Where there was no memory for the stream there is none for a copy of it: the object says what became of it.
  if (!audience.is_scarce()) stored.events = turn.running->events();
  const store::ResponseName name = turn.running->name();
  co_await save_response(desk, name, std::move(stored));
  turn.running->finish(std::move(object));
  desk.world.background.remove(name);
}

// Followers come first: what broke the response may also keep it from being stored.
void end_broken(const Desk& desk, BackgroundTurn& turn) {
  const store::ResponseName name = turn.running->name();
  store::StoredResponse stored = to_stored(desk, turn.broken, turn.previous, turn.said.items);
  stored.events = turn.running->events();
  desk.world.background.remove(name);
  turn.running->finish(std::move(turn.broken));
  desk.loop.spawn(save_response(desk, name, std::move(stored)));
}

net::Task<> begin_background(const ResponseDesk& desk, Ask& ask, std::unique_ptr<LoopWork> work,
                             const ResponseFields& fields, std::unique_ptr<TurnSlots> slots,
                             ExpandedBody said) {
  const std::string queued = bare_response(work->job, "queued", "");
  const std::string object = bare_response(work->job, "in_progress", "");
  const store::ResponseName name{key_name_of(ask), work->job.answer_id};
  auto running =
      std::make_shared<RunningResponse>(desk.desk.loop, desk.desk.world.memory, name, object);
  work->job.request.stream = true;  // what it says is kept as a stream
  work->job.keepalive = false;
  store::StoredResponse stored = to_stored(desk.desk, object, fields.previous, said.items);
  co_await save_response(desk.desk, name, std::move(stored));
  desk.desk.world.background.add(running);
  const auto turn = std::make_shared<BackgroundTurn>();
  turn->broken = bare_response(work->job, "failed", kBrokenOff);
  turn->snapshot = ask.snapshot;
  turn->slots = std::move(slots);
  turn->work = std::move(work);
  turn->asked = ask.exchange.head().headers;
  turn->running = running;
  turn->previous = fields.previous;
  turn->said = std::move(said);
  desk.desk.loop.spawn(net::watched(run_background(desk.desk, turn),
                                    [&desk = desk.desk, turn] { end_broken(desk, *turn); }));
  if (fields.stream) co_return co_await follow_response(ask, running, -1);
  co_await respond_json(ask, 200, queued);
}

}  // namespace

net::Task<> create_response(const ResponseDesk& desk, Ask& ask) {
  const auto body = co_await read_turn_body(desk.desk.world, ask);
  if (!body) co_return co_await desk.desk.refuse(ask, body.error());
  auto slots = std::make_unique<TurnSlots>(desk.desk.world, ask.key, ask.address);
  const auto busy = slots->refusal();
  if (busy) co_return co_await desk.desk.refuse(ask, *busy);
  const ResponseFields fields = read_fields(ask, *body);
  auto expanded = co_await expand_body(desk, key_name_of(ask), *body, fields, {});
  if (!expanded) co_return co_await desk.desk.refuse(ask, expanded.error());
  auto work = desk.read_turn(ask, expanded->body);
  if (!work) co_return co_await desk.desk.refuse(ask, work.error());
  (*work)->job.answer_id = desk.desk.mint.mint(kIdPrefix, kIdLength);
  ExpandedBody said = std::move(*expanded);
  said.forget_body();
  if (fields.background) {
    if (!fields.store) {
      const Error error{.code = ErrorCode::invalid_request,
                        .message = "background: true with store: false, expected it to be stored",
                        .param = "background"};
      co_return co_await desk.desk.refuse(ask, error);
    }
    co_return co_await begin_background(desk, ask, std::move(*work), fields, std::move(slots),
                                        std::move(said));
  }
  const std::string previous = fields.previous;
  const store::ResponseName name{key_name_of(ask), (*work)->job.answer_id};
  const bool stores = fields.store;
  ask.exchange.drop_body();
  const StreamGauge gauge(desk.desk.world);
  ConnectionAudience connection(ask.exchange, std::move(ask.headers));
  SavingAudience saving(connection, [&](std::string object) {
    return save_response(desk.desk, name, to_stored(desk.desk, object, previous, said.items));
  });
  Audience& audience = stores ? static_cast<Audience&>(saving) : connection;
  co_await run_response(desk.desk, std::move(*work), ask.exchange.head().headers, audience);
}

net::Task<> follow_response(Ask& ask, const std::shared_ptr<RunningResponse>& running,
                            std::int64_t after) {
  auto follower = std::make_shared<RunningResponse::Follower>(ask.exchange.loop());
  running->follow(follower);
  struct Leave {
    RunningResponse& running;
    RunningResponse::Follower& follower;
    ~Leave() { running.leave(follower); }
  } const leave{*running, *follower};
  ask.exchange.on_client_gone([follower] { follower->signal.notify(); });
  add_event_stream_headers(ask.headers, ask.protocol->stream_type);
  ask.exchange.start(200, ask.headers);
  std::size_t at = 0;
  std::int64_t known = frames_up_to(after);
  for (;;) {
    const RunningResponse::News news = running->read(at);
    const std::string_view frames = skip_frames(news.frames, known);
    at += news.frames.size();
    if (news.over) {
      (void)co_await ask.exchange.end(frames);
      break;
    }
    if (!frames.empty()) {
      const auto written = co_await ask.exchange.write(frames);
      if (!written) break;
    }
    if (!news.frames.empty()) continue;  // there may be more
    (void)co_await follower->signal.wait();
    if (ask.exchange.client_gone()) break;
  }
  ask.exchange.on_client_gone({});
}

net::Task<> compact_response(const ResponseDesk& desk, Ask& ask) {
  const auto body = co_await read_turn_body(desk.desk.world, ask);
  if (!body) co_return co_await desk.desk.refuse(ask, body.error());
  const TurnSlots slots(desk.desk.world, ask.key, ask.address);
  const auto busy = slots.refusal();
  if (busy) co_return co_await desk.desk.refuse(ask, *busy);
  const ResponseFields fields = read_fields(ask, *body);
  auto expanded = co_await expand_body(desk, key_name_of(ask), *body, fields, {});
  if (!expanded) co_return co_await desk.desk.refuse(ask, expanded.error());
  // A body without input has nothing to compact: its decoder says so.
  const std::string said = join_items(expanded->before, expanded->items);
  std::string asked = expanded->body;
  if (!said.empty()) {
    asked = with_input(*body, join_items(said, R"({"type":"compaction_trigger"})"));
  }
  auto work = desk.read_turn(ask, asked);
  if (!work) co_return co_await desk.desk.refuse(ask, work.error());
  (*work)->job.request.stream = false;
  (*work)->job.answer_id = desk.desk.mint.mint(kIdPrefix, kIdLength);
  const StreamGauge gauge(desk.desk.world);
  WholeAudience audience([&ask] { return ask.exchange.client_gone(); });
  audience.headers() = std::move(ask.headers);
  co_await run_response(desk.desk, std::move(*work), ask.exchange.head().headers, audience);
  if (audience.status() == 0) co_return;  // the client has gone
  const std::string& object = audience.body();
  std::string answer = object;
  if (audience.status() == 200) {
    answer.clear();
    json::ObjectWriter made(answer);
    made.raw("id", json::given_member(object, "id"));
    made.string("object", "response.compaction");
    made.raw("created_at", json::given_member(object, "created_at"));
    made.raw("output", json::given_member(object, "output"));
    const std::string_view usage = json::given_member(object, "usage");
    made.raw("usage", usage.empty()
                          ? R"({"input_tokens":0,"input_tokens_details":{"cached_tokens":0},)"
                            R"("output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},)"
                            R"("total_tokens":0})"
                          : usage);
    made.close();
  }
  (void)co_await ask.exchange.respond(audience.status(), audience.headers(), answer);
}

net::Task<> count_input_tokens(const ResponseDesk& desk, Ask& ask) {
  const auto body = co_await read_body(desk.desk.world, ask);
  if (!body) co_return co_await desk.desk.refuse(ask, body.error());
  const ResponseFields fields = read_fields(ask, *body);
  const auto expanded = co_await expand_body(desk, key_name_of(ask), *body, fields, {});
  if (!expanded) co_return co_await desk.desk.refuse(ask, expanded.error());
  const auto request = ask.protocol->decode({.body = expanded->body});
  if (!request) co_return co_await desk.desk.refuse(ask, request.error());
  const auto model = ask.snapshot->choose_model(ask.key, request->model);
  if (!model) co_return co_await desk.desk.refuse(ask, model.error());
  const TurnSlots slots(desk.desk.world, ask.key, ask.address);
  const auto busy = slots.refusal();
  if (busy) co_return co_await desk.desk.refuse(ask, *busy);
  const TurnHost host = desk.desk.turn_host();
  std::optional<std::int64_t> tokens = co_await ask_count(host, *ask.snapshot, *model, *request);
  if (!tokens) {
    ask.headers.add(kEstimatedHeader, "estimated");
    tokens = estimate_tokens(*request);
  }
  std::string answer;
  json::ObjectWriter object(answer);
  object.string("object", "response.input_tokens");
  object.integer("input_tokens", *tokens);
  object.close();
  co_await respond_json(ask, 200, answer);
}

}  // namespace callgate::server
