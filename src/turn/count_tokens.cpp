#include "turn/count_tokens.h"

#include <memory>
#include <string>
#include <utility>

#include "engine/prepare_request.h"
#include "turn/attempt.h"
#include "upstream/wire_format.h"

namespace callgate::server {

net::Task<std::optional<std::int64_t>> ask_count(const TurnHost& host, const Snapshot& snapshot,
                                                 const Snapshot::Model& model,
                                                 const Request& request) {
  const ModelConfig& config = *model.config;
  const UpstreamConfig& upstream = *snapshot.config.find_upstream(config.upstream.front());
  const WireFormat& wire = wire_of(upstream);
  const auto target = host.targets.find(upstream.name);
  if (wire.encode_count == nullptr || target == nullptr) co_return std::nullopt;
  std::optional<Request> prepared;
  if (model.rules.change_anything()) {
    prepared = engine::prepare_request(request, model.rules, std::nullopt);
  }
  const Request& asked = prepared ? *prepared : request;
  const auto encoded =
      wire.encode_count(asked, {.model = config.id.empty() ? config.name : config.id,
                                .key = upstream.key.reveal(),
                                .auth = upstream.auth,
                                .stream = false,
                                .betas = upstream.betas});
  if (!encoded) co_return std::nullopt;
  const std::unique_ptr<UpstreamCall> call = target->call(config);
  const Origin origin{.prompt = asked, .key_name = {}, .session = {}};
  call->set_origin(origin);
  const auto sent = co_await call->send(asked, *encoded);
  if (!sent || call->status() != 200) co_return std::nullopt;
  std::string body;
  while (body.size() < kMaxErrorBody) {
    const auto piece = co_await call->read(net::kNever);
    if (!piece) co_return std::nullopt;
    if (piece->bytes.empty()) break;
    body.append(piece->bytes.substr(0, kMaxErrorBody - body.size()));
  }
  co_return wire.decode_count(body);
}

}  // namespace callgate::server
