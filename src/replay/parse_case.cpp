#include "replay/parse_case.h"

#include <algorithm>
#include <charconv>

#include "base/ids.h"
#include "chat/tool_json.h"
#include "client/protocol.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::replay {
namespace {

tl::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::invalid_request, std::move(message));
}

Result<void> read_member(json::Reader& in, std::string_view key, ParseCase& into) {
  if (key == "id") {
    into.id_json = in.raw();
  } else if (key == "dialect") {
    into.dialect = in.string();
  } else if (key == "tools") {
    if (in.peek() == json::Kind::null) {
      in.skip();
    } else {
      return read_tools(in, into.tools);
    }
  } else if (key == "text") {
    into.text = in.string();
  } else if (key == "chunks") {
    into.has_chunks = true;
    while (in.next_element()) into.chunks.emplace_back(in.string());
  } else if (key == "channel") {
    const std::string_view channel = in.string();
    if (channel != "text" && channel != "reasoning") {
      return wrong("channel: expected text or reasoning");
    }
    into.channel = channel == "text" ? Channel::text : Channel::reasoning;
  } else if (key == "reasoning_open") {
    into.reasoning_open = in.boolean();
  } else if (key == "commit") {
    const std::string_view commit = in.string();
    if (commit != "eager" && commit != "whole_call") {
      return wrong("commit: expected eager or whole_call");
    }
    into.commit = commit == "eager" ? Commit::eager : Commit::whole_call;
  } else {
    in.skip();
  }
  return {};
}

void push_split(DialectParser& parser, const ParseCase& input, const Split& split,
                EventSink& sink) {
  const std::string_view text = input.text;
  IdMint random(split.seed);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t size = text.size();
    if (split.mode == Split::Mode::every) size = split.size;
    if (split.mode == Split::Mode::random) size = 1 + random.next() % 16;
    size = std::min(size, text.size() - at);
    parser.push(text.substr(at, size), input.channel, sink);
    at += size;
  }
}

FinishReason reason_of(const std::vector<LoggedCall>& calls) {
  if (calls.empty()) return FinishReason::stop;
  const bool cut = calls.back().outcome == CallOutcome::truncated;
  return cut ? FinishReason::length : FinishReason::tool_calls;
}

void append_text_or_null(std::string& out, const std::string& text) {
  if (text.empty()) {
    out += "null";
  } else {
    json::append_string(out, text);
  }
}

void append_events(std::string& out, const EventLog& log) {
  out += '[';
  bool first = true;
  for (const LoggedEvent& event : log.events()) {
    if (!first) out += ',';
    first = false;
    json::ObjectWriter object(out);
    switch (event.kind) {
      case LoggedEvent::Kind::text:
        object.string("text", event.text);
        break;
      case LoggedEvent::Kind::reasoning:
        object.string("reasoning", event.text);
        break;
      case LoggedEvent::Kind::refusal:
        object.string("refusal", event.text);
        break;
      case LoggedEvent::Kind::call:
        object.integer("call", event.call);
        object.string("name", event.text);
        if (!event.id.empty()) object.string("native_id", event.id);
        break;
      case LoggedEvent::Kind::arguments:
        object.integer("call", event.call);
        object.string("arguments", event.text);
        break;
      case LoggedEvent::Kind::end:
        object.integer("call", event.call);
        object.string("outcome", to_string(event.outcome));
        break;
      case LoggedEvent::Kind::field:
        object.raw_escaped(event.id, event.text);
        break;
      case LoggedEvent::Kind::usage:
        object.integer("usage", event.usage.total_tokens);
        break;
      case LoggedEvent::Kind::finish:
        object.string("finish", to_string(event.reason));
        break;
    }
    object.close();
  }
  out += ']';
}

std::string print_sse(const EventLog& log) {
  const Protocol* protocol = client::find("openai_chat");
  Request request;
  request.stream = true;
  const auto encoder = protocol->make_encoder(
      request, {.id = std::string(protocol->id_prefix) + "parse", .model = "parse", .created = 0});
  std::string out;
  encoder->bind(out);
  EventSink& sink = encoder->choice(0);
  IdMint mint(1);
  for (const LoggedEvent& event : log.events()) {
    switch (event.kind) {
      case LoggedEvent::Kind::text:
        sink.accept(TextDelta{event.text});
        break;
      case LoggedEvent::Kind::reasoning:
        sink.accept(ReasoningDelta{event.text});
        break;
      case LoggedEvent::Kind::call: {
        const std::string id = event.id.empty() ? mint.mint("call_") : event.id;
        sink.accept(CallStarted{.call = event.call, .name = event.text, .native_id = id});
        break;
      }
      case LoggedEvent::Kind::arguments:
        sink.accept(ArgumentsDelta{event.call, event.text});
        break;
      case LoggedEvent::Kind::end:
        sink.accept(CallFinished{event.call, event.outcome});
        break;
      case LoggedEvent::Kind::refusal:
      case LoggedEvent::Kind::field:
      case LoggedEvent::Kind::usage:
      case LoggedEvent::Kind::finish:
        break;  // no dialect emits these
    }
  }
  sink.accept(TurnFinished{reason_of(log.calls())});
  encoder->finish({});
  return out;
}

}  // namespace

Result<Split> parse_split(std::string_view text) {
  if (text == "whole") return Split{};
  if (text == "byte") return Split{.mode = Split::Mode::every, .size = 1};
  const bool random = text.starts_with("random:");
  const std::string_view digits = random ? text.substr(7) : text;
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = fault == std::errc() && end == digits.data() + digits.size();
  if (whole && random) return Split{.mode = Split::Mode::random, .seed = number};
  if (whole && number > 0) return Split{.mode = Split::Mode::every, .size = number};
  return wrong("--split " + std::string(text) + ": expected whole, byte, a number, or random:SEED");
}

Result<void> parse_line(std::string_view line, ParseCase& into) {
  json::Reader in(line);
  for (std::string_view key; in.next_member(key);) {
    if (auto done = read_member(in, key, into); !done) return done;
  }
  if (!in.finish()) {
    return wrong("not a valid case: byte " + std::to_string(in.error().offset) + ": " +
                 std::string(in.error().message));
  }
  if (into.dialect.empty()) return wrong("dialect: missing");
  return {};
}

Result<EventLog> run_case(const ParseCase& input, const Split& split, Explainer* explain) {
  const Dialect* dialect = dialect::find_in(input.dialects, input.dialect);
  if (dialect == nullptr) {
    return wrong("dialect: there is no \"" + input.dialect + "\", see `callgate dialects`");
  }
  EventLog log;
  const auto parser = dialect->make({
      .tools = input.tools,
      .start = input.reasoning_open ? Channel::reasoning : Channel::text,
      .commit = input.commit.value_or(dialect->commit),
      .explain = explain,
  });
  if (input.has_chunks) {
    for (const std::string& chunk : input.chunks) {
      if (!chunk.empty()) parser->push(chunk, input.channel, log);
    }
  } else {
    push_split(*parser, input, split, log);
  }
  parser->finish(log);
  return log;
}

std::string print_result(const ParseCase& input, const EventLog& log, Emit emit,
                         const Explanation* explanation) {
  if (emit == Emit::sse) return print_sse(log);
  const std::vector<LoggedCall> calls = log.calls();
  IdMint mint(1);
  std::string out;
  json::ObjectWriter object(out);
  object.raw("id", input.id_json);
  append_text_or_null(object.key("content"), log.text());
  append_text_or_null(object.key("reasoning"), log.reasoning());
  object.key("tool_calls") += '[';
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i > 0) out += ',';
    json::ObjectWriter call(out);
    call.integer("index", static_cast<std::int64_t>(i));
    call.string("id", calls[i].id.empty() ? mint.mint("call_") : calls[i].id);
    call.string("name", calls[i].name);
    call.string("arguments", calls[i].arguments);
    call.string("outcome", to_string(calls[i].outcome));
    call.close();
  }
  out += ']';
  object.string("finish_reason", to_string(reason_of(calls)));
  if (emit == Emit::events) append_events(object.key("events"), log);
  if (explanation != nullptr) object.raw("explain", explanation->json());
  object.null("error");
  object.close();
  return out;
}

std::string print_failure(const ParseCase& input, const Error& error) {
  std::string out;
  json::ObjectWriter object(out);
  object.raw("id", input.id_json);
  object.string("error", error.message);
  object.close();
  return out;
}

Survey survey_case(ParseCase input, const Split& split) {
  std::string said = input.text;
  for (const std::string& chunk : input.chunks) said += chunk;
  return survey_dialects(said, [&](const Dialect& dialect, Explainer& explain) {
    input.dialect = dialect.name;
    const EventLog log = *run_case(input, split, &explain);
    return Reading{.calls = log.calls(), .text_bytes = log.text().size()};
  });
}

std::string print_survey(const ParseCase& input, const Survey& survey) {
  std::string out;
  json::ObjectWriter object(out);
  object.raw("id", input.id_json);
  object.raw("dialects", found_json(survey));
  object.raw("close", json_of(survey.close));
  object.null("error");
  object.close();
  return out;
}

std::string answer_line(std::string_view line, const BatchOptions& options) {
  ParseCase input;
  input.dialects = options.dialects;
  if (options.all_dialects) input.dialect = kAllDialects;
  const auto parsed = parse_line(line, input);
  if (!parsed) return print_failure(input, parsed.error());
  if (options.all_dialects || input.dialect == kAllDialects) {
    return print_survey(input, survey_case(input, options.split));
  }
  Explanation explanation(input.dialect);
  const auto log = run_case(input, options.split, options.explain ? &explanation : nullptr);
  if (!log) return print_failure(input, log.error());
  return print_result(input, *log, options.emit, options.explain ? &explanation : nullptr);
}

}  // namespace callgate::replay
