// What a client protocol writes, its own wire format reads: every golden turn of every upstream goes through the encoder of the
// protocol and the decoder of the format with the same name, and must say the same as before.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/source_path_testing.h"
#include "callgate/pipeline.h"
#include "chat/content.h"
#include "chat/event_grammar.h"
#include "chat/event_log.h"
#include "chat/message_json.h"
#include "client/protocol.h"
#include "engine/golden_case.h"
#include "upstream/wire_format.h"

namespace callgate::responses_oracle_test {
namespace {

namespace fs = std::filesystem;

struct OracleTurn {
  std::string format;
  std::string name;
  std::string input;
  std::string request;
};

std::string text_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<OracleTurn> all_turns() {
  std::vector<OracleTurn> turns;
  for (const auto& format : fs::directory_iterator(source_path("golden/wire"))) {
    for (const auto& file : fs::directory_iterator(format.path())) {
      const std::string name = file.path().stem().string();
      const std::string kind = file.path().extension().string();
      if (name.find('.') != std::string::npos) continue;
      if (kind != ".body" && kind != ".sse" && kind != ".lines") continue;
      const fs::path asked = fs::path(file.path()).replace_extension(".request.json");
      turns.push_back(
          {format.path().filename().string(), name, text_of_file(file.path()),
           fs::exists(asked) ? text_of_file(asked) : std::string(engine::usual_golden_request())});
    }
  }
  return turns;
}

// What was said. A format that sets messages apart reads them back with a blank line between them: `apart` puts it where it will
// be.
std::string said(const EventLog& log, bool apart) {
  std::string text;
  std::string reasoning;
  LoggedEvent::Kind last = LoggedEvent::Kind::finish;
  const auto join = [&](std::string& all, const LoggedEvent& event) {
    if (apart && !all.empty() && last != event.kind) all += "\n\n";
    all += event.text;
  };
  for (const LoggedEvent& event : log.events()) {
    if (event.kind == LoggedEvent::Kind::text) join(text, event);
    if (event.kind == LoggedEvent::Kind::reasoning) join(reasoning, event);
    const bool item = event.kind != LoggedEvent::Kind::field &&
                      event.kind != LoggedEvent::Kind::usage &&
                      event.kind != LoggedEvent::Kind::refusal;
    if (item) last = event.kind;
  }
  std::string all = "text " + text + "\nreasoning " + reasoning + "\nrefusal " + log.refusal();
  for (const LoggedCall& call : log.calls()) {
    all += "\ncall " + call.id + " " + call.name + " " + call.arguments + " " +
           std::string(to_string(call.outcome));
  }
  if (log.reason()) all += "\nfinish " + std::string(to_string(*log.reason()));
  return all;
}

struct Read {
  std::string said;
  std::string usage;
  bool failed = false;
};

Read read_turn(const Request& request, const std::string& wire, const std::string& input,
               bool apart) {
  EventLog log;
  CheckedSink checked(log);
  PipelineOptions options = engine::golden_options(wire, "openai_chat");
  options.sink = &checked;
  auto pipeline = Pipeline::make(request, options);
  std::string none;
  pipeline->push(input, none);
  pipeline->finish(none);
  Read read{.said = said(log, apart), .usage = {}, .failed = pipeline->error().has_value()};
  const auto usage = log.usage();
  if (usage && usage->prompt_stated && usage->completion_stated) {
    read.usage =
        std::to_string(usage->prompt_tokens) + " " + std::to_string(usage->completion_tokens) +
        " " + std::to_string(usage->cached_tokens) + " " + std::to_string(usage->reasoning_tokens);
  }
  return read;
}

class ResponsesOracle : public testing::TestWithParam<std::string_view> {};

TEST_P(ResponsesOracle, reads_back_what_it_wrote) {
  const std::string protocol(GetParam());
  ASSERT_NE(upstream::find(protocol), nullptr);
  std::size_t compared = 0;
  for (const OracleTurn& turn : all_turns()) {
    SCOPED_TRACE(turn.format + "/" + turn.name);
    Result<Request> request = client::find("openai_chat")->decode({.body = turn.request});
    ASSERT_TRUE(request.has_value());
    if (request->choices > 1) continue;  // a protocol of its own has one
    const Read told = read_turn(*request, turn.format, turn.input, true);
    for (const bool stream : {true, false}) {
      request->stream = stream;
      const engine::GoldenAnswer written =
          engine::run_golden(*request, engine::golden_options(turn.format, protocol), turn.input);
      if (written.bytes.starts_with("status ")) continue;  // refused before it began
      const Read again = read_turn(*request, protocol, written.bytes, false);
      ++compared;
      EXPECT_EQ(again.failed, told.failed) << written.bytes;
      if (told.failed) continue;  // how far a broken turn came differs
      EXPECT_EQ(again.said, told.said) << written.bytes;
      if (told.usage.empty()) continue;  // what is not stated is estimated
      EXPECT_EQ(again.usage, told.usage);
    }
  }
  EXPECT_GT(compared, 500u);
}

INSTANTIATE_TEST_SUITE_P(Protocols, ResponsesOracle, testing::Values("openai_responses"),
                         [](const auto& protocol) { return std::string(protocol.param); });

// A request that both sides can carry whole.
constexpr std::string_view kWholeRequest = R"({"model":"m","stream":true,"messages":[
  {"role":"system","content":"Be brief."},{"role":"developer","content":"Use tools."},
  {"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}}]},
  {"role":"assistant","content":"I look.","tool_calls":[
    {"id":"a","type":"function","function":{"name":"find","arguments":"{\"q\":\"tea\"}"}},
    {"id":"b","type":"function","function":{"name":"add","arguments":"{}"}}]},
  {"role":"tool","tool_call_id":"a","content":"3 results"},{"role":"tool","tool_call_id":"b","content":"42"},
  {"role":"assistant","content":"It is tea."},{"role":"user","content":"Thanks é"}],
  "tools":[{"type":"function","function":{"name":"find","description":"Finds.","parameters":{"type":"object"},"strict":true}},
    {"type":"function","function":{"name":"add","parameters":{"type":"object"},"strict":false}}],
  "tool_choice":{"type":"function","function":{"name":"find"}},"parallel_tool_calls":false,
  "max_completion_tokens":7,"temperature":0.5,"reasoning_effort":"low","verbosity":"low","user":"u",
  "response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object"},"strict":true}}})";

TEST_P(ResponsesOracle, reads_back_the_request_that_its_format_wrote) {
  const std::string protocol(GetParam());
  const auto asked = client::find("openai_chat")->decode({.body = kWholeRequest});
  ASSERT_TRUE(asked.has_value()) << asked.error().message;
  const auto sent = upstream::find(protocol)->encode(*asked, {.model = "m", .stream = true});
  ASSERT_TRUE(sent.has_value());
  EXPECT_TRUE(sent->dropped.empty());
  const auto again = client::find(protocol)->decode({.body = sent->body});
  ASSERT_TRUE(again.has_value()) << again.error().message << sent->body;
  EXPECT_EQ(print_messages(again->messages), print_messages(asked->messages));
  ASSERT_EQ(again->tools.size(), asked->tools.size());
  for (std::size_t i = 0; i < asked->tools.size(); ++i) {
    EXPECT_EQ(again->tools[i].name, asked->tools[i].name);
    EXPECT_EQ(again->tools[i].description, asked->tools[i].description);
    EXPECT_EQ(again->tools[i].parameters, asked->tools[i].parameters);
    EXPECT_EQ(again->tools[i].extra, asked->tools[i].extra);
  }
  EXPECT_EQ(again->tool_choice.mode, asked->tool_choice.mode);
  EXPECT_EQ(again->tool_choice.name, asked->tool_choice.name);
  EXPECT_EQ(again->parallel_tool_calls, asked->parallel_tool_calls);
  EXPECT_EQ(again->stream, asked->stream);
  for (const ExtraField& field : asked->extra) {
    EXPECT_EQ(find_field(again->extra, field.name), field.value.text) << field.name;
  }
}

}  // namespace
}  // namespace callgate::responses_oracle_test
