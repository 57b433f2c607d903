#include "gateway/passthrough.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "access/token_meter.h"
#include "base/quoted.h"
#include "chat/content.h"
#include "config/price.h"
#include "dial/plain_call.h"
#include "front/admission.h"
#include "gateway/form_field.h"
#include "gateway/relayed_usage.h"
#include "json/member.h"
#include "json/writer.h"
#include "net/unix_time.h"
#include "turn/observe.h"

namespace callgate::server {
namespace {

constexpr std::string_view kBase = "/v1";
constexpr std::size_t kLongestModel = 200;

// Nothing that a server could take for another folder.
bool stays_below(std::string_view path) {
  for (const std::string_view bad : {"/.", "//", "%2e", "%2E", "%2f", "%2F", "%5c", "%5C", "\\"}) {
    if (path.find(bad) != std::string_view::npos) return false;
  }
  return true;
}

std::string_view content_type_of(const Ask& ask) {
  return ask.exchange.head().headers.find("content-type").value_or("");
}

// What is relayed, and to whom.
struct Relay {
  const UpstreamConfig* upstream = nullptr;
  std::string model;  // as the client says, bounded; empty: it says none
  std::string label;  // of the model in metrics
  std::string body;   // not empty: instead of the client's
};

const UpstreamConfig* first_of(const Config& config, const std::vector<std::string>* names) {
  for (const UpstreamConfig& upstream : config.upstreams) {
    const bool named =
        names == nullptr || std::find(names->begin(), names->end(), upstream.name) != names->end();
    if (upstream.passthrough && named) return &upstream;
  }
  return nullptr;
}

// Where the body names its model, and that name. No place: it names none.
struct NamedModel {
  std::string_view place;
  std::string name;
  bool in_json = false;
};

Result<NamedModel> model_in(const Ask& ask, std::string_view body) {
  const std::string_view type = content_type_of(ask);
  if (is_form(type)) {
    const auto field = find_form_field(type, body, "model");
    if (!field) return tl::unexpected(field.error());
    if (!*field) return NamedModel{};
    return NamedModel{.place = **field, .name = std::string(**field)};
  }
  if (!type.starts_with("application/json")) return NamedModel{};
  return NamedModel{.place = json::member_json(body, "model"),
                    .name = json::member_text(body, "model"),
                    .in_json = true};
}

// The body with the name that the upstream has for the model.
std::string with_model(std::string_view body, const NamedModel& named, const std::string& id) {
  const auto at = static_cast<std::size_t>(named.place.data() - body.data());
  std::string changed(body.substr(0, at));
  if (named.in_json) {
    json::append_string(changed, id);
  } else {
    changed += id;
  }
  return changed.append(body.substr(at + named.place.size()));
}

Error no_upstream(const Relay& relay) {
  return {.code = ErrorCode::not_found,
          .message = "no upstream of model " + in_quotes(relay.model) + " has passthrough = true",
          .param = "model"};
}

Error not_configured(const Relay& relay) {
  return {.code = ErrorCode::unavailable,
          .message = "upstream \"" + relay.upstream->name + "\" is not configured any more"};
}

// A model that is known says which upstream, and what it is called there. Any other name goes to the first upstream, if the key
// may use it.
Result<Relay> choose_relay(const Ask& ask, std::string_view body) {
  const Config& config = ask.snapshot->config;
  const auto named = model_in(ask, body);
  if (!named) return tl::unexpected(named.error());
  Relay relay;
  relay.model = named->name;
  const bool names_model = !relay.model.empty();
  if (names_model && ask.key != nullptr && !ask.key->may_use(relay.model)) {
    return tl::unexpected(ask.snapshot->choose_model(ask.key, relay.model).error());
  }
  const auto model = ask.snapshot->choose_model(ask.key, relay.model);
  const bool known = names_model && model;
  relay.upstream = first_of(config, known ? &model->config->upstream : nullptr);
  if (relay.upstream == nullptr) return tl::unexpected(no_upstream(relay));
  if (known) {
    relay.label = model->config->name;
    const std::string& id = model->config->id.empty() ? model->config->name : model->config->id;
    if (id != relay.model) relay.body = with_model(body, *named, id);
  }
  relay.model = shortened(relay.model, kLongestModel);
  return relay;
}

UpstreamRequest to_request(const Ask& ask, Relay& relay, std::string_view body) {
  const net::RequestHead& head = ask.exchange.head();
  // Ollama has these endpoints beside its own.
  const bool whole = relay.upstream->wire == "ollama";
  std::string path(whole ? head.path : head.path.substr(kBase.size()));
  if (!head.query.empty()) path.append("?").append(head.query);
  std::string sent = relay.body.empty() ? std::string(body) : std::move(relay.body);
  UpstreamRequest request =
      plain_request(*relay.upstream, head.method, std::move(path), std::move(sent));
  for (const std::string_view name : {"content-type", "accept"}) {
    if (const auto value = head.headers.find(name)) {
      request.headers.emplace_back(std::string(name), std::string(*value));
    }
  }
  return request;
}

void take_headers(net::Headers& headers, const UpstreamCall& call) {
  for (const std::string_view name :
       {"content-type", "content-disposition", "retry-after", "openai-processing-ms"}) {
    const std::string_view value = call.header(name);
    if (!value.empty()) headers.add(name, value);
  }
  headers.add(kAttemptsHeader, "1");
}

store::RequestRecord to_record(const Ask& ask, const Relay& relay) {
  store::RequestRecord record;
  record.id = ask.id;
  record.received_at = net::unix_ms();
  record.key_name = ask.key == nullptr ? "" : ask.key->config.name;
  record.protocol = "passthrough";
  record.model = relay.model;
  record.upstream = relay.upstream->name;
  record.dialect = "native";
  record.client_address = ask.exchange.peer();
  return record;
}

// What became of it.
struct Relayed {
  int status = 0;
  bool answered = false;  // the client has got an answer, or a part of one
  std::uint64_t bytes = 0;
  std::optional<Usage> usage;  // as the answer says it
  std::optional<Error> error;
};

// The answer as it comes. Fails when it broke off, or the client left.
net::Task<Result<void>> relay_answer(Ask& ask, UpstreamCall& call, PoolTicket& ticket,
                                     net::Loop& loop, Relayed& done) {
  take_headers(ask.headers, call);
  ask.exchange.start(call.status(), ask.headers);
  RelayedUsage usage(call.header("content-type"));
  while (true) {
    const auto piece = co_await call.read(net::kNever);
    if (!piece) {
      ask.exchange.abort();
      co_return tl::unexpected(piece.error());
    }
    ticket.heard(loop.now());
    if (piece->bytes.empty()) break;
    done.bytes += piece->bytes.size();
    usage.push(piece->bytes);
    done.usage = usage.usage();
    const std::string copy(piece->bytes);  // the view ends with the next wait
    const auto written = co_await ask.exchange.write(copy);
    if (!written) co_return tl::unexpected(written.error());
  }
  const auto ended = co_await ask.exchange.end();
  if (!ended) co_return tl::unexpected(ended.error());
  co_return Result<void>();
}

Error status_error(int status) {
  const ErrorCode code = status == 429   ? ErrorCode::rate_limited
                         : status >= 500 ? ErrorCode::upstream_failed
                                         : ErrorCode::invalid_request;
  return {.code = code, .message = "it answered " + std::to_string(status), .status = status};
}

net::Task<Relayed> ask_upstream(Desk& desk, Ask& ask, Relay& relay, std::string_view body,
                                PoolTicket ticket) {
  const std::shared_ptr<UpstreamTarget> target = desk.targets.find(relay.upstream->name);
  const UpstreamRequest request = to_request(ask, relay, body);
  const ModelConfig nobody;
  const Request nothing;
  const std::unique_ptr<UpstreamCall> call = target->call(nobody);
  ask.exchange.on_client_gone([&call] { call->cancel(); });
  Relayed done;
  const auto sent = co_await call->send(nothing, request);
  if (!sent) {
    done.error = sent.error();
    done.status = ask.protocol->status_of(sent.error());
  } else {
    done.answered = true;
    done.status = call->status();
    const auto relayed = co_await relay_answer(ask, *call, ticket, desk.loop, done);
    if (!relayed) done.error = relayed.error();
  }
  ask.exchange.on_client_gone({});
  const std::uint64_t now = desk.loop.now();
  if (done.error) {
    if (!ask.exchange.client_gone()) ticket.failed(*done.error, now);
  } else if (done.status >= 400) {
    ticket.failed(status_error(done.status), now);
  } else {
    std::optional<std::int64_t> tokens;
    if (done.usage) tokens = done.usage->total_tokens;
    ticket.succeeded(tokens, now);
  }
  co_return done;
}

void complete_row(Desk& desk, const Ask& ask, const Relay& relay, std::size_t received,
                  const Relayed& done) {
  store::RequestOutcome outcome;
  outcome.id = ask.id;
  outcome.key_name = ask.key == nullptr ? "" : ask.key->config.name;
  outcome.attempts = 1;
  outcome.http_status = done.status;
  outcome.bytes_in = static_cast<std::int64_t>(received);
  outcome.bytes_out = static_cast<std::int64_t>(done.bytes);
  outcome.total_ms = static_cast<std::int64_t>(desk.loop.now() - ask.started_ms);
  if (done.error) {
    outcome.state = store::RequestState::failed;
    outcome.error_code = to_string(done.error->code);
    outcome.error_message = done.error->message;
  }
  outcome.usage = done.usage;
  if (done.usage) {
    const std::string_view name = relay.label.empty() ? relay.model : relay.label;
    const PriceConfig* const price =
        find_price(ask.snapshot->config.prices, name, relay.upstream->name);
    if (price != nullptr) outcome.cost = cost_of(*price, *done.usage);
  }
  const TurnLabels labels{
      .request = ask.id, .trace = {}, .model = relay.label, .dialect = "native"};
  observe_end(desk.world, labels, std::move(outcome), {});
}

// The limits on tokens of the key, where a model is used. Its prompt is what the body has, until the answer says what it was.
Result<std::shared_ptr<TokenMeter>> meter_for(World& world, Ask& ask, const Relay& relay,
                                              std::string_view body) {
  if (relay.model.empty()) return nullptr;
  Request request;
  const bool words = !is_form(content_type_of(ask));  // a file is not
  if (words) request.messages.emplace_back().content = text_content(body);
  ModelConfig model;
  model.name = relay.label.empty() ? relay.model : relay.label;
  model.upstream = {relay.upstream->name};
  const TurnToAdmit turn{
      .snapshot = ask.snapshot, .key = ask.key, .model = model, .request = request};
  return admit_tokens(world, turn, ask.headers);
}

void count_usage(TokenMeter* meter, const Relay& relay, const std::optional<Usage>& usage) {
  if (meter == nullptr || !usage) return;
  TurnSummary summary;
  summary.usage = usage;
  meter->begin_answer(relay.upstream->name, usage->prompt_tokens);
  meter->end_answer(summary, true);
}

}  // namespace

bool may_pass_through(const Ask& ask) {
  const std::string_view path = ask.exchange.head().path;
  const bool below = path.starts_with("/v1/") && path.size() > 4 && stays_below(path);
  return below && first_of(ask.snapshot->config, nullptr) != nullptr;
}

net::Task<> pass_through(Desk& desk, Ask& ask) {
  World& world = desk.world;
  const auto body = co_await read_turn_body(world, ask);
  if (!body) co_return co_await desk.refuse(ask, body.error());
  const TurnSlots slots(world, ask.key, ask.address);
  const auto busy = slots.refusal();
  if (busy) co_return co_await desk.refuse(ask, *busy);
  const auto held = reserve_for(world, ask, body->size());
  if (!held) co_return co_await desk.refuse(ask, held.error());
  auto relay = choose_relay(ask, *body);
  if (!relay) co_return co_await desk.refuse(ask, relay.error());
  if (desk.targets.find(relay->upstream->name) == nullptr) {
    const Error gone = not_configured(*relay);
    co_return co_await desk.refuse(ask, gone);
  }
  const auto meter = meter_for(world, ask, *relay, *body);
  if (!meter) co_return co_await desk.refuse(ask, meter.error());
  PoolWalk walk({{.upstream = relay->upstream->name}}, {.retries = 0});
  const Board::Question question{.model = relay->label};
  Board::Answer place = world.pools.next(walk, question, desk.loop.now());
  if (!place.ticket) {
    const Error limited = walk.error(desk.loop.now());
    co_return co_await desk.refuse(ask, limited);
  }
  observe_begin(world, to_record(ask, *relay));
  const StreamGauge gauge(world);
  const Relayed done = co_await ask_upstream(desk, ask, *relay, *body, std::move(place.ticket));
  count_usage(meter->get(), *relay, done.usage);
  complete_row(desk, ask, *relay, body->size(), done);
  if (!done.answered) co_await desk.refuse(ask, *done.error);
}

}  // namespace callgate::server
