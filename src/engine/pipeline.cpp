#include "callgate/pipeline.h"

#include <utility>

#include "base/ids.h"
#include "client/protocol.h"
#include "engine/choice_chain.h"
#include "engine/dialect_stage.h"
#include "engine/framing.h"
#include "engine/turn_tap.h"
#include "policy/unique_call_ids.h"
#include "upstream/wire_format.h"

namespace callgate {

struct Pipeline::Parts final : ChoiceSinks {
  Parts(const Request& asked, PipelineOptions given, const WireFormat& wire,
        const Protocol& protocol)
      : request(asked),
        options(std::move(given)),
        mint(options.id_seed),
        framing(wire.framing, options.max_frame, options.max_body),
        decoder(wire.make_decoder(request)),
        encoder(protocol.make_encoder(request, identity())),
        lines(request.choices) {}

  // One choice on its way from the decoder to the encoder.
  struct Line {
    std::unique_ptr<engine::TurnTap> tap;
    std::unique_ptr<engine::ChoiceChain> chain;
  };

  ResponseIdentity identity() {
    return {.id = options.response_id.empty() ? mint.mint("chatcmpl-", 29) : options.response_id,
            .model = options.model.empty() ? request.model : options.model,
            .created = options.created};
  }

  std::vector<std::unique_ptr<Stage>> make_stages();
  EventSink& choice(std::uint32_t index) override;
  std::uint32_t count() const override { return request.choices; }

  void feed(const SseFrame& frame);
  void feed_body(std::string_view body);
  void settle();
  void conclude_with(const Error& failure);
  void sum_up();

  const Request& request;
  PipelineOptions options;
  IdMint mint;
  engine::Framing framing;
  std::unique_ptr<ResponseDecoder> decoder;
  std::unique_ptr<ResponseEncoder> encoder;
  std::vector<Line> lines;
  std::uint32_t markup = 0;
  bool visible = false;  // the client would have seen something of the turn
  bool finished = false;
  bool answered = false;  // a whole answer was written
  std::optional<Error> error;
  TurnSummary summary;
};

// The order of stages is code, not configuration.
std::vector<std::unique_ptr<Stage>> Pipeline::Parts::make_stages() {
  std::vector<std::unique_ptr<Stage>> stages;
  // Calls and reasoning that the model wrote as text become events. First, since all else looks at events.
  if (options.dialect != nullptr) {
    const DialectOptions dialect{
        .tools = request.tools,
        .start = options.reasoning_open ? Channel::reasoning : Channel::text,
        .commit = options.commit.value_or(options.dialect->commit),
        .max_held_back = options.max_held_back};
    stages.push_back(std::make_unique<engine::DialectStage>(*options.dialect, dialect, markup));
  }
  // Every call gets an id that no other call of the choice has, before anyone outside sees one.
  stages.push_back(std::make_unique<policy::UniqueCallIds>(mint));
  // The library user's own policies, in the order given.
  for (const auto& make : options.policies) stages.push_back(make());
  return stages;
}

EventSink& Pipeline::Parts::choice(std::uint32_t index) {
  Line& line = lines[index];
  if (line.chain == nullptr) {
    line.tap =
        std::make_unique<engine::TurnTap>(index == 0, summary, visible, encoder->choice(index));
    line.chain = std::make_unique<engine::ChoiceChain>(make_stages(), *line.tap);
  }
  return line.chain->first();
}

void Pipeline::Parts::feed(const SseFrame& frame) {
  if (finished) return;
  ++summary.frames_in;
  decoder->push(frame, *this);
}

void Pipeline::Parts::feed_body(std::string_view body) {
  ++summary.frames_in;
  decoder->push_body(body, *this);
}

// Ends the client's answer if the upstream's is over.
void Pipeline::Parts::settle() {
  if (finished) return;
  if (decoder->error()) return conclude_with(*decoder->error());
  if (!decoder->finished()) return;
  encoder->finish();
  answered = true;
  finished = true;
  sum_up();
}

void Pipeline::Parts::conclude_with(const Error& failure) {
  if (finished) return;
  error = failure;
  // A whole answer is not written in parts, and what nobody has seen yet is answered with a status.
  if (request.stream && visible) {
    decoder->abort(*this);
    encoder->fail(failure);
  }
  finished = true;
  summary.reason = FinishReason::upstream_error;
  sum_up();
}

void Pipeline::Parts::sum_up() {
  summary.repairs = decoder->repairs();
  if (options.dialect_is_default) {
    summary.repairs[static_cast<std::size_t>(Repair::markup_in_text)] += markup;
  }
}

Result<Pipeline> Pipeline::make(const Request& request, PipelineOptions options) {
  const WireFormat* wire = upstream::find(options.wire);
  if (wire == nullptr) {
    return callgate::fail(ErrorCode::not_found, "unknown wire format \"" + options.wire + "\"");
  }
  const Protocol* protocol = client::find(options.protocol);
  if (protocol == nullptr) {
    return callgate::fail(ErrorCode::not_found, "unknown protocol \"" + options.protocol + "\"");
  }
  return Pipeline(std::make_unique<Parts>(request, std::move(options), *wire, *protocol));
}

Pipeline::Pipeline(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;
Pipeline::~Pipeline() = default;

void Pipeline::push(std::string_view upstream_bytes, std::string& out) {
  if (parts_->finished) return;
  parts_->encoder->bind(out);
  parts_->framing.push(upstream_bytes, [this](const SseFrame& frame) { parts_->feed(frame); });
  if (const std::optional<Error> overflow = parts_->framing.overflow()) {
    return parts_->conclude_with(*overflow);
  }
  parts_->settle();
}

void Pipeline::finish(std::string& out) {
  if (parts_->finished) return;
  parts_->encoder->bind(out);
  parts_->framing.finish([this](const SseFrame& frame) { parts_->feed(frame); },
                         [this](std::string_view body) { parts_->feed_body(body); });
  if (!parts_->decoder->finished()) parts_->decoder->finish(*parts_);
  parts_->settle();
}

void Pipeline::fail(const Error& error, std::string& out) {
  if (parts_->finished) return;
  parts_->encoder->bind(out);
  if (!parts_->decoder->complete()) return parts_->conclude_with(error);
  parts_->decoder->finish(*parts_);
  parts_->settle();
}

bool Pipeline::started() const {
  return parts_->request.stream ? parts_->visible : parts_->answered;
}
bool Pipeline::finished() const { return parts_->finished; }
const std::optional<Error>& Pipeline::error() const { return parts_->error; }
const TurnSummary& Pipeline::summary() const { return parts_->summary; }

}  // namespace callgate
