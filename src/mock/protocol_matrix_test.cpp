// Every client protocol in front of every upstream wire format, streamed and whole, with bytes of the upstream cut small. What
// the client gets is read by the decoder of the wire format that the protocol is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "callgate/pipeline.h"
#include "chat/event_log.h"
#include "client/protocol.h"
#include "gateway/gateway_testing.h"
#include "json/member.h"
#include "json/writer.h"
#include "upstream/wire_format.h"

namespace callgate::server::protocol_matrix_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kScript = R"(
rule text
  when user contains "say text"
  text "Hello, " "Wörld."
rule reasoning
  when user contains "say reasoning"
  reasoning "Let me " "see."
  text "Done."
rule two_calls
  when user contains "say two calls"
  call find {"q":"tea","n":[1,2]} id=id1
  call add {"a":1} id=id2
rule call_after_text
  when user contains "say call after text"
  text "Let me look."
  call find {"q":"tea"} id=id1
rule refusal
  when user contains "say refusal"
  refusal "I cannot."
  finish content_filter
rule length
  when user contains "say length"
  text "Once upon a"
  finish length
rule error_before
  when user contains "say error before"
  status 400 {"error":{"message":"the model is asleep","type":"invalid_request_error","param":null,"code":"asleep"}}
rule error_during
  when user contains "say error during"
  fault error_mid
  text "Hello, " "World."
rule disconnect
  when user contains "say disconnect"
  text "Hello, " "World."
  close
)";

struct Scenario {
  std::string_view name;
  std::string_view text = {};
  std::string_view reasoning = {};
  std::vector<std::string> calls = {};  // name and arguments
  FinishReason reason = FinishReason::stop;
  enum class Failure : std::uint8_t { none, before, during } failure = Failure::none;
};

const std::vector<Scenario>& scenarios() {
  using enum Scenario::Failure;
  static const std::vector<Scenario> all = {
      {"text", "Hello, Wörld."},
      {"reasoning", "Done.", "Let me see."},
      {"two calls",
       "",
       "",
       {R"(find {"q":"tea","n":[1,2]})", R"(add {"a":1})"},
       FinishReason::tool_calls},
      {"call after text", "Let me look.", "", {R"(find {"q":"tea"})"}, FinishReason::tool_calls},
      {"refusal", "I cannot.", "", {}, FinishReason::content_filter},
      {"length", "Once upon a", "", {}, FinishReason::length},
      {"error before", "", "", {}, FinishReason::stop, before},
      {"error during", "", "", {}, FinishReason::stop, during},
      {"disconnect", "", "", {}, FinishReason::stop, during},
  };
  return all;
}

// What a wire format cannot say.
bool can_say(std::string_view wire, const Scenario& scenario, bool stream) {
  const bool web = wire == "qwen_web";
  // A whole answer has no middle; the web chat always streams.
  if (!stream && !web && scenario.name == "error during") return false;
  if (web && (scenario.name == "refusal" || scenario.name == "length")) return false;
  return !(wire == "ollama" && scenario.name == "refusal");
}

struct Question {
  std::string path;
  std::string body;
};

constexpr std::string_view kChatTools =
    R"("tools":[{"type":"function","function":{"name":"find","parameters":{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"array"}}}}},{"type":"function","function":{"name":"add","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}}])";
constexpr std::string_view kFlatTools =
    R"("tools":[{"type":"function","name":"find","parameters":{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"array"}}}},{"type":"function","name":"add","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}])";

// A row per protocol: how its clients ask.
Question question(const Protocol& protocol, const std::string& model, const std::string& user,
                  bool stream) {
  const std::string flag = std::string(R"(,"stream":)") + (stream ? "true" : "false");
  const std::string messages = R"("messages":[{"role":"user","content":")" + user + "\"}]";
  const std::string named = R"({"model":")" + model + "\"" + flag + ",";
  if (protocol.name == "openai_chat") {
    const std::string usage = stream ? R"("stream_options":{"include_usage":true},)" : "";
    return {"/v1/chat/completions", named + usage + messages + "," + std::string(kChatTools) + "}"};
  }
  if (protocol.name == "openai_completions") {
    return {"/v1/completions", named + R"("prompt":")" + user + "\"}"};
  }
  if (protocol.name == "ollama") {
    return {"/api/chat", named + messages + "," + std::string(kChatTools) + "}"};
  }
  if (protocol.name == "gemini") {
    return {
        "/v1beta/models/" + model +
            (stream ? ":streamGenerateContent?alt=sse" : ":generateContent"),
        R"({"contents":[{"role":"user","parts":[{"text":")" + user +
            R"("}]}],"tools":[{"functionDeclarations":[{"name":"find","parameters":{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"array"}}}},{"name":"add","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}]}]})"};
  }
  if (protocol.name == "openai_responses") {
    return {"/v1/responses", named + R"("input":")" + user + "\"," + std::string(kFlatTools) + "}"};
  }
  if (protocol.name == "anthropic_messages") {
    return {
        "/v1/messages",
        named + R"("max_tokens":100,)" + messages +
            R"(,"tools":[{"name":"find","input_schema":{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"array"}}}},{"name":"add","input_schema":{"type":"object","properties":{"a":{"type":"integer"}}}}]})"};
  }
  ADD_FAILURE() << "no question in " << protocol.name;
  return {};
}

struct Understood {
  EventLog log;
  std::optional<Error> error;
};

void understand(const Protocol& protocol, bool stream, std::string_view body, Understood& heard) {
  PipelineOptions options;
  options.wire = protocol.name;
  options.sink = &heard.log;
  Request request;
  request.stream = stream;
  auto pipeline = Pipeline::make(request, options);
  ASSERT_TRUE(pipeline.has_value());
  std::string none;
  pipeline->push(body, none);
  pipeline->finish(none);
  heard.error = pipeline->error();
}

void expect_answer(const Protocol& protocol, bool stream, const Scenario& scenario,
                   const TestAnswer& answer) {
  using enum Scenario::Failure;
  if (scenario.failure == before || (scenario.failure == during && !stream)) {
    EXPECT_GE(answer.status, 400);
    EXPECT_EQ(answer.header("content-type"), "application/json");
    EXPECT_THAT(answer.body, HasSubstr("\"error\""));
    if (scenario.failure == before) EXPECT_THAT(answer.body, HasSubstr("the model is asleep"));
    return;
  }
  ASSERT_EQ(answer.status, 200) << answer.body;
  if (upstream::find(protocol.name) == nullptr) {
    if (scenario.failure == none) EXPECT_THAT(answer.body, HasSubstr(stream ? "" : scenario.text));
    return;
  }
  Understood heard;
  understand(protocol, stream, answer.body, heard);
  if (scenario.failure == during) {
    EXPECT_TRUE(heard.error.has_value()) << answer.body;
    return;
  }
  EXPECT_FALSE(heard.error.has_value()) << answer.body;
  EXPECT_EQ(heard.log.text() + heard.log.refusal(), scenario.text) << answer.body;
  EXPECT_EQ(heard.log.reasoning(), scenario.reasoning) << answer.body;
  std::vector<std::string> calls;
  for (const LoggedCall& call : heard.log.calls()) {
    EXPECT_NE(call.id, "");
    calls.push_back(call.name + " ");
    json::append_compact(calls.back(), call.arguments);
  }
  EXPECT_EQ(calls, scenario.calls) << answer.body;
  EXPECT_EQ(heard.log.reason(), scenario.reason) << answer.body;
  EXPECT_TRUE(heard.log.usage().has_value()) << answer.body;
}

class Script {
 public:
  explicit Script(int cut)
      : path_(testing::TempDir() + "callgate_matrix_test." + std::to_string(::getpid())) {
    std::ofstream(path_) << "write " << cut << "\ncut 5\n" << kScript;
  }
  ~Script() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string config_of(const Script& script) {
  std::string toml;
  for (const WireFormat* wire : upstream::all()) {
    const std::string name(wire->name);
    if (name.starts_with("codex_")) continue;  // a child process; the golden cases run them
    toml += "[[upstream]]\nname = \"" + name + "\"\nwire = \"" + name +
            "\"\nurl = \"script:" + script.path() + "\"\n[[model]]\nname = \"" + name +
            "\"\nupstream = \"" + name + "\"\nretries = 0\n";
    if (name == "qwen_web") toml += "tools = \"prompt\"\ndialect = \"generic_xml\"\n";
  }
  return toml;
}

class ProtocolMatrix : public testing::TestWithParam<int> {};

TEST_P(ProtocolMatrix, serves_every_protocol_from_every_wire_format) {
  const Script script(GetParam());
  net::Loop loop;
  TestGateway gateway(loop, config_of(script));
  for (const Protocol* protocol : client::all()) {
    for (const WireFormat* wire : upstream::all()) {
      if (wire->name.starts_with("codex_")) continue;
      for (const bool stream : {true, false}) {
        for (const Scenario& scenario : scenarios()) {
          if (!can_say(wire->name, scenario, stream)) continue;
          SCOPED_TRACE(std::string(protocol->name) + " from " + std::string(wire->name) +
                       (stream ? ", streamed: " : ", whole: ") + std::string(scenario.name));
          const Question asked = question(*protocol, std::string(wire->name),
                                          "say " + std::string(scenario.name), stream);
          const std::size_t rows = gateway.log().rows().size();
          expect_answer(*protocol, stream, scenario, gateway.ask(asked.body, {}, asked.path));
          ASSERT_EQ(gateway.log().rows().size(), rows + 1);
          EXPECT_EQ(gateway.log().rows().back().record.protocol, protocol->name);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuts, ProtocolMatrix, testing::Values(1, 7, 4096));

}  // namespace
}  // namespace callgate::server::protocol_matrix_test
