#include "capture/capture_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::server::capture_format_test {
namespace {

using Kind = CaptureLine::Kind;
using testing::HasSubstr;

CaptureRecord sample() {
  CaptureRecord record{.version = "0.1.0",
                       .request_id = "req_1",
                       .time_ms = 1'760'000'000'000,
                       .model = "m",
                       .protocol = "openai_chat",
                       .end = "completed"};
  record.pipeline = CapturedPipeline{.wire = "openai_chat",
                                     .protocol = "openai_chat",
                                     .dialect = "kimi_k2",
                                     .dialect_is_default = true,
                                     .commit = "eager",
                                     .reasoning_open = true,
                                     .response_id = "chatcmpl-1",
                                     .created = 1'700'000'000,
                                     .id_seed = 18'446'744'073'709'551'615u,
                                     .max_frame = 1,
                                     .max_body = 2,
                                     .max_held_back = 3,
                                     .policy = {.stop_after_tools = StopAfterTools::burst,
                                                .suppress_tail_after_tools = true,
                                                .tool_call_max = 4,
                                                .call_whitespace = false,
                                                .dedupe_calls = true,
                                                .undeclared_tools = UndeclaredTools::drop_with_note,
                                                .invalid_arguments = InvalidArguments::raw,
                                                .reasoning = ReasoningForm::think_tags,
                                                .reasoning_coalesce_bytes = 9,
                                                .call_id_style = CallIdStyle::random,
                                                .output = CallOutput::xml_only,
                                                .error_after_tools = ErrorAfterTools::tool_calls,
                                                .estimate_usage = false,
                                                .trailing_counters = true,
                                                .split = TextSplit::sentences,
                                                .split_min_characters = 7},
                                     .elapsed_ms = std::vector<std::int64_t>{3, 12}};
  const CapturedHead asked{
      .method = "POST", .path = "/chat", .upstream = "u", .headers = {{"a", "1"}, {"b", "\"2\""}}};
  const CapturedHead answered{.status = 200, .headers = {}};
  const Error error{.code = ErrorCode::timed_out,
                    .message = "late",
                    .param = "p",
                    .type = "t",
                    .upstream_code = "c",
                    .status = 504};
  record.lines = {
      {.time_us = 0, .direction = Direction::client_in, .kind = Kind::bytes, .bytes = "{}"},
      {.time_us = 1, .direction = Direction::upstream_out, .kind = Kind::head, .head = asked},
      {.time_us = 2, .direction = Direction::upstream_in, .kind = Kind::head, .head = answered},
      {.time_us = 3, .direction = Direction::upstream_in, .bytes = "data: \xC3"},
      {.time_us = 4, .direction = Direction::upstream_in, .bytes = std::string("\xA9\n\0", 3)},
      {.time_us = 5, .direction = Direction::client_out, .kind = Kind::comment, .bytes = ": k\n\n"},
      {.time_us = 6, .direction = Direction::upstream_in, .kind = Kind::failed, .error = error},
      {.time_us = 7, .direction = Direction::upstream_in, .kind = Kind::cut},
      {.time_us = 8, .direction = Direction::upstream_in, .kind = Kind::closed},
      {.time_us = 9, .direction = Direction::upstream_in, .kind = Kind::released},
      {.time_us = 10, .direction = Direction::upstream_in, .kind = Kind::round},
  };
  record.rounds.push_back({*record.pipeline, "{\"model\":\"m\"}"});
  return record;
}

TEST(CaptureFormat, reads_back_what_it_prints) {
  CaptureRecord record = sample();
  record.truncated = true;
  const std::string text = print_capture(record);
  const auto read = read_capture(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(print_capture(*read), text);
  EXPECT_EQ(read->pipeline, record.pipeline);
  EXPECT_EQ(read->rounds, record.rounds);
  EXPECT_EQ(read->request_id, "req_1");
  EXPECT_EQ(read->end, "completed");
  EXPECT_TRUE(read->truncated);
  ASSERT_EQ(read->lines.size(), record.lines.size());
  for (std::size_t i = 0; i < record.lines.size(); ++i) {
    EXPECT_EQ(read->lines[i].time_us, record.lines[i].time_us);
    EXPECT_EQ(read->lines[i].direction, record.lines[i].direction);
    EXPECT_EQ(read->lines[i].kind, record.lines[i].kind);
    EXPECT_EQ(read->lines[i].head, record.lines[i].head);
    EXPECT_EQ(read->lines[i].bytes, record.lines[i].bytes);
    EXPECT_EQ(read->lines[i].error.message, record.lines[i].error.message);
    EXPECT_EQ(read->lines[i].error.code, record.lines[i].error.code);
  }
}

TEST(CaptureFormat, writes_bytes_that_are_not_whole_characters_as_base64) {
  const std::string text = print_capture(sample());
  EXPECT_THAT(text, HasSubstr("\"base64\":\"ZGF0YTogww==\""));
  EXPECT_THAT(text, HasSubstr("\"data\":\"{}\""));
}

TEST(CaptureFormat, reads_a_file_without_its_last_line_and_skips_what_it_does_not_know) {
  const auto read = read_capture(
      "{\"capture\":1,\"later\":[1]}\n{\"t\":1,\"dir\":\"client_in\",\"data\":\"x\",\"new\":{}}\n");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->end, "");
  EXPECT_FALSE(read->pipeline);
  ASSERT_EQ(read->lines.size(), 1u);
  EXPECT_EQ(read->lines[0].bytes, "x");
}

TEST(CaptureFormat, names_the_line_that_is_wrong) {
  const std::string head = "{\"capture\":1}\n";
  const std::pair<std::string, std::string_view> kWrong[] = {
      {"", "line 1"},
      {"{}", "line 1"},
      {"{\"capture\":2}", "format 1"},
      {"data: {}", "line 1"},
      {"{\"capture\":1,\"pipeline\":{\"policy\":{\"stop\":\"x\"}}}", "a policy"},
      {"{\"capture\":1,\"pipeline\":{\"id_seed\":-1}}", "whole number"},
      {head + "{\"t\":1}", "line 2"},
      {head + "{\"t\":1,\"dir\":\"up\",\"data\":\"\"}", "client_in"},
      {head + "{\"t\":1,\"dir\":\"client_in\",\"data\":\"\",\"cut\":true}", "what passed"},
      {head + "{\"t\":1,\"dir\":\"client_in\",\"base64\":\"x\"}", "base64"},
      {head + "{\"t\":1,\"dir\":\"client_in\",\"head\":{\"headers\":[[\"a\"]]}}", "[name, value]"},
      {head + "{\"t\":1,\"dir\":\"client_in\",\"error\":{\"code\":\"odd\"}}", "error code"},
      {head + "{\"t\":1,\"dir\":\"client_in\",\"da", "line 2"},
  };
  for (const auto& [text, message] : kWrong) {
    const auto read = read_capture(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr(std::string(message))) << text;
  }
}

TEST(CaptureFormat, has_a_word_for_every_value_of_a_policy) {
  const std::pair<std::string_view, std::string_view> kValues[] = {
      {"stop_after_tools", "off"},
      {"stop_after_tools", "first"},
      {"stop_after_tools", "burst"},
      {"suppress_tail_after_tools", "true"},
      {"tool_call_max", "0"},
      {"call_whitespace", "false"},
      {"dedupe_calls", "true"},
      {"undeclared_tools", "pass"},
      {"undeclared_tools", "text"},
      {"undeclared_tools", "drop_with_note"},
      {"invalid_arguments", "pass"},
      {"invalid_arguments", "repair"},
      {"invalid_arguments", "raw"},
      {"reasoning", "reasoning_content"},
      {"reasoning", "reasoning"},
      {"reasoning", "think_tags"},
      {"reasoning", "hide"},
      {"reasoning_coalesce_bytes", "64"},
      {"call_id_style", "native"},
      {"call_id_style", "random"},
      {"output", "tool_calls"},
      {"output", "json"},
      {"output", "xml"},
      {"output", "xml_only"},
      {"error_after_tools", "report"},
      {"error_after_tools", "tool_calls"},
      {"estimate_usage", "false"},
      {"trailing_counters", "true"},
      {"split", "none"},
      {"split", "sentences"},
      {"split_min_characters", "0"},
  };
  for (const auto& [name, value] : kValues) {
    PolicyOptions options;
    ASSERT_TRUE(set_policy(options, name, value)) << name << " " << value;
    PolicyOptions again;
    for_each_policy(options, [&](std::string_view known, std::string_view word) {
      EXPECT_TRUE(set_policy(again, known, word)) << known << " " << word;
    });
    EXPECT_EQ(again, options) << name << " " << value;
  }
}

TEST(CaptureFormat, is_told_from_upstream_bytes_by_its_first_member) {
  EXPECT_TRUE(looks_like_capture(print_capture(sample())));
  EXPECT_FALSE(looks_like_capture("{\"id\":\"x\"}"));
  EXPECT_FALSE(looks_like_capture("data: {}"));
}

TEST(CaptureFormat, prints_joined_bytes_cut_as_they_came) {
  CaptureRecord record;
  CaptureLine line{.time_us = 5, .direction = Direction::upstream_in, .bytes = "abcdef"};
  line.pieces = {{2, 5}, {6, 9}};
  record.lines.push_back(line);
  auto read = read_capture(print_capture(record));
  ASSERT_TRUE(read);
  part_pieces(record);
  const CaptureRecord& again = *read;
  for (const CaptureRecord* each : {&again, static_cast<const CaptureRecord*>(&record)}) {
    ASSERT_EQ(each->lines.size(), 2u);
    EXPECT_EQ(each->lines[0].bytes, "ab");
    EXPECT_EQ(each->lines[0].time_us, 5);
    EXPECT_EQ(each->lines[1].bytes, "cdef");
    EXPECT_EQ(each->lines[1].time_us, 9);
    EXPECT_EQ(each->lines[1].direction, Direction::upstream_in);
  }
}

}  // namespace
}  // namespace callgate::server::capture_format_test
