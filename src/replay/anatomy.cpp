#include "replay/anatomy.h"

#include <algorithm>
#include <memory>

#include "chat/error_word.h"
#include "client/protocol.h"
#include "engine/answer.h"
#include "engine/framing.h"
#include "engine/turn_reader.h"
#include "replay/explanation.h"
#include "replay/text_places.h"
#include "upstream/wire_format.h"

namespace callgate::replay {
namespace {

using StepKind = server::CaptureLine::Kind;
using server::CaptureLine;

// Sees the events of a turn on their way into the answer.
class TappedOutlet final : public engine::TurnOutlet {
 public:
  TappedOutlet(engine::Answer& answer, std::uint32_t choices) : answer_(answer) {
    for (std::uint32_t i = 0; i < choices; ++i) taps_.emplace_back(std::make_unique<Tap>(*this, i));
  }

  engine::TurnTally& tally() override { return answer_.tally(); }
  EventSink& choice(std::uint32_t index) override { return *taps_[index]; }
  void begin_frame() override {
    ++frames_;
    answer_.begin_frame();
  }
  void end_frame() override { answer_.end_frame(); }
  void end() override { answer_.end(); }
  void fail(const Error& error) override { answer_.fail(error); }

  std::uint64_t frames() const { return frames_; }
  std::vector<AnatomyEvent> take() { return std::exchange(seen_, {}); }

 private:
  class Tap final : public EventSink {
   public:
    Tap(TappedOutlet& outlet, std::uint32_t choice) : outlet_(outlet), choice_(choice) {}
    void accept(const Event& event) override {
      EventLog log;
      log.accept(event);
      const auto* call = std::get_if<CallStarted>(&event);
      for (const LoggedEvent& logged : log.events()) {
        outlet_.seen_.push_back({logged, choice_, call != nullptr && call->in_text});
      }
      outlet_.answer_.choice(choice_).accept(event);
    }

   private:
    TappedOutlet& outlet_;
    std::uint32_t choice_;
  };

  engine::Answer& answer_;
  std::vector<std::unique_ptr<Tap>> taps_;
  std::uint64_t frames_ = 0;
  std::vector<AnatomyEvent> seen_;
};

// The upstream's answer as its wire format alone reads it: where the text stands, and what is mended in which frame.
class WireReading final : ChoiceSinks {
 public:
  WireReading(const Request& request, const WireFormat& wire, const PipelineOptions& options)
      : count_(request.choices),
        framing_(wire.framing, options.max_frame, options.max_body),
        decoder_(wire.make_decoder(request)) {}

  void push(std::string_view bytes, std::uint64_t begin) {
    begin_ = begin;
    end_ = begin + bytes.size();
    framing_.push(bytes, [this](const SseFrame& frame) { decoder_->push(frame, *this); });
  }
  void finish() {
    framing_.finish([this](const SseFrame& frame) { decoder_->push(frame, *this); },
                    [this](std::string_view body) {
                      begin_ = 0;
                      decoder_->push_body(body, *this);
                    });
    if (!decoder_->finished()) decoder_->finish(*this);
  }
  // What was mended since the last time.
  RepairCounts take_repairs() {
    RepairCounts fresh = decoder_->repairs();
    for (std::size_t i = 0; i < kRepairCount; ++i) fresh[i] -= seen_[i];
    seen_ = decoder_->repairs();
    return fresh;
  }
  const TextPlaces& places() const { return places_; }

 private:
  class First final : public EventSink {
   public:
    explicit First(WireReading& reading) : reading_(reading) {}
    void accept(const Event& event) override {
      const auto add = [&](std::string_view text) {
        reading_.places_.add(text, reading_.begin_, reading_.end_);
      };
      if (const auto* text = std::get_if<TextDelta>(&event)) add(text->text);
      if (const auto* thought = std::get_if<ReasoningDelta>(&event)) add(thought->text);
    }

   private:
    WireReading& reading_;
  };
  class Nowhere final : public EventSink {
    void accept(const Event&) override {}
  };

  EventSink& choice(std::uint32_t index) override {
    return index == 0 ? static_cast<EventSink&>(first_) : nowhere_;
  }
  std::uint32_t count() const override { return count_; }

  const std::uint32_t count_;
  engine::Framing framing_;
  std::unique_ptr<ResponseDecoder> decoder_;
  RepairCounts seen_{};
  TextPlaces places_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  First first_{*this};
  Nowhere nowhere_;
};

class Dissection {
 public:
  Dissection(const ReplayCase& input, Anatomy& into)
      : into_(into),
        explanation_(input.options.dialect == nullptr ? "native" : input.options.dialect->name),
        options_(with_explanation(input.options, explanation_)),
        tally_(options_.id_seed),
        answer_(input.request, *client::find(options_.protocol), options_,
                engine::AnswerOf::one_turn, tally_),
        outlet_(answer_, input.request.choices),
        reader_(input.request, *upstream::find(options_.wire), options_, outlet_),
        wire_(input.request, *upstream::find(options_.wire), options_) {
    answer_.bind(into_.client);
  }

  // `by_line`: the bytes are cut after each line, which is where frames end.
  void run(const std::vector<CaptureLine>& lines, bool by_line) {
    for (const CaptureLine& line : lines) {
      if (line.kind == StepKind::bytes) {
        push(line.bytes, line.time_us, by_line);
      } else {
        happen(line);
      }
    }
    if (at_ > begun_) end_step("frame");
    conclude();
  }

 private:
  static PipelineOptions with_explanation(PipelineOptions options, Explainer& explain) {
    options.explain = &explain;
    return options;
  }

  void push(std::string_view bytes, std::int64_t time_us, bool by_line) {
    into_.upstream.append(bytes);
    time_us_ = time_us;
    while (!bytes.empty()) {
      const std::size_t line = by_line ? bytes.find('\n') : std::string_view::npos;
      const std::string_view piece =
          bytes.substr(0, line == std::string_view::npos ? bytes.size() : line + 1);
      bytes.remove_prefix(piece.size());
      push_piece(piece);
    }
  }

  void push_piece(std::string_view piece) {
    const std::uint64_t frames = outlet_.frames();
    const std::size_t written = into_.client.size();
    at_ += piece.size();
    if (!reader_.finished()) reader_.push(piece);
    // Until something comes of it, the bytes belong to what follows.
    if (outlet_.frames() != frames || into_.client.size() != written) end_step("frame");
  }

  void happen(const CaptureLine& line) {
    if (line.kind == StepKind::comment || line.kind == StepKind::head ||
        line.kind == StepKind::round || reader_.finished()) {
      return;
    }
    time_us_ = line.time_us;
    if (line.kind == StepKind::closed) {
      reader_.finish();
      return end_step("closed");
    }
    if (line.kind == StepKind::cut) {
      reader_.cut();
      return end_step("cut");
    }
    if (line.kind == StepKind::released) {
      answer_.release_reasoning();
      return end_step("released");
    }
    reader_.fail(line.error);
    end_step("failed");
  }

  void end_step(std::string_view what) {
    AnatomyStep step{.what = what, .begin = begun_, .end = at_, .time_us = time_us_};
    step.events = outlet_.take();
    step.client_end = into_.client.size();
    step.held_back = reader_.finished() ? 0 : reader_.held();
    into_.steps.push_back(std::move(step));
    const std::string_view bytes = std::string_view(into_.upstream).substr(begun_, at_ - begun_);
    if (!bytes.empty()) wire_.push(bytes, begun_);
    if (what == "closed") wire_.finish();
    pin_repairs(wire_.take_repairs());
    pin_markup();
    pin_policies();
    begun_ = at_;
  }

  void pin(AnatomyPin::Kind kind, std::string_view name, std::string text) {
    const AnatomyStep& step = into_.steps.back();
    into_.pins.push_back({.kind = kind,
                          .name = std::string(name),
                          .text = std::move(text),
                          .step = into_.steps.size() - 1,
                          .begin = step.begin,
                          .end = step.begin});
  }

  void pin_repairs(const RepairCounts& repairs) {
    for (std::size_t i = 0; i < kRepairCount; ++i) {
      if (repairs[i] == 0) continue;
      const std::string times = repairs[i] > 1 ? std::to_string(repairs[i]) + " times" : "";
      pin(AnatomyPin::Kind::repair, to_string(static_cast<Repair>(i)), times);
    }
  }

  // What a dialect finds that nobody chose.
  void pin_markup() {
    if (!options_.dialect_is_default) return;
    for (const AnatomyEvent& seen : into_.steps.back().events) {
      if (!seen.in_text) continue;
      pin(AnatomyPin::Kind::repair, to_string(Repair::markup_in_text),
          "a call of " + seen.event.text + " in the text");
    }
  }

  void pin_policies() {
    const policy::Withheld& withheld = tally_.withheld;
    const std::uint32_t calls = withheld.calls - std::exchange(withheld_.calls, withheld.calls);
    const std::uint64_t bytes = withheld.bytes - std::exchange(withheld_.bytes, withheld.bytes);
    if (calls > 0 || bytes > 0) {
      std::string text = "withheld ";
      if (calls > 0) text += std::to_string(calls) + (calls == 1 ? " call" : " calls");
      if (bytes > 0) text += (calls > 0 ? ", " : "") + std::to_string(bytes) + " bytes";
      pin(AnatomyPin::Kind::policy, withheld.by.empty() ? "policy" : withheld.by, std::move(text));
    }
    const std::uint32_t mended = tally_.summary.mended_calls;
    if (mended > std::exchange(mended_, mended)) {
      pin(AnatomyPin::Kind::policy, "invalid_arguments", "the arguments of a call were mended");
    }
  }

  void conclude() {
    into_.summary = tally_.summary;
    into_.error = reader_.error();
    if (into_.steps.empty()) return;
    if (into_.summary.cut) {
      pin(AnatomyPin::Kind::policy, "stop_after_tools", "the turn was cut after its calls");
    }
    if (into_.error) {
      pin(AnatomyPin::Kind::error, to_string(into_.error->code), into_.error->message);
    }
    for (const Explanation::Piece& piece : explanation_.pieces()) pin_explanation(piece);
    std::stable_sort(into_.pins.begin(), into_.pins.end(),
                     [](const AnatomyPin& a, const AnatomyPin& b) { return a.step < b.step; });
  }

  void pin_explanation(const Explanation::Piece& piece) {
    const std::uint64_t begin = wire_.places().find(piece.begin, into_.upstream);
    const std::uint64_t end = wire_.places().find(piece.end, into_.upstream);
    const auto holds = [](const AnatomyStep& step, std::uint64_t byte) { return step.end <= byte; };
    const auto step = std::lower_bound(into_.steps.begin(), into_.steps.end(), end, holds);
    const auto index = std::min<std::size_t>(static_cast<std::size_t>(step - into_.steps.begin()),
                                             into_.steps.size() - 1);
    into_.pins.push_back({.kind = AnatomyPin::Kind::stayed_text,
                          .name = piece.dialect,
                          .text = piece.reason,
                          .step = index,
                          .begin = begin,
                          .end = end});
  }

  Anatomy& into_;
  Explanation explanation_;
  const PipelineOptions options_;
  engine::TurnTally tally_;
  engine::Answer answer_;
  TappedOutlet outlet_;
  engine::TurnReader reader_;
  WireReading wire_;
  std::uint64_t at_ = 0;     // bytes that came
  std::uint64_t begun_ = 0;  // of those, where the step begins
  std::int64_t time_us_ = 0;
  policy::Withheld withheld_;
  std::uint32_t mended_ = 0;
};

// An answer that no pipeline reads: one step, and why.
Anatomy refused(const ReplayCase& input, const Error& error) {
  Anatomy anatomy;
  anatomy.upstream = upstream_bytes(input);
  anatomy.client = client::find(input.options.protocol)->error_body(error);
  anatomy.error = error;
  anatomy.steps.push_back({.what = "failed",
                           .end = anatomy.upstream.size(),
                           .time_us = input.steps.empty() ? 0 : input.steps.back().time_us,
                           .client_end = anatomy.client.size()});
  anatomy.pins.push_back({.kind = AnatomyPin::Kind::error,
                          .name = std::string(to_string(error.code)),
                          .text = error.message});
  return anatomy;
}

}  // namespace

Anatomy dissect(const ReplayCase& input, const std::optional<Split>& split) {
  if (const auto error = failure_of(input)) return refused(input, *error);
  Anatomy anatomy;
  Dissection(input, anatomy).run(split ? cut_anew(input, *split) : input.steps, !split);
  return anatomy;
}

}  // namespace callgate::replay
