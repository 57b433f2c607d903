#include "cli/log_view.h"

#include <algorithm>

#include "base/utf8.h"
#include "callgate/dialect.h"
#include "chat/content.h"
#include "chat/event_log.h"
#include "cli/log_request.h"
#include "cli/log_text.h"
#include "client/protocol.h"
#include "json/reader.h"
#include "replay/explanation.h"

namespace callgate::cli {
namespace {

constexpr std::size_t kLastMessages = 4;
constexpr std::size_t kLongestMessage = 2000;

// 2026-11-16 03:00:00.123
std::string time_of(const LoggedRequest& request) {
  std::string time = one_line(request.received_at);
  std::replace(time.begin(), time.end(), 'T', ' ');
  if (time.ends_with('Z')) time.pop_back();
  return time;
}

std::string state_of(const LoggedRequest& request, const Style& style) {
  std::string text = request.state;
  if (request.status) text += " " + std::to_string(*request.status);
  if (!request.finish_reason.empty()) text += " " + request.finish_reason;
  if (request.state == "completed") return style.green(text);
  return request.state == "running" ? style.cyan(text) : style.red(text);
}

std::string tokens_of(const LoggedRequest& request) {
  if (!request.prompt_tokens || !request.completion_tokens) return "";
  return std::to_string(*request.prompt_tokens) + "+" + std::to_string(*request.completion_tokens) +
         " tokens";
}

std::string calls_of(const LoggedRequest& request) {
  if (request.calls == 0) return "";
  return std::to_string(request.calls) + (request.calls == 1 ? " call" : " calls");
}

std::string error_of(const LoggedRequest& request) {
  return one_line(request.error_code + ": " + request.error_message);
}

std::int64_t rounds_of(const LoggedRequest& request) {
  return std::count_if(request.events.begin(), request.events.end(),
                       [](const LoggedRequest::Event& event) { return event.type == "round"; });
}

// Attempts are counted over all rounds of a tool loop; where its rounds are known, only the others are of interest.
std::string attempts_of(const LoggedRequest& request) {
  const std::int64_t rounds = rounds_of(request);
  if (rounds == 0)
    return request.attempts > 1 ? std::to_string(request.attempts) + " attempts" : "";
  std::string text = std::to_string(rounds) + (rounds == 1 ? " round" : " rounds");
  if (request.attempts > rounds) text += ", " + std::to_string(request.attempts) + " attempts";
  return text;
}

// A tool loop always says how it ended; it is only sometimes a cut.
std::string cut_of(const LoggedRequest& request) {
  if (request.cut.empty()) return "";
  for (const std::string_view whole : {"completed", "returned", "forced", "empty"}) {
    if (request.cut == "loop_" + std::string(whole)) return "loop " + std::string(whole);
  }
  return "cut by " + one_line(request.cut);
}

class Joined {
 public:
  explicit Joined(std::string_view separator) : separator_(separator) {}
  Joined& add(std::string_view part) {
    if (part.empty()) return *this;
    if (!text_.empty()) text_.append(separator_);
    text_.append(part);
    return *this;
  }
  Joined& add(std::string_view word, std::string_view value) {
    return value.empty() ? *this : add(std::string(word) + " " + one_line(value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string_view separator_;
  std::string text_;
};

std::string head_of(const LoggedRequest& request, const Style& style) {
  std::string out = style.bold(one_line(request.id)) + "  " + time_of(request) + "\n";
  Joined who(", ");
  who.add(one_line(request.model) + " > " + one_line(request.upstream))
      .add("dialect", request.dialect)
      .add("key", request.key)
      .add("session", request.session)
      .add("trace", request.trace_id)
      .add(request.stream ? "stream" : "whole");
  out += who.text() + "\n";
  Joined how(", ");
  how.add(state_of(request, style)).add(tokens_of(request)).add(calls_of(request));
  if (request.first_token_ms) {
    how.add("first token " + std::to_string(*request.first_token_ms) + " ms");
  }
  if (request.total_ms) how.add("total " + std::to_string(*request.total_ms) + " ms");
  how.add(attempts_of(request)).add(cut_of(request));
  out += how.text() + "\n";
  if (!request.repair_names.empty()) out += "repairs: " + one_line(request.repair_names) + "\n";
  if (!request.missed_call.empty()) {
    out += style.red("looks like a missed call: " + one_line(request.missed_call)) + "\n";
  }
  if (!request.error_message.empty()) out += style.red("error " + error_of(request)) + "\n";
  if (!request.resolved_at.empty()) {
    out += "resolved " + one_line(request.resolved_at) +
           (request.resolution.empty() ? "" : ": " + one_line(request.resolution)) + "\n";
  }
  return out;
}

std::string shortened(std::string text) {
  if (text.size() <= kLongestMessage) return text;
  const std::size_t all = text.size();
  text.resize(kLongestMessage);
  text.resize(text.size() - utf8::incomplete_tail(text));
  return text + " ... (" + std::to_string(all) + " bytes)";
}

std::string call_of(std::string_view name, std::string_view id, std::string_view outcome,
                    std::string_view arguments, const Style& style) {
  Joined head(" ");
  head.add("call " + one_line(name)).add(one_line(id));
  if (outcome != "complete") head.add(one_line(outcome));
  return "  " + style.cyan(head.text()) + "\n" + indented(harmless(pretty_json(arguments)), "    ");
}

std::string message_of(const Message& message, const Style& style) {
  std::string head(role_name(message.role));
  if (!message.tool_call_id.empty()) head += " " + one_line(message.tool_call_id);
  std::string out = style.bold(head) + "\n";
  out += indented(harmless(shortened(text_of(message.content))), "  ");
  for (const CallRecord& call : message.calls) {
    out += call_of(call.name, call.id, "complete", shortened(call.arguments), style);
  }
  return out;
}

// What the request can be read with. Messages to a room are Chat Completions with members of their own.
const Protocol* protocol_of(const LoggedRequest& logged) {
  return client::find(logged.protocol == "room" ? "openai_chat" : logged.protocol);
}

// What was asked: the last messages.
std::string conversation_of(const LoggedRequest& logged, const Style& style) {
  const Protocol* protocol = protocol_of(logged);
  if (logged.received.empty() || protocol == nullptr) return "";
  const auto request = protocol->decode({.body = logged.received});
  if (!request) return "";
  const std::size_t count = request->messages.size();
  const std::size_t first = count - std::min(count, kLastMessages);
  std::string out;
  if (first > 0) out += style.dim("... " + std::to_string(first) + " before") + "\n";
  for (std::size_t i = first; i < count; ++i) out += message_of(request->messages[i], style);
  return out;
}

std::string result_of(const LoggedRequest::ToolResult& result, const Style& style) {
  Joined how(", ");
  how.add((result.round ? "call " : "result of ") + one_line(result.name) + " " +
          one_line(result.id));
  if (result.round) how.add("round " + std::to_string(*result.round));
  how.add(std::to_string(result.duration_ms.value_or(0)) + " ms");
  how.add(std::to_string(result.bytes.value_or(0)) + " bytes");
  std::string out = "  " + style.cyan(how.text()) + (result.is_error ? style.red(" error") : "");
  out += "\n";
  if (!result.text.empty()) out += indented(harmless(shortened(result.text)), "    ");
  return out;
}

std::string event_of(const LoggedRequest::Event& event, const Style& style) {
  if (event.type == "text" || event.type == "refusal") return indented(harmless(event.text), "  ");
  if (event.type == "reasoning") {
    std::string out;
    std::string_view text = event.text;
    for (; !text.empty();) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (end > 0) out += "  " + style.dim(harmless(text.substr(0, end)));
      out += "\n";
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
  }
  if (event.type == "call") {
    return call_of(event.name, event.id, event.outcome, event.arguments, style);
  }
  if (event.type == "round") {
    return style.bold("round " + std::to_string(event.round)) + " " +
           style.dim(std::to_string(event.duration_ms) + " ms") + "\n";
  }
  if (event.type == "result") {
    return result_of({.id = event.id,
                      .name = event.name,
                      .text = event.text,
                      .round = {},
                      .duration_ms = event.duration_ms,
                      .bytes = event.bytes,
                      .is_error = event.is_error},
                     style);
  }
  if (event.type == "too_long") {
    return "  " + style.dim("(" + std::to_string(event.bytes) + " bytes, too long to be kept)") +
           "\n";
  }
  return "";
}

std::string answer_of(const LoggedRequest& request, const Style& style) {
  if (request.events.empty()) return "";
  std::string out;
  std::int64_t choice = -1;
  for (const LoggedRequest::Event& event : request.events) {
    const std::string shown = event_of(event, style);
    if (shown.empty()) continue;
    if (event.choice != choice) {
      choice = event.choice;
      const std::string which = choice == 0 ? "" : " " + std::to_string(choice);
      out += style.bold("answer" + which) + "\n";
    }
    out += shown;
  }
  return out;
}

// The text is read once more, to say why it is text.
std::string reasons_of(const LoggedRequest& logged, const Style& style) {
  const Protocol* protocol = protocol_of(logged);
  const Dialect* dialect = dialect::find(logged.dialect);
  if (logged.calls > 0 || logged.received.empty() || protocol == nullptr || dialect == nullptr) {
    return "";
  }
  const auto request = protocol->decode({.body = logged.received});
  if (!request) return "";
  replay::Explanation explanation(dialect->name);
  EventLog nowhere;
  const DialectOptions options{
      .tools = request->tools, .commit = dialect->commit, .explain = &explanation};
  const bool tools = !request->tools.empty() || !request->other_tools.empty();
  const auto parser =
      tools ? dialect->make(options) : dialect::make_without_calls(*dialect, options);
  for (const LoggedRequest::Event& event : logged.events) {
    if (event.choice != 0) continue;
    if (event.type == "text") parser->push(event.text, Channel::text, nowhere);
    if (event.type == "reasoning") parser->push(event.text, Channel::reasoning, nowhere);
  }
  parser->finish(nowhere);
  if (explanation.pieces().empty()) return "";
  return style.bold("why this is text") + "\n" + indented(harmless(explanation.lines(0)), "  ");
}

std::string results_of(const LoggedRequest& request, const Style& style) {
  if (request.results.empty() || rounds_of(request) > 0) return "";
  std::string out = style.bold("tools") + "\n";
  for (LoggedRequest::ToolResult result : request.results) {
    result.round = result.round.value_or(0);
    out += result_of(result, style);
  }
  return out;
}

}  // namespace

Result<LogPage> read_log_page(std::string_view json) {
  LogPage page;
  json::Reader in(json);
  for (std::string_view key; in.next_member(key);) {
    if (key == "data" && in.peek() == json::Kind::array) {
      while (in.next_element()) page.rows.push_back({.json = std::string(in.raw())});
    } else if (key == "next_cursor" && in.peek() == json::Kind::string) {
      page.cursor = in.string();
    } else {
      in.skip();
    }
  }
  if (!in.finish()) return fail(ErrorCode::upstream_failed, "the answer is not a list of requests");
  for (LogPage::Row& row : page.rows) {
    LoggedRequest request = read_logged_request(row.json);
    row.id = std::move(request.id);
    row.received_at = std::move(request.received_at);
    row.running = request.state == "running";
  }
  return page;
}

std::string print_log_line(std::string_view json, bool colours) {
  const Style style(colours);
  const LoggedRequest request = read_logged_request(json);
  Joined line("  ");
  line.add(style.dim(time_of(request)))
      .add(one_line(request.id))
      .add(one_line(request.model) + " > " + one_line(request.upstream))
      .add(state_of(request, style))
      .add(tokens_of(request))
      .add(calls_of(request));
  if (request.total_ms) line.add(std::to_string(*request.total_ms) + " ms");
  line.add(cut_of(request));
  if (!request.missed_call.empty()) {
    line.add(style.red("missed call: " + one_line(request.missed_call)));
  }
  if (!request.error_message.empty()) line.add(style.red(error_of(request)));
  if (!request.resolved_at.empty()) {
    line.add("resolved" + (request.resolution.empty() ? "" : ": " + one_line(request.resolution)));
  }
  return line.text() + "\n";
}

std::string print_log_turn(std::string_view json, bool colours) {
  const Style style(colours);
  const LoggedRequest request = read_logged_request(json);
  std::string out = head_of(request, style);
  const std::string conversation = conversation_of(request, style);
  const std::string answer = answer_of(request, style);
  if (!conversation.empty()) out += "\n" + conversation;
  const std::string results = results_of(request, style);
  if (!results.empty()) out += "\n" + results;
  if (!answer.empty()) out += "\n" + answer;
  const std::string reasons = reasons_of(request, style);
  if (!reasons.empty()) out += "\n" + reasons;
  if (request.received.empty() && request.events.empty()) {
    out += "\n" + style.dim("no content is kept of it") + "\n";
  }
  return out;
}

}  // namespace callgate::cli
