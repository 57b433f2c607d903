#include "script/render.h"

#include <algorithm>

#include "base/check.h"
#include "base/ids.h"
#include "chat/event_log.h"
#include "script/demo_model.h"
#include "script/message_text.h"
#include "script/reply/call_run.h"

namespace callgate::script {
namespace {

constexpr std::uint32_t kMaxChoices = 16;

bool has_header(const Headers& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(), [&](const auto& header) {
    return std::equal(header.first.begin(), header.first.end(), name.begin(), name.end(),
                      [](char a, char b) { return (a | 0x20) == (b | 0x20); });
  });
}

Headers with_type(Headers headers, std::string_view type) {
  if (!has_header(headers, "content-type")) headers.emplace(headers.begin(), "content-type", type);
  return headers;
}

std::string_view body_type(std::string_view body) {
  if (body.starts_with('{') || body.starts_with('[')) return "application/json";
  return body.starts_with('<') ? "text/html" : "text/plain";
}

const Usage* find_usage(const std::vector<Step>& steps) {
  const Usage* found = nullptr;
  for (const Step& step : steps) {
    if (const auto* usage = std::get_if<Usage>(&step.what)) found = usage;
    if (const auto* repeat = std::get_if<Repeat>(&step.what)) {
      if (const Usage* inner = find_usage(repeat->steps)) found = inner;
    }
  }
  return found;
}

class Renderer {
 public:
  Renderer(const Rule& rule, const Request& request, const RenderOptions& options);
  Rendering run();

 private:
  void perform(const std::vector<Step>& steps);
  void perform(const Step& step);
  void say(const Say& part);
  void say_piece(std::uint32_t choice, Voice voice, std::string_view piece);
  void write_calls();
  std::string id_for(const Call& call, std::uint32_t choice);
  void finish_turn(FinishReason reason);
  void end_answer();
  void play_demo();
  void respond(const Status& status);
  void end_connection(const End& end);
  void emit(std::uint32_t choice, const Event& event);
  void count(std::size_t bytes, bool reasoning);

  const Rule& rule_;
  const Request& request_;
  const RenderOptions& options_;
  const std::uint32_t choices_;
  IdMint mint_;
  Faults faults_;
  std::unique_ptr<ReplyEncoder> encoder_;
  Tape tape_;
  std::vector<EventLog> logs_;  // of a whole answer, one per choice
  Cut text_cut_;
  Cut arguments_cut_;
  std::vector<Call> run_;  // calls that follow one another, not written yet
  CallIndex next_call_ = 0;
  std::string first_id_;
  Usage usage_;
  std::size_t said_bytes_ = 0;
  std::size_t reasoning_bytes_ = 0;
  bool usage_given_ = false;
  bool done_marker_ = true;
  bool finished_ = false;  // the turn has its finish
  bool ended_ = false;     // the answer has its end
  bool over_ = false;      // nothing more leaves
};

Renderer::Renderer(const Rule& rule, const Request& request, const RenderOptions& options)
    : rule_(rule),
      request_(request),
      options_(options),
      choices_(std::clamp<std::uint32_t>(request.choices, 1, kMaxChoices)),
      mint_(options.seed),
      faults_(options.faults) {
  encoder_ =
      options.format->make_encoder(ReplyIdentity{.id = mint_.mint(options.format->id_prefix, 29),
                                                 .model = request.model,
                                                 .created = options.created,
                                                 .choices = choices_,
                                                 .include_usage = request.include_usage,
                                                 .legacy_functions = request.legacy_functions,
                                                 .form = options.form,
                                                 .place = options.place},
                                   faults_);
  if (!request.stream) logs_.resize(choices_);
  usage_.prompt_tokens = usage_.total_tokens = prompt_count(request);
  if (const Usage* given = find_usage(rule.steps)) {
    usage_ = *given;
    usage_given_ = true;
  }
}

Rendering Renderer::run() {
  perform(rule_.steps);
  if (!over_) write_calls();
  if (!over_ && !ended_) end_answer();
  Rendering made =
      std::move(tape_).finish(with_type(rule_.headers, encoder_->stream_type()), request_.stream);
  for (const Fault coding : kCodings) {
    if (faults_.has(coding)) made.coding = coding;
  }
  return made;
}

void Renderer::emit(std::uint32_t choice, const Event& event) {
  if (request_.stream) {
    encoder_->push(choice, UsageReported{usage_}, tape_);
    encoder_->push(choice, event, tape_);
  } else {
    logs_[choice].accept(event);
  }
}

void Renderer::count(std::size_t bytes, bool reasoning) {
  if (usage_given_) return;
  said_bytes_ += bytes;
  if (reasoning) reasoning_bytes_ += bytes;
  usage_.completion_tokens = count_of(said_bytes_);
  usage_.reasoning_tokens = count_of(reasoning_bytes_);
  usage_.total_tokens = usage_.prompt_tokens + usage_.completion_tokens;
}

void Renderer::perform(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    if (over_) return;
    perform(step);
  }
}

void Renderer::perform(const Step& step) {
  // Everything but another call ends a run of calls.
  if (!std::holds_alternative<Call>(step.what)) write_calls();
  const bool streams = request_.stream;
  std::visit(Overloaded{
                 [&](const Say& s) { say(s); },
                 [&](const Call& s) { run_.push_back(s); },
                 [&](const Usage&) {},
                 [&](const Finish& s) { finish_turn(s.reason); },
                 [&](const Done&) { end_answer(); },
                 [&](const NoDone&) { done_marker_ = false; },
                 [&](const Delay& s) { tape_.wait(s.milliseconds); },
                 [&](const Pace& s) { tape_.set_pace(s.milliseconds); },
                 [&](const SetCut& s) {
                   if (s.text) text_cut_ = *s.text;
                   if (s.arguments) arguments_cut_ = *s.arguments;
                 },
                 [&](const WriteMode& s) { tape_.set_write_mode(s); },
                 [&](const Truncate& s) { tape_.truncate(s.bytes); },
                 [&](const Frame& s) {
                   if (streams) encoder_->frame(s.json, tape_);
                 },
                 [&](const Raw& s) {
                   if (!streams) return;
                   tape_.bytes() += s.bytes;
                   tape_.end_frame();
                 },
                 [&](const Status& s) { respond(s); },
                 [&](const Head&) {
                   if (streams) tape_.head();
                 },
                 [&](const End& s) { end_connection(s); },
                 [&](const Faults& s) { faults_.add(s); },
                 [&](const ClearFaults&) { faults_ = options_.faults; },
                 [&](const Demo&) { play_demo(); },
                 [&](const Repeat& s) {
                   for (std::uint32_t i = 0; i < s.count && !over_; ++i) perform(s.steps);
                 },
             },
             step.what);
}

void Renderer::say(const Say& part) {
  for (const std::string& piece : part.pieces) {
    count(piece.size(), part.voice == Voice::reasoning);
    for_each_piece(piece, text_cut_, [&](std::string_view cut) {
      for (std::uint32_t choice = 0; choice < choices_; ++choice) {
        say_piece(choice, part.voice, cut);
      }
    });
  }
}

void Renderer::say_piece(std::uint32_t choice, Voice voice, std::string_view piece) {
  switch (voice) {
    case Voice::text:
      emit(choice, TextDelta{piece});
      break;
    case Voice::reasoning:
      emit(choice, ReasoningDelta{piece});
      break;
    case Voice::refusal:
      emit(choice, RefusalDelta{piece});
      break;
  }
}

std::string Renderer::id_for(const Call& call, std::uint32_t choice) {
  if (faults_.has(Fault::same_id) && !first_id_.empty()) return first_id_;
  std::string id = call.id.empty() ? mint_.mint(options_.format->call_prefix) : call.id;
  // A given id belongs to the first choice; the others must not share it.
  if (choice != 0 && !call.id.empty()) id += "_" + std::to_string(choice);
  if (first_id_.empty()) first_id_ = id;
  return id;
}

void Renderer::write_calls() {
  if (run_.empty()) return;
  const std::vector<Call> calls = std::exchange(run_, {});
  const CallText& how = options_.call_text;
  if (std::string text; how.render != nullptr && how.render(how.dialect, calls, text)) {
    say(Say{Voice::text, {std::move(text)}});
    return;
  }
  for (const Call& call : calls) {
    std::size_t bytes = call.name.size();
    for (const std::string& piece : call.arguments) bytes += piece.size();
    count(bytes, false);
  }
  Faults faults = faults_;
  // The order of deltas means nothing in a whole answer.
  if (!request_.stream) faults.remove(Fault::interleave).remove(Fault::reverse_index);
  for (std::uint32_t choice = 0; choice < choices_; ++choice) {
    std::vector<PlannedCall> planned;
    for (const Call& call : calls) {
      planned.push_back({next_call_ + static_cast<CallIndex>(planned.size()), call});
      planned.back().call.id = id_for(call, choice);
    }
    if (request_.stream) {
      encoder_->push(choice, UsageReported{usage_}, tape_);
      encoder_->push_calls(choice, planned, arguments_cut_, faults_, tape_);
    } else {
      emit_calls(planned, arguments_cut_, faults, [&](const Event& event) { emit(choice, event); });
    }
  }
  next_call_ += static_cast<CallIndex>(calls.size());
}

void Renderer::finish_turn(FinishReason reason) {
  finished_ = true;
  for (std::uint32_t choice = 0; choice < choices_; ++choice) emit(choice, TurnFinished{reason});
}

void Renderer::end_answer() {
  write_calls();
  if (!finished_) finish_turn(next_call_ > 0 ? FinishReason::tool_calls : FinishReason::stop);
  ended_ = true;
  if (request_.stream) {
    encoder_->end(done_marker_, tape_);
    return;
  }
  encoder_->push(0, UsageReported{usage_}, tape_);
  tape_.respond(200, with_type(rule_.headers, "application/json"), encoder_->body(logs_));
  over_ = true;
}

void Renderer::play_demo() {
  for (Part& part : demo_turn(request_)) {
    std::visit([&](auto& said) { perform(Step{std::move(said)}); }, part);
  }
}

void Renderer::respond(const Status& status) {
  const std::string body = status.body.value_or(
      encoder_->error_body(status.status, "scripted status " + std::to_string(status.status)));
  tape_.respond(status.status, with_type(rule_.headers, body_type(body)), body);
  over_ = true;
}

void Renderer::end_connection(const End& end) {
  tape_.end(end.how);
  over_ = true;
}

}  // namespace

Rendering render(const Rule& rule, const Request& request, const RenderOptions& options) {
  CALLGATE_CHECK(options.format != nullptr);
  return Renderer(rule, request, options).run();
}

Rendering render_error(int status, std::string_view message, const Request& request,
                       const RenderOptions& options) {
  CALLGATE_CHECK(options.format != nullptr);
  const Faults none;
  const auto encoder = options.format->make_encoder(ReplyIdentity{.model = request.model}, none);
  Tape tape;
  tape.respond(status, {{"content-type", "application/json"}},
               encoder->error_body(status, message));
  return std::move(tape).finish({}, false);
}

}  // namespace callgate::script
