#include "replay/replay_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/source_path_testing.h"
#include "engine/golden_case.h"
#include "replay/replay_golden.h"

namespace callgate::replay::replay_case_test {
namespace {

using Kind = server::CaptureLine::Kind;
using server::CaptureLine;
using server::CaptureRecord;
using server::Direction;
using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

constexpr std::string_view kRequest =
    R"({"model":"m","stream":true,"messages":[{"role":"user","content":"private words"}]})";

std::string frame(std::string_view delta, std::string_view reason = "null") {
  return "data: {\"choices\":[{\"index\":0,\"delta\":" + std::string(delta) +
         ",\"finish_reason\":" + std::string(reason) + "}]}\n\n";
}

void add(CaptureRecord& record, Direction direction, std::string bytes) {
  record.lines.push_back({.direction = direction, .bytes = std::move(bytes)});
}

void add_mark(CaptureRecord& record, Direction direction, Kind kind) {
  record.lines.push_back({.direction = direction, .kind = kind});
}

// One attempt up to the head of its answer.
void begin_attempt(CaptureRecord& record, int status) {
  add_mark(record, Direction::upstream_out, Kind::head);
  add(record, Direction::upstream_out, "{}");
  const server::CapturedHead head{.status = status};
  record.lines.push_back({.direction = Direction::upstream_in, .kind = Kind::head, .head = head});
}

CaptureRecord streamed() {
  CaptureRecord record{
      .version = "1", .request_id = "req_1", .protocol = "openai_chat", .end = "completed"};
  record.pipeline = server::CapturedPipeline{.wire = "openai_chat",
                                             .protocol = "openai_chat",
                                             .dialect = "hermes",
                                             .response_id = "r",
                                             .max_frame = 1 << 20,
                                             .max_body = 1 << 20,
                                             .max_held_back = 1 << 20};
  add(record, Direction::client_in, std::string(kRequest));
  begin_attempt(record, 200);
  add(record, Direction::upstream_in, frame(R"({"content":"one "})"));
  add(record, Direction::upstream_in, frame(R"({"content":"two"})"));
  add(record, Direction::upstream_in, frame("{}", "\"stop\"") + "data: [DONE]\n\n");
  return record;
}

ReplayCase replay_case(const CaptureRecord& record) {
  auto made = to_replay_case(record);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? std::move(*made) : ReplayCase{};
}

TEST(Replay, gives_the_captured_answer_however_the_bytes_are_cut) {
  CaptureRecord record = streamed();
  const std::string answer = run_replay(replay_case(record), std::nullopt).client;
  EXPECT_THAT(answer, HasSubstr("two"));
  EXPECT_TRUE(answer.ends_with("data: [DONE]\n\n"));
  add(record, Direction::client_out, answer.substr(0, 10));
  add(record, Direction::client_out, answer.substr(10));
  const ReplayCase input = replay_case(record);
  for (const std::string_view split : {"whole", "byte", "7", "random:3"}) {
    const Replayed replayed = run_replay(input, *parse_split(split));
    EXPECT_EQ(first_difference(input, replayed, false), std::nullopt) << split;
  }
  EXPECT_EQ(first_difference(input, run_replay(input, std::nullopt), true), std::nullopt);
}

TEST(Replay, puts_comments_where_they_were_when_the_cuts_are_the_original_ones) {
  CaptureRecord record = streamed();
  const CaptureLine comment{
      .direction = Direction::client_out, .kind = Kind::comment, .bytes = ": keep-alive\n\n"};
  record.lines.insert(record.lines.begin() + 5, comment);
  const ReplayCase input = replay_case(record);
  const std::string with = run_replay(input, std::nullopt).client;
  const std::string without = run_replay(input, Split{}).client;
  EXPECT_THAT(with, HasSubstr("\n\n: keep-alive\n\ndata: "));
  EXPECT_EQ(with.size(), without.size() + comment.bytes.size());
}

TEST(Replay, tells_the_captured_times_again) {
  CaptureRecord record = streamed();
  record.lines[0].bytes =
      R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[]})";
  record.lines[0].bytes.insert(record.lines[0].bytes.size() - 2,
                               R"({"role":"user","content":"x"})");
  record.pipeline->elapsed_ms = std::vector<std::int64_t>{1234, 5678};
  const ReplayCase input = replay_case(record);
  for (int i = 0; i < 2; ++i) {
    const std::string client = run_replay(input, std::nullopt).client;
    EXPECT_THAT(client, HasSubstr("1234"));
    EXPECT_THAT(client, HasSubstr("5678"));
  }
}

TEST(Replay, lets_reasoning_go_when_the_gateway_did) {
  CaptureRecord record = streamed();
  record.pipeline->policy.reasoning_coalesce_bytes = 1000;
  record.lines[4].bytes = frame(R"({"reasoning_content":"so "})");
  record.lines[5].bytes = frame(R"({"reasoning_content":"far"})");
  EXPECT_THAT(run_replay(replay_case(record), std::nullopt).client, HasSubstr("\"so far\""));
  const CaptureLine released{.direction = Direction::upstream_in, .kind = Kind::released};
  record.lines.insert(record.lines.begin() + 5, released);
  const std::string apart = run_replay(replay_case(record), std::nullopt).client;
  EXPECT_THAT(apart, HasSubstr("\"so \""));
  EXPECT_THAT(apart, HasSubstr("\"far\""));
}

TEST(Replay, shows_events_and_the_summary) {
  const Replayed replayed = run_replay(replay_case(streamed()), std::nullopt);
  EXPECT_EQ(replayed.events, "text \"one two\"\nfinish stop\n");
  EXPECT_EQ(replayed.summary, "finish stop\ncalls 0\n");
}

TEST(Replay, shows_each_round_of_a_tool_loop) {
  CaptureRecord record = streamed();
  const server::CapturedPipeline made = *record.pipeline;
  record.pipeline.reset();
  record.lines.resize(1);
  const auto add_round = [&](std::string_view text) {
    begin_attempt(record, 200);
    add_mark(record, Direction::upstream_in, Kind::round);
    record.rounds.push_back({made, std::string(kRequest)});
    add(record, Direction::client_out, "data: {}");
    add(record, Direction::upstream_in,
        frame("{\"content\":\"" + std::string(text) + "\"}", "\"stop\"") + "data: [DONE]\n\n");
  };
  begin_attempt(record, 500);
  add(record, Direction::upstream_in, "{}");
  add_round("first");
  add_round("second");
  const auto events = [&](std::size_t round) {
    return run_replay(*to_replay_case(record, round), std::nullopt).events;
  };
  EXPECT_EQ(events(1), "text \"first\"\nfinish stop\n");
  EXPECT_EQ(events(2), "text \"second\"\nfinish stop\n");
  EXPECT_EQ(events(0), events(2));
  EXPECT_EQ(to_replay_case(record, 1)->rounds, 2u);
  EXPECT_EQ(to_replay_case(record, 3).error().message, "the capture has 2 rounds");
  EXPECT_EQ(to_replay_case(streamed(), 1).error().message, "the capture has 0 rounds");
}

TEST(Replay, tells_the_first_difference) {
  CaptureRecord record = streamed();
  std::string answer = run_replay(replay_case(record), std::nullopt).client;
  answer[answer.find("two")] = 'T';
  add(record, Direction::client_out, answer);
  const ReplayCase input = replay_case(record);
  const auto difference = first_difference(input, run_replay(input, std::nullopt), true);
  ASSERT_TRUE(difference);
  EXPECT_THAT(*difference, HasSubstr("at byte " + std::to_string(answer.find("Two"))));
  EXPECT_THAT(*difference, HasSubstr("two"));
}

TEST(Replay, takes_the_last_attempt) {
  CaptureRecord record = streamed();
  const CaptureRecord again = streamed();
  const std::string once = run_replay(replay_case(record), std::nullopt).client;
  record.lines.insert(record.lines.end(), again.lines.begin() + 1, again.lines.end());
  EXPECT_EQ(run_replay(replay_case(record), std::nullopt).client, once);
}

TEST(Replay, answers_failures_as_the_gateway_did) {
  CaptureRecord refused = streamed();
  begin_attempt(refused, 429);
  add(refused, Direction::upstream_in, R"({"error":{"message":"slow down"}})");
  add_mark(refused, Direction::upstream_in, Kind::closed);
  refused.end = "failed";
  EXPECT_THAT(run_replay(replay_case(refused), std::nullopt).client, HasSubstr("slow down"));

  CaptureRecord unreachable = streamed();
  add_mark(unreachable, Direction::upstream_out, Kind::head);
  const Error error{.code = ErrorCode::unavailable, .message = "no route"};
  const CaptureLine failed{
      .direction = Direction::upstream_in, .kind = Kind::failed, .error = error};
  unreachable.lines.push_back(failed);
  unreachable.end = "failed";
  EXPECT_THAT(run_replay(replay_case(unreachable), std::nullopt).client, HasSubstr("no route"));

  CaptureRecord broken = streamed();
  broken.lines.back() = failed;
  broken.end = "failed";
  const std::string answer = run_replay(replay_case(broken), std::nullopt).client;
  EXPECT_THAT(answer, HasSubstr("two"));
  EXPECT_THAT(answer, HasSubstr("no route"));
}

TEST(Replay, needs_no_end_when_the_client_left_or_the_capture_is_truncated) {
  CaptureRecord gone = streamed();
  const std::string answer = run_replay(replay_case(gone), std::nullopt).client;
  const std::string begin = answer.substr(0, answer.find("two"));
  gone.lines.back() = {.direction = Direction::upstream_in, .kind = Kind::failed};
  add(gone, Direction::client_out, begin);
  gone.end = "disconnected";
  const ReplayCase left = replay_case(gone);
  EXPECT_EQ(first_difference(left, run_replay(left, std::nullopt), true), std::nullopt);

  CaptureRecord cut = streamed();
  cut.truncated = true;
  add(cut, Direction::client_out, begin);
  const ReplayCase truncated = replay_case(cut);
  EXPECT_EQ(first_difference(truncated, run_replay(truncated, std::nullopt), true), std::nullopt);
}

TEST(Replay, says_what_a_capture_lacks) {
  const auto message_of = [](const CaptureRecord& record) {
    const auto made = to_replay_case(record);
    return made ? std::string() : made.error().message;
  };
  CaptureRecord record = streamed();
  record.lines.resize(3);
  EXPECT_THAT(message_of(record), HasSubstr("no answer of an upstream"));
  record = streamed();
  record.lines[0].bytes = R"({"model":)";
  record.truncated = true;
  EXPECT_THAT(message_of(record), HasSubstr("the capture is truncated"));
  record = streamed();
  record.pipeline->dialect = "klingon";
  EXPECT_THAT(message_of(record), HasSubstr("klingon"));
  record = streamed();
  record.pipeline->wire = "smoke";
  EXPECT_THAT(message_of(record), HasSubstr("wire format \"smoke\""));
  record = streamed();
  record.pipeline.reset();
  EXPECT_THAT(message_of(record), HasSubstr("pipeline"));
}

TEST(Replay, changes_dialect_policy_and_protocol) {
  const std::string call = R"(<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>)";
  auto input =
      to_replay_case(frame("{\"content\":\"" + call + "\"}", "\"stop\""), "openai_chat", "");
  ASSERT_TRUE(input);
  EXPECT_THAT(run_replay(*input, std::nullopt).events, StartsWith("text"));
  ASSERT_TRUE(set_dialect(*input, "hermes"));
  EXPECT_THAT(run_replay(*input, std::nullopt).events, StartsWith("call 0 f"));
  ASSERT_TRUE(set_option(*input, "undeclared_tools=text"));
  EXPECT_THAT(run_replay(*input, std::nullopt).events, StartsWith("text"));
  EXPECT_TRUE(set_protocol(*input, "openai_chat"));
  EXPECT_FALSE(set_protocol(*input, "telex"));
  EXPECT_FALSE(set_dialect(*input, "klingon"));
  EXPECT_FALSE(set_option(*input, "undeclared_tools"));
  EXPECT_FALSE(set_option(*input, "undeclared_tools=maybe"));
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Every case of the repository, made from its upstream bytes, is what the repository has.
TEST(ReplayGolden, writes_the_files_that_golden_cases_have) {
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(source_path("golden/wire/openai_chat"))) {
    const fs::path path = entry.path();
    const std::string stem = path.stem().string();
    const bool is_input = path.extension() == ".sse" || path.extension() == ".body";
    if (!is_input || stem.find('.') != std::string::npos) continue;
    const auto beside = [&](const std::string& suffix) {
      return read_file(path.parent_path() / (stem + suffix));
    };
    auto input = to_replay_case(read_file(path), "openai_chat", beside(".request.json"));
    ASSERT_TRUE(input) << path;
    std::istringstream policy(beside(".policy"));
    for (std::string name, value; policy >> name >> value;) {
      ASSERT_TRUE(engine::set_golden_option(input->options, name, value)) << path;
    }
    const auto files = to_golden(*input);
    ASSERT_TRUE(files) << path;
    EXPECT_EQ(files->front().text, read_file(path));
    int answers = 0;
    for (const GoldenFile& file : *files) {
      const bool is_answer = file.suffix.starts_with(".openai_chat.") || file.suffix == ".summary";
      if (!is_answer) continue;  // requests and policies are hand-written, in any order
      EXPECT_EQ(file.text, beside(file.suffix)) << path << " " << file.suffix;
      ++answers;
    }
    EXPECT_EQ(answers, 3);
    ++cases;
  }
  EXPECT_GT(cases, 30);
}

TEST(ReplayGolden, keeps_of_the_request_what_shapes_the_answer) {
  ReplayCase input = replay_case(streamed());
  input.options.dialect_is_default = true;
  input.options.commit = Commit::eager;
  input.options.reasoning_open = true;
  input.options.policy.stop_after_tools = StopAfterTools::first;
  const auto files = to_golden(input);
  ASSERT_TRUE(files);
  const auto find = [&](std::string_view suffix) {
    for (const GoldenFile& file : *files) {
      if (file.suffix == suffix) return file.text;
    }
    return std::string("missing");
  };
  EXPECT_EQ(
      find(".request.json"),
      "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}\n");
  EXPECT_EQ(find(".policy"),
            "dialect hermes\ndialect_is_default true\ncommit eager\nreasoning_open true\n"
            "stop_after_tools first\n");
  EXPECT_THAT(find(".openai_chat.sse"), HasSubstr("\"id\":\"chatcmpl-golden\""));
  EXPECT_THAT(find(".summary"), HasSubstr("finish stop"));
}

TEST(ReplayGolden, writes_no_policy_that_is_the_usual_one) {
  ReplayCase input = replay_case(streamed());
  const auto policy = [&] {
    const auto files = to_golden(input);
    for (const GoldenFile& file : *files) {
      if (file.suffix == ".policy") return file.text;
    }
    return std::string("none");
  };
  EXPECT_EQ(policy(), "dialect hermes\n");
  input.options.commit = Commit::whole_call;
  EXPECT_EQ(policy(), "dialect hermes\ncommit whole_call\n");
  input.options.commit.reset();
  input.options.dialect = nullptr;
  input.options.dialect_is_default = true;
  EXPECT_EQ(policy(), "none");
}

TEST(ReplayGolden, writes_a_request_as_a_person_would) {
  const std::string base = source_path("golden/wire/openai_chat/");
  for (const std::string name : {"two_choices", "client_uses_functions", "usage_not_asked"}) {
    const std::string request = read_file(base + name + ".request.json");
    auto input = to_replay_case(read_file(base + name + ".sse"), "openai_chat", request);
    ASSERT_TRUE(input) << name;
    const auto files = to_golden(*input);
    ASSERT_TRUE(files) << name;
    EXPECT_EQ(files->at(1).suffix, ".request.json");
    EXPECT_EQ(files->at(1).text, request);
  }
}

TEST(ReplayGolden, refuses_a_turn_without_an_answer) {
  CaptureRecord record = streamed();
  begin_attempt(record, 500);
  add(record, Direction::upstream_in, "oops");
  EXPECT_FALSE(to_golden(replay_case(record)));
}

}  // namespace
}  // namespace callgate::replay::replay_case_test
