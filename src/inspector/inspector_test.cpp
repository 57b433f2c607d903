#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspector/live_stream.h"
#include "inspector/page_assets.h"
#include "inspector/replay_request.h"
#include "inspector/smoke_check.h"
#include "inspector/turn_view.h"

namespace callgate::server::inspector_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(LiveStream, continues_only_in_the_same_life_of_the_gateway) {
  EXPECT_EQ(read_live_id("abc-17", "abc"), 17u);
  EXPECT_FALSE(read_live_id("abd-17", "abc"));
  EXPECT_FALSE(read_live_id("abc-", "abc"));
  EXPECT_FALSE(read_live_id("abc-1x", "abc"));
  EXPECT_FALSE(read_live_id("abc", "abc"));
  EXPECT_FALSE(read_live_id("", "abc"));
}

TEST(LiveStream, writes_a_row_as_one_frame) {
  store::RequestRecord record;
  record.id = "req\n1";
  record.model = "m";
  std::string out;
  append_live_row(out,
                  {.number = 3,
                   .record = std::make_shared<const store::RequestRecord>(record),
                   .progress = {.phase = "waiting", .attempts = 2}},
                  "e");
  EXPECT_THAT(out, testing::StartsWith("id: e-3\nevent: turn\ndata: {\"id\":\"req\\n1\""));
  EXPECT_THAT(out, HasSubstr(R"("state":"running")"));
  EXPECT_THAT(out, HasSubstr(R"("phase":"waiting")"));
  EXPECT_THAT(out, testing::EndsWith("}\n\n"));
}

TEST(PageAssets, are_compressed_and_have_strong_tags) {
  const PageAsset* index = find_page_asset("/");
  ASSERT_NE(index, nullptr);
  EXPECT_THAT(plain_bytes(*index), HasSubstr("<!doctype html>"));
  EXPECT_EQ(entity_tag(*index, false).front(), '"');
  EXPECT_NE(entity_tag(*index, false), entity_tag(*index, true));
  const PageAsset abc{.path = "/", .type = "text/plain", .bytes = "abc"};
  EXPECT_EQ(entity_tag(abc, false), "\"ba7816bf8f01cfea414140de\"") << "the hash of the bytes";
  EXPECT_EQ(entity_tag(abc, true), "\"ba7816bf8f01cfea414140de-gz\"");
  EXPECT_EQ(find_page_asset("/inspector/none"), nullptr);
  std::size_t bytes = 0;
  for (const PageAsset& asset : page_assets()) bytes += asset.bytes.size();
  EXPECT_LE(bytes, 100u * 1024);
}

TEST(PageAssets, are_for_clients_that_ask_for_html) {
  EXPECT_TRUE(takes("text/html,application/xhtml+xml,*/*;q=0.8", "text/html"));
  EXPECT_TRUE(takes("application/json, Text/HTML;q=0.5", "text/html"));
  EXPECT_FALSE(takes("*/*", "text/html"));
  EXPECT_FALSE(takes("", "text/html"));
  EXPECT_FALSE(takes("text/html;q=0", "text/html"));
  EXPECT_TRUE(takes("br, gzip", "gzip"));
  EXPECT_FALSE(takes("br, gzip; q=0", "gzip"));
}

TEST(ReplayRequest, names_what_is_wrong) {
  const auto message = [](std::string_view body) {
    const auto question = read_replay_question(body);
    return question ? std::string() : question.error().message;
  };
  EXPECT_THAT(message("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(message("{}"), HasSubstr("request: missing"));
  EXPECT_THAT(message(R"({"base64":"!"})"), HasSubstr("base64"));
  EXPECT_THAT(message(R"({"bytes":"x","tools":[{}]})"), HasSubstr("tools"));
  const auto answer = [](std::string_view body) {
    const auto done = answer_replay(*read_replay_question(body), std::nullopt);
    return done ? *done : done.error().message;
  };
  EXPECT_THAT(answer(R"({"bytes":"x","split":"odd"})"), HasSubstr("split: expected"));
  EXPECT_THAT(answer(R"({"bytes":"x","dialect":"odd"})"), HasSubstr("there is no dialect"));
  EXPECT_THAT(answer(R"({"bytes":"x","wire":"odd"})"), HasSubstr("unknown wire format"));
  EXPECT_THAT(answer(R"({"bytes":"x","protocol":"odd"})"), HasSubstr("unknown protocol"));
  EXPECT_THAT(answer(R"({"bytes":"x","policy":{"odd":"1"}})"), HasSubstr("policy.odd"));
}

TEST(ReplayRequest, replays_given_bytes_in_another_dialect) {
  constexpr std::string_view kBody =
      R"({"bytes":"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"<tool_call>{\\\"name\\\": \\\"find\\\", \\\"arguments\\\": {}}</tool_call>\"}}]}\n\n",)"
      R"("tools":[{"name":"find"}],"dialect":"hermes"})";
  const auto answer = answer_replay(*read_replay_question(kBody), std::nullopt);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(*answer, HasSubstr(R"("type":"call","call":0,"name":"find")"));
  EXPECT_THAT(*answer, HasSubstr(R"("dialect":"hermes")"));
}

TEST(ParseRequest, gives_every_dialects_reading) {
  const auto question = read_parse_question(
      R"({"text":"<tool_call>{\"name\": \"find\", \"arguments\": {}}</tool_call>","tools":[{"name":"find"}]})");
  ASSERT_TRUE(question);
  const auto answer = answer_parse(*question);
  ASSERT_TRUE(answer);
  EXPECT_THAT(*answer, HasSubstr(R"("ranked":["granite4","hermes")"));
  for (const Dialect* dialect : dialect::all()) {
    const std::string name = "{\"dialect\":\"" + std::string(dialect->name) + "\"";
    EXPECT_THAT(*answer, dialect->name == "native"
                             ? testing::Matcher<std::string>(Not(HasSubstr(name)))
                             : HasSubstr(name));
  }
  EXPECT_FALSE(read_parse_question("{\"text\":\"" + std::string(kMaxParsedText + 1, 'x') + "\"}"));
}

TEST(SmokeCheck, asks_this_gateway_in_every_protocol) {
  const auto path = [](std::string_view query) {
    const auto question = read_smoke_question(query);
    return question ? print_smoke_request(*question) : question.error().message;
  };
  EXPECT_THAT(path("model=a%20b"), HasSubstr(R"("path":"/v1/chat/completions")"));
  EXPECT_THAT(path("model=a%20b"), HasSubstr(R"({\"model\":\"a b\")"));
  EXPECT_THAT(path("model=m&protocol=gemini"),
              HasSubstr(R"("/v1beta/models/m:streamGenerateContent?alt=sse")"));
  EXPECT_THAT(path("model=m&protocol=ollama"), HasSubstr(R"("path":"/api/chat")"));
  EXPECT_THAT(path("protocol=chat"), HasSubstr("model: missing"));
  EXPECT_THAT(path("model=m&protocol=odd"), HasSubstr("expected chat|"));
}

TEST(SmokeCheck, holds_an_answer_to_its_rules) {
  const auto verdicts = [](std::string_view body) {
    const auto answer = read_smoke_answer(body);
    return answer ? print_smoke_verdicts(*answer) : answer.error().message;
  };
  EXPECT_THAT(verdicts(R"({"status":503,"content_type":"text/event-stream","base64":""})"),
              HasSubstr(R"({"rule":"status_ok","verdict":"fail","seen":"503"})"));
  EXPECT_THAT(verdicts(R"({"status":200,"content_type":"text/event-stream","base64":""})"),
              HasSubstr(R"({"rule":"status_ok","verdict":"pass")"));
  EXPECT_THAT(verdicts(R"({"base64":"!"})"), HasSubstr("base64: not valid"));
  EXPECT_THAT(verdicts(R"({"protocol":"odd"})"), HasSubstr("protocol: odd"));
  EXPECT_THAT(verdicts("[]"), HasSubstr("not a JSON object"));
}

CaptureJob recorded() {
  CaptureJob job;
  job.secrets = std::make_shared<std::vector<std::string>>(std::vector<std::string>{"sk-secret-1"});
  job.record.request_id = "req_1";
  job.record.model = "m";
  job.record.protocol = "openai_chat";
  job.record.pipeline = CapturedPipeline{.wire = "openai_chat",
                                         .protocol = "openai_chat",
                                         .dialect = "auto",
                                         .max_frame = 1 << 20,
                                         .max_body = 1 << 20,
                                         .max_held_back = 1 << 20};
  const auto add = [&](Direction direction, CaptureLine line) {
    line.direction = direction;
    job.record.lines.push_back(std::move(line));
  };
  using Kind = CaptureLine::Kind;
  add(Direction::upstream_out, {.kind = Kind::head, .head = {.upstream = "main"}});
  add(Direction::upstream_in, {.time_us = 5, .kind = Kind::head, .head = {.status = 200}});
  CaptureLine bytes{.time_us = 10, .kind = Kind::bytes};
  bytes.bytes = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"sk-secret-1\"}}]}\n\n";
  bytes.pieces = {{20, 10}, {bytes.bytes.size(), 30}};
  add(Direction::upstream_in, std::move(bytes));
  add(Direction::client_in,
      {.kind = Kind::bytes,
       .bytes = R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})"});
  return job;
}

TEST(TurnView, shows_a_running_turn_without_its_secrets) {
  const std::string turn = print_turn(recorded());
  EXPECT_THAT(turn, HasSubstr(R"("state":"running")"));
  EXPECT_THAT(turn, HasSubstr(R"("upstream":"main","asked":0,"head":5,"first":10,"last":30)"));
  EXPECT_THAT(turn, HasSubstr(R"("type":"text","text":"***********")"));
  EXPECT_THAT(turn, Not(HasSubstr("sk-secret")));
}

TEST(TurnView, shows_a_turn_that_has_no_answer_yet) {
  CaptureJob job = recorded();
  job.record.lines.resize(1);
  EXPECT_THAT(print_turn(std::move(job)), HasSubstr(R"("missing":)"));
}

}  // namespace
}  // namespace callgate::server::inspector_test
