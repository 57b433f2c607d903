#include "callgate/pipeline.h"

#include <utility>

#include "client/protocol.h"
#include "engine/answer.h"
#include "engine/sink_outlet.h"
#include "engine/turn_reader.h"
#include "upstream/wire_format.h"

namespace callgate {

// Both halves of a turn, joined.
struct Pipeline::Parts {
  Parts(const Request& asked, const PipelineOptions& options, const WireFormat& wire,
        const Protocol& protocol)
      : request(asked), tally(options.id_seed) {
    tally.observer = options.observer;
    if (options.sink != nullptr) {
      sink.emplace(request, protocol, options, tally);
    } else {
      answer.emplace(request, protocol, options, engine::AnswerOf::one_turn, tally);
    }
    engine::TurnOutlet& to = sink ? static_cast<engine::TurnOutlet&>(*sink) : *answer;
    reader.emplace(request, wire, options, to);
  }

  void bind(std::string& out) {
    if (answer) answer->bind(out);
  }

  const Request& request;
  engine::TurnTally tally;
  std::optional<engine::Answer> answer;    // nothing: the events go to a sink
  std::optional<engine::SinkOutlet> sink;  // nothing: they go to the client
  std::optional<engine::TurnReader> reader;
};

Result<Pipeline> Pipeline::make(const Request& request, PipelineOptions options) {
  const WireFormat* wire = upstream::find(options.wire);
  if (wire == nullptr) {
    return callgate::fail(ErrorCode::not_found, "unknown wire format \"" + options.wire + "\"");
  }
  const Protocol* protocol = client::find(options.protocol);
  if (protocol == nullptr) {
    return callgate::fail(ErrorCode::not_found, "unknown protocol \"" + options.protocol + "\"");
  }
  return Pipeline(std::make_unique<Parts>(request, options, *wire, *protocol));
}

Pipeline::Pipeline(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;
Pipeline::~Pipeline() = default;

void Pipeline::push(std::string_view upstream_bytes, std::string& out) {
  parts_->bind(out);
  parts_->reader->push(upstream_bytes);
}

void Pipeline::finish(std::string& out) {
  parts_->bind(out);
  parts_->reader->finish();
}

void Pipeline::fail(const Error& error, std::string& out) {
  parts_->bind(out);
  parts_->reader->fail(error);
}

std::optional<std::uint32_t> Pipeline::grace() const { return parts_->reader->grace(); }

void Pipeline::cut(std::string& out) {
  parts_->bind(out);
  parts_->reader->cut();
}

std::optional<std::uint32_t> Pipeline::held_reasoning() const {
  return parts_->answer ? parts_->answer->held_reasoning() : std::nullopt;
}

void Pipeline::release_reasoning(std::string& out) {
  if (!parts_->answer) return;
  parts_->answer->bind(out);
  parts_->answer->release_reasoning();
}

std::uint64_t Pipeline::progress() const { return parts_->reader->progress(); }
bool Pipeline::complete() const { return parts_->reader->complete(); }
bool Pipeline::cut_short() const { return parts_->reader->cut_short(); }

bool Pipeline::started() const {
  if (parts_->answer) return parts_->answer->started();
  return parts_->request.stream ? parts_->tally.visible : finished() && !error();
}

bool Pipeline::finished() const { return parts_->reader->finished(); }
const std::optional<Error>& Pipeline::error() const { return parts_->reader->error(); }
const TurnSummary& Pipeline::summary() const { return parts_->tally.summary; }

KeptTurn Pipeline::kept() const { return parts_->answer ? parts_->answer->kept() : KeptTurn(); }

}  // namespace callgate
