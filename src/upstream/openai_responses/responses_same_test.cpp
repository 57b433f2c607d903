#include "upstream/openai_responses/responses_same.h"

#include <gtest/gtest.h>

#include "chat/body_mark.h"
#include "chat/content.h"
#include "upstream/decoder_testing.h"
#include "upstream/openai_responses/openai_responses.h"

namespace callgate::upstream::responses_same_test {
namespace {

// As the protocol decodes it.
Request of_client(std::string body) {
  Request request{.model = "m"};
  request.messages.push_back({.role = Role::user, .content = text_content("hi")});
  request.tools.push_back({.name = "find"});
  request.origin = "openai_responses";
  request.body.text = std::move(body);
  mark_body(request);
  return request;
}

std::string sent(const Request& request) {
  return kOpenaiResponses.encode(request, {.model = "up", .stream = true})->body;
}

constexpr std::string_view kBody =
    R"({"model":"m","new_thing":{"b" : 1,"a":[2]},"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","x":1}],"phase":"p"},)"
    R"({"type":"brand_new","y":{ "z":1 }}],"tools":[{"type":"function","name":"find","q":7},{"type":"holo_search","depth":2}],)"
    R"("tool_choice":{"type":"holo_search"},"truncation":"auto","include":["file_search_call.results"],"stream":false,)"
    R"("store":true,"previous_response_id":"resp_1","background":false,"text":{"format":{"type":"text"},"new":1}})";

TEST(SameFormat, passes_on_what_it_does_not_know) {
  EXPECT_EQ(
      sent(of_client(std::string(kBody))),
      R"({"model":"up","new_thing":{"b" : 1,"a":[2]},"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","x":1}],"phase":"p"},)"
      R"({"type":"brand_new","y":{ "z":1 }}],"tools":[{"type":"function","name":"find","q":7},{"type":"holo_search","depth":2}],)"
      R"("tool_choice":{"type":"holo_search"},"truncation":"auto","text":{"format":{"type":"text"},"new":1},"store":false,)"
      R"("include":["file_search_call.results","reasoning.encrypted_content"],"stream":true})");
}

TEST(SameFormat, adds_what_came_after_the_body) {
  Request request =
      of_client(R"({"model":"m","input":"hi","tools":[{"type":"function","name":"find","q":7}]})");
  request.messages.push_back(
      {.role = Role::assistant, .calls = {{.id = "a", .name = "find", .arguments = "{}"}}});
  request.messages.push_back(
      {.role = Role::tool, .content = text_content("1"), .tool_call_id = "a"});
  request.tools.push_back({.name = "clock"});
  EXPECT_EQ(
      sent(request),
      R"({"model":"up","input":[{"type":"message","role":"user","content":"hi"},{"type":"function_call","call_id":"a","name":"find","arguments":"{}"},)"
      R"({"type":"function_call_output","call_id":"a","output":"1"}],"tools":[{"type":"function","name":"find","q":7},)"
      R"({"type":"function","name":"clock","parameters":{"type":"object","properties":{}},"strict":false}],)"
      R"("store":false,"include":["reasoning.encrypted_content"],"stream":true})");
}

TEST(SameFormat, writes_anew_what_was_changed) {
  Request request = of_client(
      R"({"model":"m","instructions":"x","input":"hi","temperature":1,"tools":[{"type":"function","name":"find"}]})");
  request.messages[0].content = text_content("ho");
  request.tools.clear();
  request.extra.push_back({"temperature", {"0"}});
  EXPECT_EQ(
      sent(request),
      R"({"model":"up","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"ho"}]}],"temperature":0,)"
      R"("store":false,"include":["reasoning.encrypted_content"],"stream":true})");
}

TEST(SameFormat, sends_reasoning_without_the_ids_of_callgate) {
  EXPECT_EQ(
      sent(of_client(
          R"({"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},{"type":"message","id":"msg_1","role":"user","content":"hi"}]})")),
      R"({"model":"up","input":[{"type":"reasoning","summary":[],"encrypted_content":"gAAA"},{"type":"message","id":"msg_1","role":"user","content":"hi"}],)"
      R"("tools":[{"type":"function","name":"find","parameters":{"type":"object","properties":{}},"strict":false}],)"
      R"("store":false,"include":["reasoning.encrypted_content"],"stream":true})");
}

TEST(SameFormat, tells_of_items_that_have_no_events) {
  Request request = of_client(R"({"model":"m","input":"hi"})");
  request.client.aliases.push_back({.function = "fs__read", .name = "read", .space = "fs"});
  const auto decoder = kOpenaiResponses.make_decoder(request);
  LoggedChoice choice;
  const auto push = [&](std::string_view data) {
    SseFrame frame;
    frame.data = data;
    decoder->push(frame, choice);
  };
  push(
      R"({"type":"response.output_item.done","output_index":0,"item":{"type":"web_search_call","id":"ws_1","n":1}})");
  push(
      R"({"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"a","name":"read","namespace":"fs","arguments":"","k":2}})");
  push(
      R"({"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"a","name":"read","namespace":"fs","arguments":"{}","k":2}})");
  push(R"({"type":"response.completed","response":{"status":"completed","output":[],"extra":3}})");
  EXPECT_EQ(print(choice.log().events()),
            "field openai_responses.item {\"type\":\"web_search_call\",\"id\":\"ws_1\",\"n\":1}\n"
            "field openai_responses.item_added "
            "{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":\"a\",\"name\":\"read\","
            "\"namespace\":"
            "\"fs\",\"arguments\":\"\",\"k\":2}\n"
            "call 0 fs__read id=a\n"
            "args 0 {}\nend 0 complete\n"
            "field openai_responses.response {\"status\":\"completed\",\"output\":[],\"extra\":3}\n"
            "finish tool_calls\n");
}

}  // namespace
}  // namespace callgate::upstream::responses_same_test
