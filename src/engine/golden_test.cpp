// Replays golden/wire/<format>/<case>.sse or <case>.lines (a streamed upstream answer) or <case>.body (a whole one, or an array)
// through a Pipeline and compares what clients of the first protocol get:
//   <case>.<protocol>.sse   the streamed answer      <case>.<protocol>.json   the whole answer
//   <case>.summary          finish reason, calls and repairs
// <case>.policy names policies that are not at their defaults, a line each: `stop_after_tools first`. It may also say
// `dialect hermes`, `dialect_is_default true`, `commit eager` or `reasoning_open true`.
// <case>.request.json is the client's request, where it is not the usual one. An answer that is a status and not a
// stream is written as `status 502` and its body. Each case runs whole, cut in two at every byte, and byte by byte.
// CALLGATE_GOLDEN_UPDATE=1 rewrites the expectations: read the diff.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/source_path_testing.h"
#include "callgate/pipeline.h"
#include "client/protocol.h"
#include "engine/golden_case.h"

namespace callgate {
namespace {

namespace fs = std::filesystem;
using engine::GoldenAnswer;
using engine::run_golden;

struct Case {
  std::string format;
  std::string name;
  fs::path input;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const fs::path root = source_path("golden/wire");
  if (!fs::exists(root)) return cases;
  for (const auto& format : fs::directory_iterator(root)) {
    for (const auto& file : fs::directory_iterator(format.path())) {
      const std::string name = file.path().stem().string();
      const std::string extension = file.path().extension().string();
      const bool is_input = extension == ".body" || extension == ".sse" || extension == ".lines";
      if (!is_input || name.find('.') != std::string::npos) continue;
      cases.push_back({format.path().filename().string(), name, file.path()});
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.input < b.input; });
  return cases;
}

Request request_of(const Case& golden, bool stream) {
  const fs::path path = fs::path(golden.input).replace_extension(".request.json");
  const std::string body =
      fs::exists(path) ? read_file(path) : std::string(engine::usual_golden_request());
  Result<Request> request = client::find("openai_chat")->decode({.body = body});
  EXPECT_TRUE(request.has_value()) << (request ? "" : request.error().message);
  request->stream = stream;
  return *request;
}

PipelineOptions options_of(const Case& golden, const Protocol& protocol) {
  PipelineOptions options = engine::golden_options(golden.format, protocol.name);
  std::ifstream in(fs::path(golden.input).replace_extension(".policy"));
  for (std::string name, value; in >> name >> value;) {
    EXPECT_TRUE(engine::set_golden_option(options, name, value)) << name << " " << value;
  }
  return options;
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
  const Case& golden = GetParam();
  const std::string input = read_file(golden.input);
  for (const Protocol* protocol : client::all()) {
    const PipelineOptions options = options_of(golden, *protocol);
    for (const bool stream : {true, false}) {
      const Request request = request_of(golden, stream);
      const GoldenAnswer whole = run_golden(request, options, input);
      const std::string suffix = "." + std::string(protocol->name) + (stream ? ".sse" : ".json");
      // What the others write, their oracles read again (protocol_oracle_test.cpp).
      if (protocol == client::all().front()) {
        expect_file(golden, suffix, whole.bytes);
        if (stream) expect_file(golden, ".summary", whole.summary);
      }

      for (std::size_t cut = 1; cut < input.size(); ++cut) {
        const GoldenAnswer cut_in_two = run_golden(request, options, input, {&cut, 1});
        ASSERT_EQ(cut_in_two.bytes, whole.bytes) << "cut at byte " << cut;
        ASSERT_EQ(cut_in_two.summary, whole.summary) << "cut at byte " << cut;
      }
      std::vector<std::size_t> every_byte;
      for (std::size_t cut = 1; cut < input.size(); ++cut) every_byte.push_back(cut);
      const GoldenAnswer by_byte = run_golden(request, options, input, every_byte);
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
