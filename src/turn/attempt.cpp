#include "turn/attempt.h"

#include <chrono>

#include "config/server_kind.h"
#include "dial/pool/remedy.h"
#include "dial/text_tools.h"
#include "net/url.h"
#include "turn/snapshot.h"
#include "turn/world.h"
#include "upstream/wire_format.h"

namespace callgate::server {
namespace {

constexpr net::Millis kTailPatience{50};
constexpr std::size_t kSearchedText = std::size_t{32} << 10;  // for a call that was missed
constexpr int kTailPieces = 64;

// What the URL of an upstream that answered 404 probably lacks, or has too much of.
std::string_view url_hint(const UpstreamConfig& upstream, const net::Target& target) {
  const std::string_view prefix = target.path_prefix;
  for (const std::string_view endpoint :
       {"/chat/completions", "/completions", "/responses", "/messages", "/api/chat"}) {
    if (prefix.ends_with(endpoint)) return "; its URL should end before the path of the endpoint";
  }
  const bool has_version = prefix.find("/v") != std::string_view::npos;
  if (upstream.wire == "ollama" && has_version) return "; its URL should end before /v1";
  if (upstream.wire == "ollama" && prefix.ends_with("/api")) {
    return "; its URL should end before /api";
  }
  if (upstream.wire == "gemini" && !has_version) return "; its URL may lack /v1beta";
  const bool wants_version =
      upstream.wire.starts_with("openai_") || upstream.wire == "anthropic_messages";
  if (wants_version && !has_version) return "; its URL may lack /v1";
  return {};
}

// ` (upstream "main", POST http://localhost:8000/chat/completions; its URL may lack /v1)`, without credentials.
std::string where_asked(const UpstreamConfig& upstream, std::string_view path, int status) {
  const auto target = net::parse_url(upstream.url);
  if (!target) return " (upstream \"" + upstream.name + "\")";
  std::string text = " (upstream \"" + upstream.name + "\", POST ";
  text += target->tls ? "https://" : "http://";
  text += net::to_text(*target) + target->path_prefix;
  text += path.substr(0, path.find('?'));
  if (status == 404) text += url_hint(upstream, *target);
  return text + ")";
}

// What only an upstream of the request's own protocol understands.
Result<void> leave_native(const UpstreamConfig& upstream, const Request& request,
                          std::vector<DroppedField>& dropped) {
  if (upstream.wire == request.origin) return {};
  for (const NativeField& field : request.native) {
    switch (field.elsewhere) {
      case NativeField::Elsewhere::unsaid:
        break;
      case NativeField::Elsewhere::named:
        dropped.push_back({field.name, false});
        break;
      case NativeField::Elsewhere::refused:
        return fail(ErrorCode::invalid_request,
                    field.name + ": upstream \"" + upstream.name + "\" speaks " + upstream.wire +
                        ", which cannot honour it; leave it out",
                    field.name);
    }
  }
  return {};
}

// Sees events go by.
class Watch final : public Stage {
 public:
  explicit Watch(EventSink& observer) : observer_(observer) {}
  void push(const Event& event, EventSink& next) override {
    observer_.accept(event);
    next.accept(event);
  }

 private:
  EventSink& observer_;
};

}  // namespace

// A longer one would be kept for every request in the log, and is no name.
constexpr std::size_t kLongestSession = 1024;

std::string_view session_of(const net::Headers& headers) {
  for (const std::string_view name : {"x-callgate-session", "x-session-id", "x-session-affinity",
                                      "x-claude-code-session-id", "session-id"}) {
    const std::string_view session = headers.find(name).value_or("");
    if (!session.empty() && session.size() <= kLongestSession) return session;
  }
  return {};
}

const WireFormat& wire_of(const UpstreamConfig& upstream) {
  const std::string_view name = upstream.wire;
  return *upstream::find(name == "script" ? "openai_chat" : name);
}

Result<EncodedRequest> encode_for(const UpstreamConfig& upstream, const ModelConfig& model,
                                  const engine::RequestRules& rules,
                                  const std::optional<engine::TextTools>& text,
                                  const Request& request) {
  EncodedRequest made;
  if (rules.change_anything() || text) {
    made.prepared = engine::prepare_request(request, rules, text);
  }
  auto encoded = wire_of(upstream).encode(made.prepared ? *made.prepared : request,
                                          {.model = model.id.empty() ? model.name : model.id,
                                           .key = upstream.key.reveal(),
                                           .auth = upstream.auth,
                                           .stream = request.stream && upstream.stream,
                                           .betas = upstream.betas});
  if (!encoded) return tl::unexpected(encoded.error());
  made.request = std::move(*encoded);
  if (auto left = leave_native(upstream, request, made.request.dropped); !left) {
    return tl::unexpected(left.error());
  }
  // What only the client's own format can say.
  if (request.origin != wire_of(upstream).name) {
    for (const ClientSide::OwnField& field : request.client.own_fields) {
      made.request.dropped.push_back({field.name, field.changes_meaning});
    }
  }
  // Fields that the wire format cannot carry are told to the client, or refused.
  for (const DroppedField& field : made.request.dropped) {
    if (field.changes_meaning && upstream.dropped_fields == "refuse") {
      return fail(ErrorCode::invalid_request,
                  field.name + ": upstream \"" + upstream.name + "\" speaks " + upstream.wire +
                      ", which has no such field; leave it out",
                  field.name);
    }
    made.dropped.append(made.dropped.empty() ? "" : ", ").append(field.name);
  }
  return made;
}

bool learn_text_only(World& world, const Snapshot& snapshot, const Asked& asked,
                     const Error& refusal) {
  const bool can_help = !asked.as_text && asked.dialect != "native" &&
                        asked.model.tools == "native" &&
                        can_leave_calls_in_text(asked.upstream.wire);
  if (!can_help || !lacks_call_parser(refusal)) return false;
  if (snapshot.text_only.add(asked.upstream.name, asked.model.name)) {
    world.log.warning(
        "the upstream has no parser for tool calls, so they are read from its text from now on; "
        "to settle this, add `tools = \"text\"` and a `dialect` to the [[model]], or start the "
        "server with a parser",
        {{"upstream", asked.upstream.name},
         {"model", asked.model.name},
         {"dialect", asked.dialect},
         {"refusal", refusal.message}});
  }
  return true;
}

net::Task<Error> read_refusal(UpstreamCall& call, const UpstreamConfig& upstream,
                              std::string_view path) {
  std::string body;
  while (body.size() < kMaxErrorBody) {
    auto piece = co_await call.read(net::kNever);
    if (!piece || piece->bytes.empty()) break;
    body.append(piece->bytes.substr(0, kMaxErrorBody - body.size()));
  }
  Error error = wire_of(upstream).decode_error(call.status(), body);
  // What is wrong with the request itself the client wants to know as it was said.
  if (remedy_for(error) != Remedy::none) {
    error.message += where_asked(upstream, path, call.status());
  }
  add_login_hint(error, upstream);
  if (const std::string_view after = call.header("retry-after"); !after.empty()) {
    error.retry_after = after;
  }
  co_return error;
}

void add_login_hint(Error& error, const UpstreamConfig& upstream) {
  if (error.status != 401 || !upstream.has_login()) return;
  error.message += "; `callgate login " + upstream.name + "` logs in";
}

PipelineOptions reading_options(const ModelConfig& model, const LimitsConfig& limits,
                                UpstreamCall& call, IdMint& mint) {
  PipelineOptions options;
  if (!model.commit.empty()) {
    options.commit = model.commit == "eager" ? Commit::eager : Commit::whole_call;
  }
  options.reasoning_open = model.reasoning_open;
  options.created = std::chrono::duration_cast<std::chrono::seconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
  options.id_seed = mint.next();
  options.max_frame = limits.max_upstream_frame.count;
  options.max_body = limits.max_upstream_body.count;
  options.max_held_back = limits.max_held_back.count;
  options.search_missed = kSearchedText;
  if (EventSink* observer = call.observer(); observer != nullptr) {
    options.policies.push_back([observer] { return std::make_unique<Watch>(*observer); });
  }
  return options;
}

net::Task<> read_away(std::shared_ptr<UpstreamTarget> target, std::unique_ptr<UpstreamCall> call) {
  for (int i = 0; i < kTailPieces; ++i) {
    const auto piece = co_await call->read(kTailPatience);
    if (!piece || piece->waiting || piece->bytes.empty()) break;
  }
  call.reset();  // before its target
  target.reset();
}
}  // namespace callgate::server
