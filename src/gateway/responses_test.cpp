// Responses through the whole gateway: streamed, whole, stored, gone on from, and in the background.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_testing.h"
#include "json/member.h"
#include "response/response_events.h"

namespace callgate::server::responses_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string chat_chunk(std::string_view delta, std::string_view reason = "null") {
  return R"(data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":)" +
         std::string(delta) + R"(,"finish_reason":)" + std::string(reason) + "}]}\n\n";
}
std::string said(std::string_view words) {
  return chat_chunk(R"({"role":"assistant","content":")" + std::string(words) + "\"}");
}
const std::string kEnd = chat_chunk("{}", "\"stop\"") + "data: [DONE]\n\n";

class Responses : public testing::Test {
 protected:
  Responses()
      : model_(loop_),
        gateway_(loop_, "[[upstream]]\nname = \"a\"\nurl = \"" + model_.url() +
                            "\"\n[[model]]\nname = \"m\"\nupstream = \"a\"\nretries = 0\n"
                            "[[key]]\nname = \"ann\"\nsecret = \"ann-secret-0123456789\"\n"
                            "[[key]]\nname = \"bob\"\nsecret = \"bob-secret-0123456789\"\n") {}

  void model_says(std::string_view words) { model_.then({.pieces = {said(words), kEnd}}); }

  TestAnswer ask(std::string_view method, std::string_view path, std::string_view body = {},
                 std::string_view who = "ann") {
    TestAnswer answer;
    gateway_.run(exchange(method, path, body, who, answer));
    return answer;
  }
  TestAnswer create(std::string_view body) { return ask("POST", "/v1/responses", body); }

  net::Task<> exchange(std::string_view method, std::string_view path, std::string_view body,
                       std::string_view who, TestAnswer& answer) {
    net::ClientExchange asked(gateway_.client(), gateway_.target());
    net::ClientRequest request{.method = method, .path = path, .headers = {}, .body = body};
    request.headers.add("authorization", "Bearer " + std::string(who) + "-secret-0123456789");
    if (!body.empty()) request.headers.add("content-type", "application/json");
    const auto sent = co_await asked.send(request);
    if (!sent) co_return;
    answer.status = asked.status();
    for (const net::Header header : asked.headers()) {
      answer.headers.emplace_back(header.name, header.value);
    }
    auto all = co_await asked.read_all(std::size_t{16} << 20);
    if (all) answer.body = std::move(*all);
  }

  static std::string id_of(const TestAnswer& answer) {
    return json::member_text(answer.body, "id");
  }

  net::Loop loop_;
  FakeServer model_;
  TestGateway gateway_;
};

TEST_F(Responses, answers_in_a_stream) {
  model_says("Hello");
  const TestAnswer answer = create(R"({"model":"m","input":"hi","stream":true})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("content-type"), "text/event-stream; charset=utf-8");
  std::string types;
  each_frame(answer.body, [&](std::string_view type, std::string_view data) {
    EXPECT_EQ(json::member_text(data, "type"), type);
    types.append(type).push_back('\n');
  });
  EXPECT_EQ(types,
            "response.created\nresponse.in_progress\nresponse.output_item.added\n"
            "response.content_part.added\nresponse.output_text.delta\nresponse.output_text.done\n"
            "response.content_part.done\nresponse.output_item.done\nresponse.completed\n");
}

TEST_F(Responses, can_be_asked_for_again_by_their_key_alone) {
  model_says("Hello");
  const TestAnswer made = create(R"({"model":"m","input":"hi"})");
  ASSERT_EQ(made.status, 200) << made.body;
  const std::string path = "/v1/responses/" + id_of(made);
  const TestAnswer again = ask("GET", path);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, made.body);
  EXPECT_EQ(ask("GET", path, {}, "bob").status, 404);
  EXPECT_EQ(ask("DELETE", path, {}, "bob").status, 404);
  const TestAnswer items = ask("GET", path + "/input_items");
  EXPECT_THAT(items.body, HasSubstr(R"("role":"user","content":"hi")"));
  const TestAnswer gone = ask("DELETE", path);
  EXPECT_EQ(gone.body, R"({"id":")" + id_of(made) + R"(","object":"response","deleted":true})");
  const TestAnswer missing = ask("GET", path);
  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(missing.body, HasSubstr("response_not_found"));
}

TEST_F(Responses, are_not_kept_where_the_client_says_so) {
  model_says("Hello");
  const TestAnswer made = create(R"({"model":"m","input":"hi","store":false})");
  EXPECT_EQ(ask("GET", "/v1/responses/" + id_of(made)).status, 404);
}

TEST_F(Responses, name_the_member_that_is_wrong) {
  const TestAnswer unstored =
      create(R"({"model":"m","input":"hi","background":true,"store":false})");
  EXPECT_EQ(unstored.status, 400);
  EXPECT_THAT(unstored.body, HasSubstr(R"("param":"background")"));
  model_says("Hello");
  const TestAnswer made = create(R"({"model":"m","input":"hi"})");
  const TestAnswer followed = ask("GET", "/v1/responses/" + id_of(made) + "?stream=true");
  EXPECT_EQ(followed.status, 400);
  EXPECT_THAT(followed.body, HasSubstr(R"("param":"stream")"));
  EXPECT_THAT(followed.body, HasSubstr("only a response with background: true has a stream"));
  for (const auto& [query, parameter] : {std::pair{"?stream=maybe", "stream"},
                                         {"/input_items?order=up", "order"},
                                         {"/input_items?after=nope", "after"},
                                         {"/input_items?limit=0", "limit"}}) {
    const TestAnswer answer = ask("GET", "/v1/responses/" + id_of(made) + query);
    EXPECT_EQ(answer.status, 400) << query;
    EXPECT_THAT(answer.body, HasSubstr("\"param\":\"" + std::string(parameter) + "\""));
  }
}

TEST_F(Responses, go_on_from_each_other) {
  std::string previous;
  for (const std::string_view words : {"one", "two", "three"}) {
    model_says(words);
    const std::string link =
        previous.empty() ? "" : R"(,"previous_response_id":")" + previous + "\"";
    const TestAnswer made =
        create(R"({"model":"m","stream":true,"instructions":"Be )" + std::string(words) +
               R"(.","input":"after )" + std::string(words) + "\"" + link + "}");
    previous = json::member_text(final_response(made.body), "id");
    ASSERT_NE(previous, "");
  }
  const std::string& sent = model_.asked().back().body;
  EXPECT_THAT(
      sent,
      HasSubstr(
          R"("messages":[{"role":"system","content":"Be three."},{"role":"user","content":"after one"},)"
          R"({"role":"assistant","content":"one"},{"role":"user","content":"after two"},)"
          R"({"role":"assistant","content":"two"},{"role":"user","content":"after three"}])"));
  const TestAnswer lost =
      create(R"({"model":"m","input":"x","previous_response_id":"resp_nobody"})");
  EXPECT_EQ(lost.status, 400);
  EXPECT_THAT(lost.body, HasSubstr("previous_response_not_found"));
}

TEST_F(Responses, may_name_items_of_earlier_ones) {
  model_says("Hello");
  const TestAnswer made = create(R"({"model":"m","input":"hi"})");
  const std::string_view output = json::given_member(made.body, "output");
  const std::string item = json::member_text(output.substr(1, output.size() - 2), "id");
  model_says("Again");
  const TestAnswer next = create(
      R"({"model":"m","input":[{"role":"user","content":"hi"},{"type":"item_reference","id":")" +
      item + R"("},{"role":"user","content":"more"}]})");
  EXPECT_EQ(next.status, 200) << next.body;
  EXPECT_THAT(model_.asked().back().body, HasSubstr(R"({"role":"assistant","content":"Hello"})"));
  const TestAnswer lost =
      create(R"({"model":"m","input":[{"type":"item_reference","id":"msg_nobody_0"}]})");
  EXPECT_EQ(lost.status, 404);
}

TEST_F(Responses, refuse_results_of_calls_that_nobody_made) {
  model_says("Hello");
  const TestAnswer made = create(R"({"model":"m","input":"hi"})");
  const TestAnswer next = create(
      R"({"model":"m","input":[{"type":"function_call_output","call_id":"nope","output":"1"}],"previous_response_id":")" +
      id_of(made) + "\"}");
  EXPECT_EQ(next.status, 400);
  EXPECT_THAT(next.body, HasSubstr("No tool call found"));
}

TEST_F(Responses, refuse_results_that_come_before_their_call) {
  const std::string call = R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"})";
  const std::string result = R"({"type":"function_call_output","call_id":"c","output":"1"})";
  const TestAnswer wrong = create(R"({"model":"m","input":[)" + result + "," + call + "]}");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("No tool call found for function call output with call_id c."));
  model_says("Hello");
  EXPECT_EQ(create(R"({"model":"m","input":[)" + call + "," + result + "]}").status, 200);
  // Who knows what a summary of somebody else's was made of.
  model_says("Hello");
  const std::string sealed = R"({"type":"compaction","encrypted_content":"gAAA"})";
  EXPECT_EQ(create(R"({"model":"m","input":[)" + sealed + "," + result + "]}").status, 200);
}

TEST_F(Responses, are_gone_when_they_are_deleted_while_they_run) {
  net::Signal never(loop_);
  model_.then({.pieces = {said("Hello"), said(" there"), kEnd}, .after_first = &never});
  std::string path;
  const auto story = [&]() -> net::Task<> {
    TestAnswer made;
    co_await exchange("POST", "/v1/responses", R"({"model":"m","input":"hi","background":true})",
                      "ann", made);
    path = "/v1/responses/" + json::member_text(made.body, "id");
    TestAnswer deleted;
    co_await exchange("DELETE", path, {}, "ann", deleted);
    EXPECT_EQ(deleted.status, 200) << deleted.body;
    co_await loop_.sleep(net::Millis(50));  // its end would be stored by now
  };
  gateway_.run(story());
  EXPECT_EQ(ask("GET", path).status, 404);
}

constexpr std::string_view kDateTool =
    R"("tools":[{"type":"custom","name":"date","format":{"type":"grammar","syntax":"regex","definition":"[0-9]{4}"}}])";
std::string calls_date(std::string_view input) {
  return chat_chunk(
             R"({"role":"assistant","tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"date","arguments":"{\"input\":\")" +
             std::string(input) + R"(\"}"}}]})") +
         chat_chunk("{}", "\"tool_calls\"") + "data: [DONE]\n\n";
}

TEST_F(Responses, say_when_a_model_breaks_the_grammar_of_a_tool) {
  const std::string asked = R"({"model":"m","input":"hi",)" + std::string(kDateTool);
  model_.then({.pieces = {calls_date("2026")}});
  const TestAnswer good = create(asked + "}");
  EXPECT_EQ(good.header("x-callgate-warning"), "");
  model_.then({.pieces = {calls_date("soon")}});
  const TestAnswer broken = create(asked + "}");
  EXPECT_THAT(broken.body, HasSubstr(R"("input":"soon")"));
  EXPECT_EQ(broken.header("x-callgate-warning"),
            "the input of a custom tool does not match its grammar");
  model_.then({.pieces = {calls_date("soon")}});
  const TestAnswer streamed = create(asked + R"(,"stream":true})");
  EXPECT_THAT(streamed.body,
              HasSubstr("\n: callgate.warning {\"warning\":\"the input of a custom tool does not "
                        "match its grammar\"}\n\n"));
}

TEST_F(Responses, say_that_a_grammar_is_not_checked) {
  model_says("Hello");
  const TestAnswer answer = create(
      R"({"model":"m","input":"hi","stream":true,"tools":[{"type":"custom","name":"p","format":{"type":"grammar","syntax":"lark","definition":"start: \"a\""}}]})");
  EXPECT_EQ(answer.header("x-callgate-warning"), "the grammar of a custom tool is not checked");
}

TEST_F(Responses, run_in_the_background) {
  net::Signal go(loop_);
  model_.then({.pieces = {said("Hello"), said(" there"), kEnd}, .after_first = &go});
  std::string id;
  std::string whole;
  std::string rest;
  const auto story = [&]() -> net::Task<> {
    TestAnswer made;
    co_await exchange("POST", "/v1/responses",
                      R"({"model":"m","input":"hi","background":true,"stream":false})", "ann",
                      made);
    EXPECT_EQ(made.status, 200);
    EXPECT_EQ(json::member_text(made.body, "status"), "queued");
    id = json::member_text(made.body, "id");
    TestAnswer running;
    co_await exchange("GET", "/v1/responses/" + id, {}, "ann", running);
    EXPECT_EQ(running.status, 200);
    go.notify();
    TestAnswer followed;
    co_await exchange("GET", "/v1/responses/" + id + "?stream=true", {}, "ann", followed);
    whole = followed.body;
    TestAnswer done;
    co_await exchange("GET", "/v1/responses/" + id + "?stream=true&starting_after=3", {}, "ann",
                      done);
    rest = done.body;
  };
  gateway_.run(story());
  EXPECT_THAT(whole, HasSubstr("response.completed"));
  EXPECT_EQ(rest, frames_after(whole, 3));
  EXPECT_THAT(rest, Not(HasSubstr("response.created")));
  const TestAnswer stored = ask("GET", "/v1/responses/" + id);
  EXPECT_EQ(json::member_text(stored.body, "status"), "completed");
  EXPECT_EQ(stored.body, final_response(whole));
}

// Whoever follows it waits for as long as it says that it is in progress.
TEST_F(Responses, fail_in_the_background_when_their_turn_throws) {
  std::string fault;
  loop_.set_fault_log([&](std::string_view what) { fault = what; });
  model_.then({.pieces = {said("Hello"), kEnd}});
  gateway_.log().throw_once();
  TestAnswer followed;
  const auto story = [&]() -> net::Task<> {
    co_await exchange("POST", "/v1/responses",
                      R"({"model":"m","input":"hi","background":true,"stream":true})", "ann",
                      followed);
    co_await loop_.sleep(net::Millis(50));  // its end would be stored by now
  };
  gateway_.run(story());
  EXPECT_EQ(fault, "the log throws");
  EXPECT_THAT(followed.body, HasSubstr("Hello"));
  const std::size_t at = followed.body.find("resp_");
  const std::string id = followed.body.substr(at, followed.body.find('"', at) - at);
  const TestAnswer stored = ask("GET", "/v1/responses/" + id);
  EXPECT_EQ(json::member_text(stored.body, "status"), "failed") << stored.body;
  EXPECT_THAT(stored.body, HasSubstr("broke off inside the gateway"));
}

TEST_F(Responses, can_be_cancelled_while_they_run) {
  net::Signal never(loop_);
  model_.then({.pieces = {said("Hello"), said(" there"), kEnd}, .after_first = &never});
  const auto story = [&]() -> net::Task<> {
    TestAnswer made;
    co_await exchange("POST", "/v1/responses", R"({"model":"m","input":"hi","background":true})",
                      "ann", made);
    const std::string path = "/v1/responses/" + json::member_text(made.body, "id");
    TestAnswer cancelled;
    co_await exchange("POST", path + "/cancel", {}, "ann", cancelled);
    EXPECT_EQ(json::member_text(cancelled.body, "status"), "cancelled") << cancelled.body;
    TestAnswer again;
    co_await exchange("POST", path + "/cancel", {}, "ann", again);
    EXPECT_EQ(again.status, 200);
  };
  gateway_.run(story());
}

TEST_F(Responses, compact_a_conversation_and_go_on) {
  model_says("We met.");
  const TestAnswer compacted = ask("POST", "/v1/responses/compact",
                                   R"({"model":"m","input":[{"role":"user","content":"hi"}]})");
  ASSERT_EQ(compacted.status, 200) << compacted.body;
  EXPECT_EQ(json::member_text(compacted.body, "object"), "response.compaction");
  const std::string output(json::given_member(compacted.body, "output"));
  EXPECT_THAT(output, HasSubstr(R"("type":"compaction")"));
  EXPECT_THAT(output, Not(HasSubstr("We met")));
  model_says("Yes.");
  const std::string items = output.substr(1, output.size() - 2);
  (void)create(R"({"model":"m","input":[)" + items + R"(,{"role":"user","content":"go on"}]})");
  EXPECT_THAT(model_.asked().back().body,
              HasSubstr(R"("Summary of the conversation so far:\nWe met.")"));
  EXPECT_EQ(ask("POST", "/v1/responses/compact", R"({"input":"hi"})").status, 400);
}

TEST_F(Responses, say_how_long_their_input_is) {
  const TestAnswer counted = ask("POST", "/v1/responses/input_tokens",
                                 R"({"model":"m","input":"How long is this sentence?"})");
  EXPECT_EQ(counted.status, 200);
  EXPECT_THAT(counted.body, HasSubstr(R"({"object":"response.input_tokens","input_tokens":)"));
}

TEST_F(Responses, fail_in_their_own_words) {
  model_.then({.pieces = {said("Hello")}, .breaks_off = true});
  const TestAnswer broken = create(R"({"model":"m","input":"hi","stream":true})");
  EXPECT_THAT(broken.body, HasSubstr("event: error\n"));
  EXPECT_EQ(json::member_text(final_response(broken.body), "status"), "failed");
  model_.then({.status = 429, .headers = {}, .pieces = {R"({"error":{"message":"slow down"}})"}});
  const TestAnswer refused = create(R"({"model":"m","input":"hi","stream":true})");
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.body, HasSubstr("slow down"));
}

}  // namespace
}  // namespace callgate::server::responses_test
