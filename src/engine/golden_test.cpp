// Replays golden/wire/<format>/<case>.sse or <case>.lines (a streamed upstream answer) or <case>.body (a whole one, or an array)
// through a Pipeline and compares what clients of the first protocol get:
//   <case>.<protocol>.sse   the streamed answer      <case>.<protocol>.json   the whole answer
//   <case>.summary          finish reason, calls and repairs
// <case>.policy names policies that are not at their defaults, a line each: `stop_after_tools first`. It may also say
// `dialect hermes`, `dialect_is_default true`, `commit eager` or `reasoning_open true`.
// Chat Completions has all of them; another protocol those that show its own order, ids and errors: what it makes of the rest is
// read back by protocol_oracle_test.cpp.
// <case>.request.json is the client's request, where it is not the usual one; <case>.<protocol>.request.json is it in another
// protocol. An answer that is a status and not a
// stream is written as `status 502` and its body. Each case runs whole, cut in two at every byte, and byte by byte.
// CALLGATE_GOLDEN_UPDATE=1 rewrites the expectations: read the diff.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/cuts_testing.h"
#include "engine/golden_testing.h"

namespace callgate::golden_test {
namespace {

namespace fs = std::filesystem;
using engine::GoldenAnswer;
using engine::run_golden;

using Case = engine::WireCase;
using engine::options_of;
using engine::read_file;
using engine::request_of;

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
    // Of the others the oracle in protocol_oracle_test.cpp and golden/protocol say what they write, unless a case has their files.
    const PipelineOptions options = options_of(golden, *protocol);
    for (const bool stream : {true, false}) {
      const std::string suffix = "." + std::string(protocol->name) + (stream ? ".sse" : ".json");
      const bool shown = fs::exists(fs::path(golden.input).replace_extension(suffix));
      if (protocol != client::all().front() && !shown) continue;
      const Request request = request_of(golden, *protocol, stream);
      const GoldenAnswer whole = run_golden(request, options, input);
      expect_file(golden, suffix, whole.bytes);
      if (stream && protocol == client::all().front())
        expect_file(golden, ".summary", whole.summary);

      for (const std::vector<std::size_t>& cuts : every_cut(input.size())) {
        const GoldenAnswer in_pieces = run_golden(request, options, input, cuts);
        ASSERT_EQ(in_pieces.bytes, whole.bytes) << "cut at byte " << cuts.front();
        ASSERT_EQ(in_pieces.summary, whole.summary) << "cut at byte " << cuts.front();
      }
      std::vector<std::size_t> every_byte;
      for (std::size_t cut = 1; cut < input.size(); ++cut) every_byte.push_back(cut);
      const GoldenAnswer by_byte = run_golden(request, options, input, every_byte);
      EXPECT_EQ(by_byte.bytes, whole.bytes);
      EXPECT_EQ(by_byte.summary, whole.summary);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Wire, WireGolden, testing::ValuesIn(engine::all_wire_cases()),
                         [](const auto& golden) {
                           return golden.param.format + "_" + golden.param.name;
                         });

TEST(WireGoldenFiles, exist_for_openai_chat) {
  const std::vector<Case> cases = engine::all_wire_cases();
  EXPECT_GE(std::count_if(cases.begin(), cases.end(),
                          [](const Case& golden) { return golden.format == "openai_chat"; }),
            30);
}

TEST(WireGoldenFiles, show_every_repair_of_a_wire_format) {
  std::string summaries;
  for (const Case& golden : engine::all_wire_cases()) {
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
}  // namespace callgate::golden_test
