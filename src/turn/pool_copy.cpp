#include "turn/pool_copy.h"

#include <optional>
#include <string>
#include <utility>

#include "callgate/pipeline.h"
#include "dial/plain_call.h"
#include "turn/attempt.h"

namespace callgate::server {
namespace {

class NobodyListens final : public EventSink {
  void accept(const Event&) override {}
};

Error silent(const UpstreamConfig& upstream, Milliseconds patience) {
  return {.code = ErrorCode::timed_out,
          .message = "upstream \"" + upstream.name + "\": nothing came within " +
                     std::to_string(patience.count()) + " ms"};
}

// Reads until the answer begins, or ends. Nothing: it did.
net::Task<std::optional<Error>> read_copy(PoolCopy& copy, UpstreamCall& call,
                                          CallPatience& patience, net::Loop& loop) {
  NobodyListens sink;
  PipelineOptions options;
  options.wire = wire_of(*copy.upstream).name;
  options.sink = &sink;
  auto pipeline = Pipeline::make(copy.request, options);
  if (!pipeline) co_return pipeline.error();
  std::string nothing;
  while (!pipeline->finished()) {
    const auto piece = co_await call.read(net::kNever);
    if (!piece) {
      pipeline->fail(piece.error(), nothing);
    } else if (piece->bytes.empty()) {
      pipeline->finish(nothing);
    } else {
      pipeline->push(piece->bytes, nothing);
    }
    if (pipeline->error()) co_return pipeline->error();
    if (pipeline->progress() == 0) continue;
    patience.stop();
    copy.trial.ticket.heard(loop.now());
    if (!copy.trial.whole) break;
  }
  co_return std::nullopt;
}

}  // namespace

net::Task<> send_copy(World& world, net::Loop& loop, std::unique_ptr<PoolCopy> copy) {
  const std::unique_ptr<UpstreamCall> call = copy->target->call(*copy->model);
  const Origin origin{.prompt = copy->request, .key_name = {}, .session = {}};
  call->set_origin(origin);
  CallPatience patience(loop, *call, copy->trial.patience);
  const auto sent = co_await call->send(copy->request, copy->encoded);
  std::optional<Error> error;
  if (!sent) {
    error = sent.error();
  } else if (call->status() < 200 || call->status() >= 300) {
    error = co_await read_refusal(*call, *copy->upstream, copy->encoded.path);
  } else {
    error = co_await read_copy(*copy, *call, patience, loop);
  }
  if (patience.is_over()) error = silent(*copy->upstream, copy->trial.patience);
  patience.stop();
  world.metrics.upstream_probes.with(copy->upstream->name, error ? "failed" : "ok").add();
  if (error) {
    copy->trial.ticket.failed(*error, loop.now());
  } else {
    copy->trial.ticket.succeeded(std::nullopt, loop.now());
  }
  call->cancel();
}

}  // namespace callgate::server
