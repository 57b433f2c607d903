// An oracle instead of copies: what a client protocol writes is read by the decoder of the wire format of the same name, which
// others wrote for real servers. Every golden turn has to come out as it went in. docs/protocols.md says what is lost; the
// functions below that forget it are the same list.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/path_pattern.h"
#include "chat/content.h"
#include "chat/event_log.h"
#include "chat/message_json.h"
#include "engine/golden_testing.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/wire_format.h"

namespace callgate::protocol_oracle_test {
namespace {

using engine::WireCase;
using Kind = LoggedEvent::Kind;

// What a client understands of an answer.
struct Heard {
  std::string story;  // a line per thing that was said, in order; of a whole answer by kind
  std::string usage;
  std::string error;
  bool cut = false;  // it failed inside a call, which is not in the story

  bool operator==(const Heard&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Heard& heard) {
  return out << heard.story << heard.usage << "\nerror: " << heard.error << "\n";
}

// Arguments as an object: white space is lost, and what is not an object is wrapped.
std::string compact_arguments(std::string_view arguments) {
  std::string object;
  append_arguments_object(object, arguments);
  std::string out;
  json::append_compact(out, object);
  return out;
}

std::string print_calls(const EventLog& log) {
  std::string out;
  for (const LoggedCall& call : log.calls()) {
    out += "call " + call.id + " " + call.name + " " + compact_arguments(call.arguments) + "\n";
  }
  return out;
}

// A refusal is a text where a protocol has no other place for it, and comes last where it waits for the end.
Heard heard_of(const EventLog& log, bool stream) {
  Heard heard;
  const std::string refusal = log.refusal();
  if (stream) {
    EventLog joined;  // without what stands between two runs of the same kind
    for (const LoggedEvent& event : log.events()) {
      if (event.kind == Kind::text || event.kind == Kind::reasoning || event.kind == Kind::call ||
          event.kind == Kind::arguments || event.kind == Kind::end) {
        tell(event, joined);
      }
    }
    std::size_t calls = 0;
    const std::vector<LoggedCall> all = joined.calls();
    for (const LoggedEvent& event : joined.events()) {
      if (event.kind == Kind::text) heard.story += "text " + event.text + "\n";
      if (event.kind == Kind::reasoning) heard.story += "reasoning " + event.text + "\n";
      if (event.kind != Kind::call) continue;
      const LoggedCall& call = all[calls++];
      heard.cut =
          call.outcome == CallOutcome::truncated && log.reason() == FinishReason::upstream_error;
      if (heard.cut) continue;
      heard.story +=
          "call " + call.id + " " + call.name + " " + compact_arguments(call.arguments) + "\n";
    }
    if (!refusal.empty()) {
      const bool after_text = !joined.events().empty() && joined.events().back().kind == Kind::text;
      if (after_text) heard.story.pop_back();
      heard.story += (after_text ? "" : "text ") + refusal + "\n";
    }
  } else {
    heard.story =
        "reasoning " + log.reasoning() + "\ntext " + log.text() + refusal + "\n" + print_calls(log);
  }
  if (log.reason()) heard.story += "finish " + std::string(to_string(*log.reason())) + "\n";
  if (const auto usage = log.usage()) {
    heard.usage = "usage " + std::to_string(usage->prompt_tokens) + " + " +
                  std::to_string(usage->completion_tokens);
  }
  return heard;
}

// Reads an answer as an upstream's of that wire format.
Heard read_answer(std::string_view wire, const Request& asked, std::string_view bytes,
                  bool stream) {
  EventLog log;
  PipelineOptions options;
  options.wire = wire;
  options.sink = &log;
  options.id_seed = 1;
  Request request;
  request.model = "demo";
  request.tools = asked.tools;
  request.stream = stream;
  Result<Pipeline> pipeline = Pipeline::make(request, options);
  EXPECT_TRUE(pipeline.has_value());
  std::string none;
  pipeline->push(bytes, none);
  pipeline->finish(none);
  Heard heard = heard_of(log, stream);
  if (pipeline->error()) heard.error = pipeline->error()->message;
  return heard;
}

// The ends of both stories, so that they are compared without.
void forget_ends(Heard& told, Heard& heard) {
  for (Heard* each : {&told, &heard}) each->story.erase(each->story.rfind("finish "));
}

// A call that a failure cut is not told: only whole ones are, and who gets one may run it.
void forget_cut_call(Heard& told, Heard& heard) {
  if (!std::exchange(told.cut, false)) return;
  for (Heard* each : {&told, &heard}) {
    each->story.erase(std::min(each->story.find("finish "), each->story.size()));
  }
}

void forget_losses(Heard& told, Heard& heard) {
  forget_cut_call(told, heard);
  // Usage that nobody asked Chat for comes in other protocols.
  if (told.usage.empty()) heard.usage.clear();
  // A call that broke off is an object there: the decoder takes it for a whole one, whatever the answer says of its end.
  const bool wrapped = told.story.find(R"({"raw":)") != std::string::npos;
  if (wrapped && told.story.find("finish ") != std::string::npos &&
      heard.story.find("finish ") != std::string::npos) {
    forget_ends(told, heard);
  }
}

// Responses and Messages, which lose less, have oracles of their own.
bool is_judged_here(const Protocol& protocol) {
  return protocol.name == "gemini" || protocol.name == "ollama";
}

struct Oracle {
  const Protocol* protocol = nullptr;
  WireCase golden;
};

std::vector<Oracle> all_oracles() {
  std::vector<Oracle> all;
  for (const Protocol* protocol : client::all()) {
    if (!is_judged_here(*protocol)) continue;
    for (WireCase& golden : engine::all_wire_cases()) all.push_back({protocol, std::move(golden)});
  }
  return all;
}

class ProtocolOracle : public testing::TestWithParam<Oracle> {};

TEST_P(ProtocolOracle, is_read_as_what_was_said) {
  const auto& [protocol, golden] = GetParam();
  const std::string input = engine::read_file(golden.input);
  const Protocol& chat = *client::find("openai_chat");
  for (const bool stream : {true, false}) {
    SCOPED_TRACE(stream ? "streamed" : "whole");
    Request request = engine::request_of(golden, stream);
    request.choices = 1;
    request.legacy_functions = false;  // Chat's old form, which has no ids
    const auto said = engine::run_golden(request, engine::options_of(golden, chat), input);
    const PipelineOptions options = engine::options_of(golden, *protocol);
    const auto answer = engine::run_golden(request, options, input);
    EXPECT_EQ(answer.summary, said.summary);
    EXPECT_EQ(answer.bytes.starts_with("status "), said.bytes.starts_with("status "));
    if (said.bytes.starts_with("status ")) continue;
    Heard told = read_answer("openai_chat", request, said.bytes, stream);
    Heard heard = read_answer(protocol->name, request, answer.bytes, stream);
    forget_losses(told, heard);
    EXPECT_EQ(heard, told) << answer.bytes;

    // However the upstream's bytes were cut: in two at some places, and byte by byte.
    const std::size_t step = std::max<std::size_t>(1, input.size() / 4);
    for (std::size_t cut = 1; cut < input.size(); cut += step) {
      ASSERT_EQ(engine::run_golden(request, options, input, {&cut, 1}).bytes, answer.bytes)
          << "cut at byte " << cut;
    }
    std::vector<std::size_t> every_byte;
    for (std::size_t cut = 1; cut < input.size(); ++cut) every_byte.push_back(cut);
    EXPECT_EQ(engine::run_golden(request, options, input, every_byte).bytes, answer.bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ProtocolOracle, testing::ValuesIn(all_oracles()), [](const auto& it) {
  return std::string(it.param.protocol->name) + "_of_" + it.param.golden.format + "_" +
         it.param.golden.name;
});

// Requests as Chat Completions has them; each is encoded for the wire format, read as the protocol, and encoded again.
const char* const kRequests[] = {
    R"({"model":"demo","messages":[{"role":"user","content":"hi"}]})",
    R"({"model":"demo","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Grüße 👋"},
        {"role":"assistant","content":"Hello."},{"role":"user","content":"again"}],
        "temperature":0.5,"top_p":0.9,"max_tokens":64,"stop":["a","b"],"seed":7})",
    R"({"model":"demo","messages":[{"role":"user","content":"weather?"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"ax1","type":"function","function":{"name":"find",
        "arguments":"{\"q\":\"tea\",\"n\":12345678901234567890}"}},{"id":"ax2","type":"function","function":{"name":"add",
        "arguments":"{}"}}]},{"role":"tool","tool_call_id":"ax1","content":"green"},
        {"role":"tool","tool_call_id":"ax2","content":"3"},{"role":"user","content":"and?"}],
        "tools":[{"type":"function","function":{"name":"find","description":"Finds.","parameters":{"type":"object",
        "properties":{"q":{"type":"string"}}}}},{"type":"function","function":{"name":"add","parameters":{"type":"object",
        "properties":{}}}}]})",
    R"({"model":"demo","messages":[{"role":"user","content":[{"type":"text","text":"what is this?"},
        {"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]})",
    R"({"model":"demo","messages":[{"role":"user","content":"json"}],"response_format":{"type":"json_schema",
        "json_schema":{"name":"answer","schema":{"type":"object","properties":{"a":{"type":"integer"}}}}}})",
    R"({"model":"demo","messages":[{"role":"user","content":"json"}],"response_format":{"type":"json_object"}})",
    R"({"model":"demo","messages":[{"role":"user","content":"think"}],"reasoning_effort":"low"})",
};

std::string client_path(const Protocol& protocol, std::string_view upstream_path) {
  for (const std::string_view prefix : {"", "/v1", "/v1beta"}) {
    const std::string path = std::string(prefix) + std::string(upstream_path);
    for (const Endpoint& endpoint : protocol.endpoints) {
      if (endpoint.kind == Endpoint::Kind::turn && path_matches(endpoint.path, path)) return path;
    }
  }
  return {};
}

TEST(ProtocolRequests, are_read_as_what_was_asked) {
  const Protocol& chat = *client::find("openai_chat");
  for (const Protocol* protocol : client::all()) {
    if (!is_judged_here(*protocol)) continue;
    const WireFormat* wire = upstream::find(protocol->name);
    for (const char* body : kRequests) {
      SCOPED_TRACE(std::string(protocol->name) + ": " + body);
      auto asked = chat.decode({.body = body});
      ASSERT_TRUE(asked.has_value()) << asked.error().message;
      for (const bool stream : {true, false}) {
        asked->stream = stream;
        const EncodeOptions options{.model = {}, .key = {}, .auth = {}, .stream = stream};
        const auto sent = wire->encode(*asked, options);
        ASSERT_TRUE(sent.has_value());
        const std::size_t query = sent->path.find('?');
        const std::string path = client_path(*protocol, sent->path.substr(0, query));
        ASSERT_NE(path, "") << sent->path;
        auto read = protocol->decode(
            {.body = sent->body,
             .path = path,
             .query = query == std::string::npos ? std::string_view()
                                                 : std::string_view(sent->path).substr(query + 1)});
        ASSERT_TRUE(read.has_value()) << read.error().message << "\n" << sent->body;
        EXPECT_EQ(read->stream, stream);
        EXPECT_EQ(read->model, "demo");
        EXPECT_EQ(read->messages.size(), asked->messages.size());
        // What the client wrote does not help.
        read->origin = {};
        read->body = {};
        const auto again = wire->encode(*read, options);
        ASSERT_TRUE(again.has_value());
        EXPECT_EQ(again->body, sent->body);
      }
    }
  }
}

}  // namespace
}  // namespace callgate::protocol_oracle_test
