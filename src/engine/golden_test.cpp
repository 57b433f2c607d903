// Replays golden/wire/<format>/<case>.sse (a streamed upstream answer) or <case>.body (a whole one) through a Pipeline
// and compares what every client protocol gets:
//   <case>.<protocol>.sse   the streamed answer      <case>.<protocol>.json   the whole answer
//   <case>.summary          finish reason, calls and repairs
// <case>.policy names policies that are not at their defaults, a line each: `stop_after_tools first`.
// <case>.request.json is the client's request, where it is not the usual one. An answer that is a status and not a
// stream is written as `status 502` and its body. Each case runs whole, cut in two at every byte, and byte by byte.
// CALLGATE_GOLDEN_UPDATE=1 rewrites the expectations: read the diff.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "callgate/pipeline.h"
#include "chat/event_log.h"
#include "client/protocol.h"

namespace callgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUsualRequest = R"({"model":"demo","stream":true,
  "stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}],
  "tools":[{"type":"function","function":{"name":"find"}},{"type":"function","function":{"name":"add"}}]})";

struct Case {
  std::string format;
  std::string name;
  fs::path input;
  PolicyOptions policy;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const fs::path root = fs::path(CALLGATE_SOURCE_DIR) / "golden" / "wire";
  if (!fs::exists(root)) return cases;
  for (const auto& format : fs::directory_iterator(root)) {
    for (const auto& file : fs::directory_iterator(format.path())) {
      const std::string name = file.path().stem().string();
      const std::string extension = file.path().extension().string();
      const bool is_input = extension == ".body" || extension == ".sse";
      if (!is_input || name.find('.') != std::string::npos) continue;
      cases.push_back({format.path().filename().string(), name, file.path(), {}});
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.input < b.input; });
  return cases;
}

Request request_of(const Case& golden, bool stream) {
  const fs::path path = fs::path(golden.input).replace_extension(".request.json");
  const std::string body = fs::exists(path) ? read_file(path) : std::string(kUsualRequest);
  Result<Request> request = client::find("openai_chat")->decode(body);
  EXPECT_TRUE(request.has_value()) << (request ? "" : request.error().message);
  request->stream = stream;
  return *request;
}

PolicyOptions policy_of(const Case& golden) {
  PolicyOptions options;
  std::ifstream in(fs::path(golden.input).replace_extension(".policy"));
  for (std::string name, value; in >> name >> value;) {
    EXPECT_TRUE(set_policy(options, name, value)) << name << " " << value;
  }
  return options;
}

struct Replayed {
  std::string bytes;
  std::string summary;
};

std::string print_summary(const TurnSummary& summary) {
  std::string text = "finish " + std::string(to_string(summary.reason)) + "\n";
  text += "calls " + std::to_string(summary.calls) + "\n";
  for (std::size_t i = 0; i < kRepairCount; ++i) {
    if (summary.repairs[i] == 0) continue;
    text += "repair " + std::string(to_string(static_cast<Repair>(i))) + " " +
            std::to_string(summary.repairs[i]) + "\n";
  }
  const auto count = [&](std::string_view what, std::uint64_t number) {
    if (number > 0) text += std::string(what) + " " + std::to_string(number) + "\n";
  };
  count("withheld calls", summary.withheld_calls);
  count("withheld bytes", summary.withheld_bytes);
  count("mended calls", summary.mended_calls);
  if (summary.cut) text += "cut\n";
  count("late frames", summary.late_frames);
  return text;
}

// Pushes `input` cut at `cuts`.
Replayed replay(const Case& golden, const Request& request, const Protocol& protocol,
                std::string_view input, const std::vector<std::size_t>& cuts) {
  Result<Pipeline> pipeline = Pipeline::make(request, {.wire = golden.format,
                                                       .protocol = std::string(protocol.name),
                                                       .response_id = "chatcmpl-golden",
                                                       .created = 1700000000,
                                                       .id_seed = 1,
                                                       .policy = golden.policy});
  Replayed result;
  std::size_t at = 0;
  for (const std::size_t cut : cuts) {
    pipeline->push(input.substr(at, cut - at), result.bytes);
    at = cut;
  }
  pipeline->push(input.substr(at), result.bytes);
  pipeline->finish(result.bytes);
  EXPECT_TRUE(pipeline->finished());
  if (!pipeline->started()) {
    EXPECT_EQ(result.bytes, "") << "nothing may be written before the answer starts";
    EXPECT_TRUE(pipeline->error().has_value());
    result.bytes = "status " + std::to_string(client::status_of(*pipeline->error())) + "\n" +
                   protocol.error_body(*pipeline->error());
  }
  if (!request.stream || !pipeline->started()) result.bytes += "\n";
  result.summary = print_summary(pipeline->summary());
  return result;
}

void expect_file(const Case& golden, const std::string& suffix, const std::string& actual) {
  const fs::path path = fs::path(golden.input).replace_extension(suffix);
  if (std::getenv("CALLGATE_GOLDEN_UPDATE") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  ASSERT_TRUE(fs::exists(path)) << path << " is missing";
  EXPECT_EQ(read_file(path), actual) << path;
}

class WireGolden : public testing::TestWithParam<Case> {};

TEST_P(WireGolden, gives_the_same_answer_however_the_bytes_are_cut) {
  Case golden = GetParam();
  golden.policy = policy_of(golden);
  const std::string input = read_file(golden.input);
  for (const Protocol* protocol : client::all()) {
    for (const bool stream : {true, false}) {
      const Request request = request_of(golden, stream);
      const Replayed whole = replay(golden, request, *protocol, input, {});
      const std::string suffix = "." + std::string(protocol->name) + (stream ? ".sse" : ".json");
      expect_file(golden, suffix, whole.bytes);
      if (stream) expect_file(golden, ".summary", whole.summary);

      for (std::size_t cut = 1; cut < input.size(); ++cut) {
        const Replayed cut_in_two = replay(golden, request, *protocol, input, {cut});
        ASSERT_EQ(cut_in_two.bytes, whole.bytes) << "cut at byte " << cut;
        ASSERT_EQ(cut_in_two.summary, whole.summary) << "cut at byte " << cut;
      }
      std::vector<std::size_t> every_byte;
      for (std::size_t cut = 1; cut < input.size(); ++cut) every_byte.push_back(cut);
      const Replayed by_byte = replay(golden, request, *protocol, input, every_byte);
      EXPECT_EQ(by_byte.bytes, whole.bytes);
      EXPECT_EQ(by_byte.summary, whole.summary);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Wire, WireGolden, testing::ValuesIn(all_cases()), [](const auto& golden) {
  return golden.param.format + "_" + golden.param.name;
});

TEST(WireGoldenFiles, exist_for_openai_chat) {
  const std::vector<Case> cases = all_cases();
  EXPECT_GE(std::count_if(cases.begin(), cases.end(),
                          [](const Case& golden) { return golden.format == "openai_chat"; }),
            30);
}

TEST(WireGoldenFiles, show_every_repair_of_a_wire_format) {
  std::string summaries;
  for (const Case& golden : all_cases()) {
    summaries += read_file(fs::path(golden.input).replace_extension(".summary"));
  }
  for (std::size_t i = 0; i < kRepairCount; ++i) {
    const auto repair = static_cast<Repair>(i);
    if (repair == Repair::markup_in_text) continue;  // a dialect's to find
    EXPECT_NE(summaries.find("repair " + std::string(to_string(repair))), std::string::npos)
        << to_string(repair);
  }
}

}  // namespace
}  // namespace callgate
