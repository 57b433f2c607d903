// Plays a script against a ToolLoop and prints what comes out. A golden case is the whole transcript; its lines that begin
// with `> ` are the inputs:
//
//   === one_round
//   --- options
//   parallel=2
//   --- tools
//   find exclusive timeout=500
//   --- messages
//   user Where is ORD-42?
//   --- transcript
//   > start
//   model 1 user "Where is ORD-42?" | tools find
//   > text Let me look.
//   client text "Let me look."
//   > call find {"id":"ORD-42"}
//   run 1 find {"id":"ORD-42"} until 500
//   > end tool_calls
//   > result 1 shipped
//   ...
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/loop.h"
#include "chat/event_grammar.h"
#include "chat/event_log.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::loop {

inline std::string json_text(std::string_view text) {
  std::string out;
  json::append_string(out, text);
  return out;
}

inline Message message_of(Role role, std::string_view text) {
  return {.role = role, .content = {json_text(text)}};
}

inline std::string print_message(const Message& message) {
  static constexpr std::string_view kNames[] = {"system", "developer", "user", "assistant", "tool"};
  std::string out(kNames[static_cast<std::size_t>(message.role)]);
  if (!message.tool_call_id.empty()) out += " " + message.tool_call_id;
  out += " " + message.content.text;
  for (const CallRecord& call : message.calls) {
    out += " " + call.name + "#" + call.id + call.arguments;
  }
  for (const ExtraField& field : message.extra) out += " " + field.name + "=" + field.value.text;
  return out;
}

inline std::string print_messages(const std::vector<Message>& messages) {
  std::string out;
  for (const Message& message : messages) {
    out += (out.empty() ? "" : "\n  ") + print_message(message);
  }
  return out;
}

// The first call that has no result, or whose result does not follow at once; else empty.
inline std::string unanswered_call(const std::vector<Message>& messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    for (const CallRecord& call : messages[i].calls) {
      std::size_t results = 0;
      for (std::size_t k = i + 1; k < messages.size() && messages[k].role == Role::tool; ++k) {
        results += messages[k].tool_call_id == call.id ? 1 : 0;
      }
      if (results != 1) return call.id + " has " + std::to_string(results) + " results";
    }
  }
  return {};
}

inline std::string print_usage(const Usage& usage) {
  return std::to_string(usage.prompt_tokens) + "+" + std::to_string(usage.completion_tokens);
}

// Prints what the client gets, one line each, and checks the grammar.
class PrintedClient final : public ClientSink {
 public:
  explicit PrintedClient(std::string& out) : out_(out) {}

  void accept(const Event& event) override {
    EXPECT_EQ(grammar_.check(event), "");
    EventLog log;
    log.accept(event);
    out_ += "client " + print(log.events());
    if (const auto* delta = std::get_if<TextDelta>(&event)) text += delta->text;
  }
  void notice(const Notice& notice) override {
    if (const auto* call = std::get_if<ToolCallNotice>(&notice)) {
      out_ += "notice call " + std::string(call->call_id) + " " + std::string(call->name) + " " +
              std::string(call->arguments) + "\n";
    } else if (const auto* result = std::get_if<ToolResultNotice>(&notice)) {
      out_ += "notice result " + std::string(result->call_id) + " " + std::string(result->name) +
              (result->is_error ? " error " : " ") + json_text(result->preview) + " " +
              std::to_string(result->bytes) + " bytes " + std::to_string(result->duration) +
              " ms\n";
    } else if (const auto* end = std::get_if<LoopEnded>(&notice)) {
      out_ += "notice end " + std::string(end->end ? to_string(*end->end) : "open") + "\n";
    }
  }

  std::string text;

 private:
  std::string& out_;
  EventGrammar grammar_;
};

inline std::string print_model(const CallModel& call) {
  std::string out = "model " + std::to_string(call.turn) + (call.retry ? " retry" : "");
  if (call.remember > 0) out += " remember=" + std::to_string(call.remember);
  if (call.system_prompt) out += " system=" + json_text(*call.system_prompt);
  out += "\n  " + print_messages(call.request.messages);
  out += "\n  tools:";
  for (const ToolSpec& tool : call.request.tools) out += " " + tool.name;
  if (call.request.tool_choice.mode == ToolChoice::Mode::required) out += " (required)";
  if (call.request.tool_choice.mode == ToolChoice::Mode::none) out += " (none)";
  return out + "\n";
}

inline std::string print_action(const Action& action) {
  return std::visit(
      Overloaded{
          [](const CallModel& a) { return print_model(a); },
          [](const StopModel& a) { return "stop_model " + std::to_string(a.turn) + "\n"; },
          [](const RunTool& a) {
            return "run " + std::to_string(a.run) + " " + a.name + "#" + a.call_id + a.arguments +
                   " until " + std::to_string(a.deadline) + "\n";
          },
          [](const CancelTool& a) { return "cancel_run " + std::to_string(a.run) + "\n"; },
          [](const WaitForApproval& a) {
            return "approval " + std::to_string(a.run) + " " + a.name + a.arguments + " until " +
                   std::to_string(a.deadline) + "\n";
          },
          [](const ReturnToClient& a) {
            std::string out = "return rounds=" + std::to_string(a.rounds) +
                              " calls=" + std::to_string(a.calls_made) +
                              " usage=" + print_usage(a.usage);
            for (const CallRecord& call : a.calls) out += " " + call.name + "#" + call.id;
            return out + "\n";
          },
          [](const Finish& a) {
            std::string out =
                "finish " + std::string(to_string(a.end)) + " rounds=" + std::to_string(a.rounds) +
                " calls=" + std::to_string(a.calls_made) + " usage=" + print_usage(a.usage) + "\n";
            if (a.error) out += "  error " + a.error->message + "\n";
            if (!a.remember.empty()) out += "  remember\n  " + print_messages(a.remember) + "\n";
            return out;
          },
      },
      action);
}

// A script's loop, one after the other when it is resumed.
class Player {
 public:
  Options options;
  std::vector<Tool> tools;
  Request request;
  std::string out;

  // `input` without its `> `.
  void play(const std::string& input) {
    out += "> " + input + "\n";
    const std::size_t space = input.find(' ');
    const std::string verb = input.substr(0, space);
    const std::string rest = space == input.npos ? "" : input.substr(space + 1);
    perform(verb, rest);
    flush();
  }

 private:
  void perform(const std::string& verb, const std::string& rest) {
    if (verb == "start") return start(std::nullopt);
    if (verb == "resume") return resume(rest);
    if (!loop_) FAIL() << "the script must start";
    if (verb == "text") return loop_->accept(TextDelta{rest});
    if (verb == "reasoning") return loop_->accept(ReasoningDelta{rest});
    if (verb == "details") {
      return loop_->accept(FieldReported{FieldReported::Scope::message, "reasoning_details", rest});
    }
    if (verb == "call" || verb == "cut_call") return call(verb, rest);
    if (verb == "usage") return usage(rest);
    if (verb == "end") return end(rest);
    if (verb == "fail") {
      const ErrorCode code =
          rest == "invalid" ? ErrorCode::invalid_request : ErrorCode::unavailable;
      return loop_->fail_turn(turn_, {.code = code, .message = "it broke"}, now_);
    }
    if (verb == "result" || verb == "error" || verb == "cut_result") return result(verb, rest);
    if (verb == "late_result") {  // run and time, without on_time() before
      std::istringstream words(rest);
      RunId run = 0;
      words >> run >> now_;
      if (!loop_->finish_run(run, {.text = "late"}, now_)) out += "too late\n";
      return;
    }
    if (verb == "at") return loop_->on_time(now_ = std::stoll(rest));
    if (verb == "cancel") return loop_->cancel(now_);
    if (verb == "inject") return loop_->inject(rest);
    if (verb == "system") return loop_->set_system_prompt(rest);
    if (verb == "approve") {
      EXPECT_TRUE(loop_->approve(static_cast<RunId>(std::stoul(rest)), now_));
      return;
    }
    if (verb == "deny") {
      EXPECT_TRUE(loop_->deny(static_cast<RunId>(std::stoul(rest)), "too risky", now_));
      return;
    }
    ADD_FAILURE() << "unknown input " << verb;
  }

  void start(std::optional<State> state) {
    client_ = std::make_unique<PrintedClient>(out);
    const ArgumentCheck check = [](const Tool&, std::string_view arguments) -> Result<void> {
      if (arguments.find("\"wrong\"") == arguments.npos) return {};
      return fail(ErrorCode::invalid_request, "wrong: unknown member");
    };
    Result<ToolLoop> made =
        ToolLoop::make(request, options, tools, *client_, check, std::move(state));
    ASSERT_TRUE(made);
    loop_ = std::make_unique<ToolLoop>(std::move(*made));
    index_ = 0;
    loop_->start(now_);
  }

  // The client answers with results: `resume a=sunny b=12`. It sends back what it saw of the answer.
  void resume(const std::string& results) {
    ASSERT_TRUE(returned_);
    const Result<State> state = decode_state(encode_state(returned_->state));
    ASSERT_TRUE(state) << state.error().message;
    Message seen = message_of(Role::assistant, client_->text);
    seen.calls = returned_->calls;
    if (options.memory == Memory::inside) {
      request.messages.clear();
    } else {
      request.messages.push_back(std::move(seen));
    }
    std::istringstream words(results);
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      Message message = message_of(Role::tool, word.substr(equals + 1));
      message.tool_call_id = word.substr(0, equals);
      request.messages.push_back(std::move(message));
    }
    start(*state);
  }

  // `call find#id {"q":1}`
  void call(const std::string& verb, const std::string& rest) {
    std::istringstream words(rest);
    std::string name;
    words >> name;
    std::string arguments;
    std::getline(words >> std::ws, arguments);
    std::string id = "c" + std::to_string(++calls_);
    if (const std::size_t mark = name.find('#'); mark != name.npos) {
      id = name.substr(mark + 1);
      name.resize(mark);
    }
    const CallIndex index = index_++;
    loop_->accept(CallStarted{index, name, id});
    for (std::size_t i = 0; i < arguments.size(); i += 4) {
      loop_->accept(ArgumentsDelta{index, std::string_view(arguments).substr(i, 4)});
    }
    loop_->accept(
        CallFinished{index, verb == "call" ? CallOutcome::complete : CallOutcome::truncated});
  }

  void usage(const std::string& rest) {
    std::istringstream words(rest);
    Usage usage;
    words >> usage.prompt_tokens >> usage.completion_tokens;
    usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
    loop_->accept(UsageReported{usage});
  }

  void end(const std::string& word) {
    for (const FinishReason reason :
         {FinishReason::stop, FinishReason::tool_calls, FinishReason::length,
          FinishReason::content_filter, FinishReason::upstream_error}) {
      if (callgate::to_string(reason) == word) return loop_->accept(TurnFinished{reason});
    }
    ADD_FAILURE() << "unknown reason " << word;
  }

  void result(const std::string& verb, const std::string& rest) {
    std::istringstream words(rest);
    RunId run = 0;
    words >> run;
    std::string text;
    std::getline(words >> std::ws, text);
    constexpr std::string_view kLong = "long ";
    if (text.starts_with(kLong)) text = std::string(std::stoul(text.substr(kLong.size())), 'x');
    const ToolResult value{
        .text = text, .is_error = verb == "error", .truncated = verb == "cut_result"};
    if (!loop_->finish_run(run, value, now_)) out += "too late\n";
  }

  void flush() {
    if (!loop_) return;
    for (const Action& action : loop_->take_actions()) {
      out += print_action(action);
      if (const auto* call = std::get_if<CallModel>(&action)) {
        turn_ = call->turn;
        index_ = 0;
      }
      if (const auto* back = std::get_if<ReturnToClient>(&action)) returned_ = *back;
    }
  }

  std::unique_ptr<PrintedClient> client_;
  std::unique_ptr<ToolLoop> loop_;
  std::optional<ReturnToClient> returned_;
  Millis now_ = 0;
  std::uint32_t turn_ = 0;
  CallIndex index_ = 0;
  std::uint32_t calls_ = 0;
};

}  // namespace callgate::loop
