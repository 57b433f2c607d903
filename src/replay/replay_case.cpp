#include "replay/replay_case.h"

#include <algorithm>
#include <memory>

#include "base/ids.h"
#include "client/protocol.h"
#include "engine/golden_case.h"
#include "json/writer.h"
#include "upstream/wire_format.h"

namespace callgate::replay {
namespace {

using LineKind = server::CaptureLine::Kind;
using server::CapturedPipeline;
using server::CaptureLine;
using server::CaptureRecord;
using server::Direction;

tl::unexpected<Error> refuse(std::string message) {
  return fail(ErrorCode::invalid_request, std::move(message));
}

// A clock that gives the captured times in their order, then the last one again and again.
std::function<std::int64_t()> again(std::vector<std::int64_t> times) {
  return [times = std::move(times), next = std::size_t{0}]() mutable {
    if (times.empty()) return std::int64_t{0};
    return times[next + 1 < times.size() ? next++ : next];
  };
}

Result<PipelineOptions> to_options(const CapturedPipeline& words,
                                   const dialect::Catalog* dialects) {
  PipelineOptions options;
  options.wire = words.wire;
  options.protocol = words.protocol;
  if (words.dialect != "native") {
    options.dialect = dialect::find_in(dialects, words.dialect);
    if (options.dialect == nullptr) {
      return refuse("there is no dialect \"" + words.dialect +
                    "\"; one of your own needs the configuration that defines it");
    }
  }
  options.dialect_is_default = words.dialect_is_default;
  if (!words.commit.empty()) {
    options.commit = words.commit == "eager" ? Commit::eager : Commit::whole_call;
  }
  options.reasoning_open = words.reasoning_open;
  options.response_id = words.response_id;
  options.created = words.created;
  options.id_seed = words.id_seed;
  options.max_frame = words.max_frame;
  options.max_body = words.max_body;
  options.max_held_back = words.max_held_back;
  options.policy = words.policy;
  if (words.elapsed_ms) options.elapsed_ms = again(*words.elapsed_ms);
  return options;
}

Result<Request> to_request(std::string_view body, std::string_view protocol) {
  const Protocol* found = client::find(protocol);
  if (found == nullptr) return refuse("unknown protocol \"" + std::string(protocol) + "\"");
  auto request = found->decode({.body = body});
  if (!request) request.error().message = "the client's request: " + request.error().message;
  return request;
}

// Each attempt begins with what was sent; only the last one reached the client.
void add_line(ReplayCase& into, const CaptureLine& line) {
  const bool from_upstream = line.direction == Direction::upstream_in;
  if (line.direction == Direction::upstream_out && line.kind == LineKind::head) {
    into.steps.clear();
    into.status = 0;
  } else if (from_upstream && line.kind == LineKind::head) {
    into.status = line.head.status;
  } else if (from_upstream) {
    into.steps.push_back(line);
  } else if (line.direction == Direction::client_out && line.kind == LineKind::bytes) {
    into.captured += line.bytes;
    into.captured_comments += line.bytes;
  } else if (line.direction == Direction::client_out && line.kind == LineKind::comment) {
    into.captured_comments += line.bytes;
    into.steps.push_back(line);
  }
}

// All of a single turn. Gives the client's request.
std::string add_lines(ReplayCase& into, const CaptureRecord& record) {
  std::string body;
  for (const CaptureLine& line : record.lines) {
    if (line.direction == Direction::client_in && line.kind == LineKind::bytes) body += line.bytes;
    add_line(into, line);
  }
  return body;
}

// Of a tool loop the answer of an upstream that was read as this round.
void add_round(ReplayCase& into, const CaptureRecord& record, std::size_t round) {
  std::size_t seen = 0;
  for (const CaptureLine& line : record.lines) {
    if (line.kind == LineKind::round) {
      ++seen;
      continue;
    }
    const bool begins = line.direction == Direction::upstream_out && line.kind == LineKind::head;
    if (begins && seen == round) return;
    if (line.direction != Direction::client_out) add_line(into, line);
  }
}

// Logs the events of one choice on their way to the client.
class EventTap final : public Stage {
 public:
  explicit EventTap(EventLog& log) : log_(log) {}
  void push(const Event& event, EventSink& next) override {
    log_.accept(event);
    next.accept(event);
  }

 private:
  EventLog& log_;
};

void push_steps(Pipeline& pipeline, const std::vector<CaptureLine>& steps, std::string& client) {
  for (const CaptureLine& step : steps) {
    if (pipeline.finished()) return;
    switch (step.kind) {
      case LineKind::bytes:
        pipeline.push(step.bytes, client);
        break;
      case LineKind::comment:
        client += step.bytes;
        break;
      case LineKind::closed:
        pipeline.finish(client);
        break;
      case LineKind::cut:
        pipeline.cut(client);
        break;
      case LineKind::released:
        pipeline.release_reasoning(client);
        break;
      case LineKind::failed:
        pipeline.fail(step.error, client);
        break;
      case LineKind::head:
      case LineKind::round:
        break;
    }
  }
}

std::string excerpt(std::string_view text, std::size_t at) {
  const std::size_t begin = at > 40 ? at - 40 : 0;
  std::string out;
  json::append_string(out, text.substr(begin, at - begin + 60));
  return out;
}

}  // namespace

Result<ReplayCase> to_replay_case(const CaptureRecord& record, std::size_t round,
                                  const dialect::Catalog* dialects) {
  if (round > record.rounds.size()) {
    return refuse("the capture has " + std::to_string(record.rounds.size()) + " rounds");
  }
  ReplayCase made;
  made.name = record.request_id;
  made.version = record.version;
  made.status = 0;
  made.rounds = record.rounds.size();
  std::string body;
  if (made.rounds == 0) {
    body = add_lines(made, record);
  } else {
    const std::size_t wanted = round == 0 ? made.rounds : round;
    add_round(made, record, wanted);
    body = record.rounds[wanted - 1].request;
  }
  // Of a round, its shape is kept.
  const bool shaped = made.rounds > 0 || !record.request_as.empty();
  auto request = to_request(body, shaped ? "openai_chat" : record.protocol);
  if (!request) {
    if (record.truncated) request.error().message += " (the capture is truncated)";
    return tl::unexpected(request.error());
  }
  made.request = std::move(*request);
  const bool gone = record.end == "disconnected" || record.end == "interrupted";
  made.has_end = !gone && !record.truncated && !record.end.empty();
  // A client that leaves makes its upstream fail; nobody was told.
  if (gone && !made.steps.empty() && made.steps.back().kind == LineKind::failed)
    made.steps.pop_back();
  if (made.steps.empty()) return refuse("the capture has no answer of an upstream");
  const CapturedPipeline* pipeline = record.pipeline ? &*record.pipeline : nullptr;
  if (made.rounds > 0) pipeline = &record.rounds[(round == 0 ? made.rounds : round) - 1].pipeline;
  if (pipeline != nullptr) {
    auto options = to_options(*pipeline, dialects);
    if (!options) return tl::unexpected(options.error());
    made.options = std::move(*options);
  } else if (made.status >= 200 && made.status < 300) {
    return refuse("the capture does not say what its pipeline was made with");
  }
  if (upstream::find(made.options.wire) == nullptr) {
    return refuse("unknown wire format \"" + made.options.wire + "\"");
  }
  if (auto known = set_protocol(made, made.options.protocol); !known) {
    return tl::unexpected(known.error());
  }
  return made;
}

Result<ReplayCase> to_replay_case(std::string_view upstream_bytes, std::string_view wire,
                                  std::string_view request) {
  if (upstream::find(wire) == nullptr) {
    return refuse("unknown wire format \"" + std::string(wire) + "\"");
  }
  auto decoded =
      to_request(request.empty() ? engine::usual_golden_request() : request, "openai_chat");
  if (!decoded) return tl::unexpected(decoded.error());
  ReplayCase made;
  made.request = std::move(*decoded);
  if (request.empty()) made.request.stream = !is_whole_body(upstream_bytes);
  made.options = engine::golden_options(wire, "openai_chat");
  made.steps = {{.kind = LineKind::bytes, .bytes = std::string(upstream_bytes)},
                {.kind = LineKind::closed}};
  for (CaptureLine& step : made.steps) step.direction = Direction::upstream_in;
  return made;
}

bool is_whole_body(std::string_view upstream_bytes) {
  const std::size_t first = upstream_bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos &&
         (upstream_bytes[first] == '{' || upstream_bytes[first] == '[');
}

Result<void> set_option(ReplayCase& into, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals != std::string_view::npos &&
      set_policy(into.options.policy, assignment.substr(0, equals),
                 assignment.substr(equals + 1))) {
    return {};
  }
  return refuse("--set " + std::string(assignment) +
                ": expected a policy and its value, such as stop_after_tools=first");
}

Result<void> set_dialect(ReplayCase& into, std::string_view name,
                         const dialect::Catalog* dialects) {
  const Dialect* dialect = dialect::find_in(dialects, name);
  if (dialect == nullptr) {
    return refuse("there is no dialect \"" + std::string(name) + "\", see `callgate dialects`");
  }
  into.options.dialect = name == "native" ? nullptr : dialect;
  into.options.dialect_is_default = false;
  return {};
}

Result<void> set_protocol(ReplayCase& into, std::string_view name) {
  if (client::find(name) == nullptr) {
    return refuse("unknown protocol \"" + std::string(name) + "\"");
  }
  into.options.protocol = name;
  return {};
}

std::string upstream_bytes(const ReplayCase& input) {
  std::string bytes;
  for (const CaptureLine& step : input.steps) {
    if (step.kind == LineKind::bytes) bytes += step.bytes;
  }
  return bytes;
}

std::vector<CaptureLine> cut_anew(const ReplayCase& input, const Split& split) {
  const std::string bytes = upstream_bytes(input);
  std::vector<CaptureLine> steps;
  IdMint random(split.seed);
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t size = bytes.size();
    if (split.mode == Split::Mode::every) size = split.size;
    if (split.mode == Split::Mode::random) size = 1 + random.next() % 64;
    size = std::min(size, bytes.size() - at);
    steps.push_back({.kind = LineKind::bytes, .bytes = bytes.substr(at, size)});
    at += size;
  }
  // What happened at a certain time has no place between new cuts, but for the end.
  for (const CaptureLine& step : input.steps) {
    const bool is_end = step.kind == LineKind::closed || step.kind == LineKind::cut ||
                        step.kind == LineKind::failed;
    if (is_end) steps.push_back(step);
  }
  return steps;
}

std::optional<Error> failure_of(const ReplayCase& input) {
  if (input.status >= 200 && input.status < 300) return std::nullopt;
  if (input.status != 0) {
    const std::string body = upstream_bytes(input).substr(0, kMaxErrorBody);
    return upstream::find(input.options.wire)->decode_error(input.status, body);
  }
  return input.steps.back().error;
}

Replayed run_replay(const ReplayCase& input, const std::optional<Split>& split,
                    Explainer* explain) {
  Replayed replayed;
  const Protocol& protocol = *client::find(input.options.protocol);
  replayed.error = failure_of(input);
  if (replayed.error) {
    replayed.client = protocol.error_body(*replayed.error);
    return replayed;
  }
  std::vector<std::unique_ptr<EventLog>> choices;
  PipelineOptions options = input.options;
  options.explain = explain;
  options.policies.push_back([&choices]() -> std::unique_ptr<Stage> {
    return std::make_unique<EventTap>(*choices.emplace_back(std::make_unique<EventLog>()));
  });
  Pipeline pipeline = *Pipeline::make(input.request, std::move(options));
  push_steps(pipeline, split ? cut_anew(input, *split) : input.steps, replayed.client);
  replayed.error = pipeline.error();
  if (replayed.error && (!input.request.stream || replayed.client.empty())) {
    replayed.client = protocol.error_body(*replayed.error);
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices.size() > 1) replayed.events += "choice " + std::to_string(i) + "\n";
    replayed.events += print(choices[i]->events());
  }
  replayed.summary = engine::print_summary(pipeline.summary());
  if (choices.empty()) return replayed;
  replayed.text = choices[0]->text() + choices[0]->reasoning();
  if (pipeline.summary().text_calls > 0) replayed.text_calls = choices[0]->calls();
  return replayed;
}

std::optional<std::string> first_difference(const ReplayCase& input, const Replayed& replayed,
                                            bool with_comments) {
  const std::string& before = with_comments ? input.captured_comments : input.captured;
  const std::string_view now = replayed.client;
  const std::size_t at = static_cast<std::size_t>(
      std::mismatch(before.begin(), before.end(), now.begin(), now.end()).first - before.begin());
  if (at == before.size() && (at == now.size() || !input.has_end)) return std::nullopt;
  return "the first difference is at byte " + std::to_string(at) + " of the client's answer\n" +
         "  captured " + excerpt(before, at) + "\n  replayed " + excerpt(now, at);
}

}  // namespace callgate::replay
