// A client and an upstream that speak the same format: what callgate does not know passes unchanged in both directions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_testing.h"

namespace callgate::server::same_format_test {
namespace {

using testing::HasSubstr;

class SameFormatTest : public testing::Test {
 protected:
  std::string config(std::string_view wire) const {
    return "[[upstream]]\nname = \"a\"\nwire = \"" + std::string(wire) + "\"\nurl = \"" +
           server_.url() + "\"\n[[model]]\nname = \"m\"\nupstream = \"a\"\nretries = 0\n";
  }

  net::Loop loop_;
  FakeServer server_{loop_};
};

// Unknown members everywhere, white space as a client may write it, and numbers that a double cannot hold.
constexpr std::string_view kGeminiContents =
    R"([ {"role":"user","parts":[{"text":"What?","new1":{"a": 1}}],"new2":12345678901234567890},
 {"role":"model","parts":[{"text":"Hm.","thought":true},{"functionCall":{"id":"x","name":"find","args":{"q" : "tea"},"new3":[]},"thoughtSignature":"CiQB","new4":0}]},
 {"role":"user","parts":[{"functionResponse":{"id":"x","name":"find","response":{"output":"green"},"new5":true}},{"text":"And?"},{"newKind":{"b":2}}]} ])";
constexpr std::string_view kGeminiDeclaration =
    R"({"name":"find","parameters":{"type":"OBJECT","properties":{"q":{"type":"STRING","new6":1}}},"behavior":"BLOCKING"})";
constexpr std::string_view kGeminiConfig =
    R"({"temperature": 0.50,"maxOutputTokens":64,"thinkingConfig":{"thinkingBudget":-1},"new7":{"c":3}})";

TEST_F(SameFormatTest, keeps_what_a_gemini_client_wrote) {
  TestGateway gateway(loop_, config("gemini"));
  server_.then(
      {.pieces = {
           R"(data: {"candidates":[{"content":{"parts":[{"executableCode":{"language":"PYTHON","code":"1"}},{"text":"Hello."}],"role":"model"},"index":0,"newA":1}],"newB":{"d": 4}})"
           "\n\n",
           R"(data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0,"groundingMetadata":{"e":5}}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5,"promptTokensDetails":[{"modality":"TEXT","tokenCount":3}]}})"
           "\n\n"}});
  const std::string body =
      R"({"systemInstruction":{"parts":[{"text":"Be brief.","new8":1}],"new9":2},"contents":)" +
      std::string(kGeminiContents) + R"(,"tools":[{"functionDeclarations":[)" +
      std::string(kGeminiDeclaration) + R"(]}],"generationConfig":)" + std::string(kGeminiConfig) +
      R"(,"safetySettings":[{"category":"x"}],"new10":{"f": [6]}})";
  const TestAnswer answer = gateway.ask(body, {}, "/v1beta/models/m:streamGenerateContent?alt=sse");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.header("x-callgate-dropped"), "");
  ASSERT_EQ(server_.asked().size(), 1U);
  const std::string& sent = server_.asked().front().body;
  // Element by element: the array itself is callgate's.
  for (
      const std::string_view part : {
          R"("systemInstruction":{"parts":[{"text":"Be brief.","new8":1}],"new9":2})",
          R"({"role":"user","parts":[{"text":"What?","new1":{"a": 1}}],"new2":12345678901234567890})",
          R"({"role":"model","parts":[{"text":"Hm.","thought":true},{"functionCall":{"id":"x","name":"find","args":{"q" : "tea"},"new3":[]},"thoughtSignature":"CiQB","new4":0}]})",
          R"({"role":"user","parts":[{"functionResponse":{"id":"x","name":"find","response":{"output":"green"},"new5":true}},{"text":"And?"},{"newKind":{"b":2}}]})",
          R"("safetySettings":[{"category":"x"}])",
          R"("new10":{"f": [6]})",
      }) {
    EXPECT_THAT(sent, HasSubstr(part));
  }
  EXPECT_THAT(sent, HasSubstr("\"functionDeclarations\":[" + std::string(kGeminiDeclaration)));
  for (const std::string_view member : {R"("temperature":0.50)", R"("maxOutputTokens":64)",
                                        R"("thinkingBudget":-1)", R"("new7":{"c":3})"}) {
    EXPECT_THAT(sent, HasSubstr(member));
  }
  for (const std::string_view part :
       {R"({"executableCode":{"language":"PYTHON","code":"1"}})", R"("newA":1)",
        R"("newB":{"d": 4})", R"("groundingMetadata":{"e":5})",
        R"("promptTokensDetails":[{"modality":"TEXT","tokenCount":3}])"}) {
    EXPECT_THAT(answer.body, HasSubstr(part));
  }
}

// The beginning of a prompt is the same bytes with the next turn.
TEST_F(SameFormatTest, keeps_the_beginning_of_a_conversation) {
  TestGateway gateway(loop_, config("gemini"));
  const std::string first = R"({"role":"user","parts":[{"text":"a","x": 1}]})";
  const std::string more =
      R"(,{"role":"model","parts":[{"text":"b"}]},{"role":"user","parts":[{"text":"c"}]})";
  const std::string reply =
      R"({"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]})";
  for (const std::string& contents : {first, first + more}) {
    server_.then({.headers = {{"content-type", "application/json"}}, .pieces = {reply}});
    gateway.ask(R"({"contents":[)" + contents + "]}", {}, "/v1beta/models/m:generateContent");
  }
  ASSERT_EQ(server_.asked().size(), 2U);
  const std::string& before = server_.asked()[0].body;
  EXPECT_EQ(server_.asked()[1].body.substr(0, before.size() - 2),
            before.substr(0, before.size() - 2));
}

TEST_F(SameFormatTest, keeps_what_an_ollama_client_wrote) {
  TestGateway gateway(loop_, config("ollama"));
  server_.then(
      {.headers = {{"content-type", "application/x-ndjson"}},
       .pieces = {
           R"({"model":"x","created_at":"t","message":{"role":"assistant","content":"Hi","newA":1},"done":false,"newB":[2]})"
           "\n",
           R"({"model":"x","created_at":"t","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":7,"load_duration":3,"prompt_eval_count":3,"eval_count":2,"newC":{"a": 1}})"
           "\n"}});
  const std::string user = R"({"role":"user","content":"hi","new1":{"a": 12345678901234567890}})";
  const std::string tool =
      R"({"type":"function","function":{"name":"f","parameters":{"type":"object"},"new2":1},"new3":2})";
  const TestAnswer answer = gateway.ask(
      R"({"model":"m","messages":[)" + user + R"(],"tools":[)" + tool +
          R"(],"options":{"num_ctx":8,"temperature":0.50},"think":"low","keep_alive":-1,"format":"json","new4":{"b": [1]}})",
      {}, "/api/chat");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.header("x-callgate-dropped"), "");
  EXPECT_EQ(answer.header("content-type"), "application/x-ndjson");
  const std::string& sent = server_.asked().front().body;
  for (const std::string& part :
       {"\"messages\":[" + user + "]", "\"tools\":[" + tool + "]",
        std::string(R"("options":{"num_ctx":8,"temperature":0.50})"),
        std::string(R"("think":"low")"), std::string(R"("keep_alive":-1)"),
        std::string(R"("format":"json")"), std::string(R"("new4":{"b": [1]})")}) {
    EXPECT_THAT(sent, HasSubstr(part));
  }
  for (const std::string_view part : {R"("newA":1)", R"("newB":[2])", R"("newC":{"a": 1})",
                                      R"("total_duration":7)", R"("load_duration":3)"}) {
    EXPECT_THAT(answer.body, HasSubstr(part));
  }
}

std::string responses_frame(std::string_view type, std::string_view members) {
  const std::string name = "response." + std::string(type);
  return "event: " + name + "\ndata: {\"type\":\"" + name + "\"," + std::string(members) + "}\n\n";
}

// Items and events of kinds that callgate does not know come where they stood, with callgate's own numbers and ids.
TEST_F(SameFormatTest, keeps_what_a_responses_client_and_its_upstream_say) {
  TestGateway gateway(loop_, config("openai_responses"));
  const std::string search =
      R"({"id":"ws_1","type":"web_search_call","status":"in_progress","newA":1})";
  const std::string found =
      R"({"id":"ws_1","type":"web_search_call","status":"completed","newA":{"a": 2}})";
  const std::string message =
      R"({"id":"msg_up","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi","annotations":[]}],"newB":3})";
  server_.then(
      {.pieces = {
           responses_frame(
               "created",
               R"("sequence_number":0,"response":{"id":"r","status":"in_progress","output":[]})") +
           responses_frame("output_item.added",
                           R"("sequence_number":1,"output_index":0,"item":)" + search) +
           responses_frame(
               "web_search_call.searching",
               R"("sequence_number":2,"output_index":0,"item_id":"ws_1","newC":[1, 2])") +
           responses_frame("output_item.done",
                           R"("sequence_number":3,"output_index":0,"item":)" + found) +
           responses_frame(
               "output_item.added",
               R"("sequence_number":4,"output_index":1,"item":{"id":"msg_up","type":"message","role":"assistant","status":"in_progress","content":[],"newB":3})") +
           responses_frame(
               "output_text.delta",
               R"("sequence_number":5,"item_id":"msg_up","output_index":1,"content_index":0,"delta":"Hi")") +
           responses_frame(
               "sparkle",
               R"("sequence_number":6,"item_id":"msg_up","output_index":1,"newD":12345678901234567890)") +
           "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":7}\n\n" +
           responses_frame("output_item.done",
                           R"("sequence_number":8,"output_index":1,"item":)" + message) +
           responses_frame(
               "completed",
               R"("sequence_number":9,"response":{"id":"r","status":"completed","newE":{"b": 4},"output":[)" +
                   found + "," + message + "]}")}});
  const std::string body =
      R"({"model":"m","stream":true,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","new1":{"a": 1}}],"new2":12345678901234567890},{"type":"brand_new","new3":[ ]}],"tools":[{"type":"web_search","new4":1}],"new5":{"c": [1]}})";
  const TestAnswer answer = gateway.ask(body, {}, "/v1/responses");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.header("x-callgate-dropped"), "");
  for (
      const std::string_view part :
      {R"([{"type":"message","role":"user","content":[{"type":"input_text","text":"hi","new1":{"a": 1}}],"new2":12345678901234567890},{"type":"brand_new","new3":[ ]}])",
       R"("tools":[{"type":"web_search","new4":1}])", R"("new5":{"c": [1]})"}) {
    EXPECT_THAT(server_.asked().front().body, HasSubstr(part));
  }
  const std::size_t id_at = answer.body.find("\"msg_");
  ASSERT_NE(id_at, std::string::npos);
  const std::string id = answer.body.substr(id_at, answer.body.find('"', id_at + 1) + 1 - id_at);
  for (const std::string& frame :
       {responses_frame("output_item.added",
                        R"("sequence_number":2,"output_index":0,"item":)" + search),
        responses_frame("web_search_call.searching",
                        R"("sequence_number":3,"output_index":0,"item_id":"ws_1","newC":[1, 2])"),
        responses_frame("output_item.done",
                        R"("sequence_number":4,"output_index":0,"item":)" + found),
        responses_frame("sparkle", R"("sequence_number":8,"item_id":)" + id +
                                       R"(,"output_index":1,"newD":12345678901234567890)"),
        std::string(
            "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":9}\n\n")}) {
    EXPECT_THAT(answer.body, HasSubstr(frame));
  }
  EXPECT_THAT(answer.body, HasSubstr("\"output\":[" + found + ",{\"id\":" + id));
  EXPECT_THAT(answer.body, HasSubstr(R"("newE":{"b": 4})"));
}

// The arguments of a call come in one piece, whatever else the upstream says meanwhile.
TEST_F(SameFormatTest, lets_nothing_come_between_the_arguments_of_a_call) {
  TestGateway gateway(loop_, config("openai_responses"));
  server_.then(
      {.pieces = {
           responses_frame(
               "output_item.added",
               R"("output_index":0,"item":{"id":"fc","type":"function_call","call_id":"c","name":"f","arguments":""})") +
           responses_frame("function_call_arguments.delta",
                           R"("output_index":0,"item_id":"fc","delta":"{\"a\"")") +
           responses_frame("output_item.done",
                           R"("output_index":1,"item":{"id":"ws_1","type":"web_search_call"})") +
           responses_frame("function_call_arguments.delta",
                           R"("output_index":0,"item_id":"fc","delta":":1}")") +
           responses_frame("completed",
                           R"("response":{"id":"r","status":"completed","output":[]})")}});
  const TestAnswer answer = gateway.ask(
      R"({"model":"m","input":"hi","tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]})",
      {}, "/v1/responses");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("arguments":"{\"a\":1}")"));
  EXPECT_THAT(answer.body, HasSubstr(R"(,{"id":"ws_1","type":"web_search_call"}])"));
}

// The frames of an upstream that speaks Chat Completions: fields of the chunk, the choice and the delta, and of the usage.
TEST_F(SameFormatTest, keeps_what_a_chat_client_and_its_upstream_say) {
  TestGateway gateway(loop_, config("openai_chat"));
  server_.then(
      {.pieces = {
           R"(data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","newA":{"a": 1},"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi","newB":[2]},"finish_reason":null,"newC":3}]})"
           "\n\n",
           R"(data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,"newD":4}})"
           "\n\ndata: [DONE]\n\n"}});
  const std::string body =
      R"({"model":"m","stream":true,"stream_options":{"include_usage":true,"new1":1},"messages":[{"role":"user","content":[{"type":"text","text":"hi","new2":{"a": 1}},{"type":"hologram","x":[ ]}],"new3":12345678901234567890}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"},"new4":1},"new5":2}],"new6":{"b": [1]}})";
  const TestAnswer answer = gateway.ask(body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.header("x-callgate-dropped"), "");
  for (const std::string_view part :
       {R"("content":[{"type":"text","text":"hi","new2":{"a": 1}},{"type":"hologram","x":[ ]}])",
        R"("new3":12345678901234567890)", R"("new4":1)", R"("new5":2)", R"("new6":{"b": [1]})",
        R"("new1":1)"}) {
    EXPECT_THAT(server_.asked().front().body, HasSubstr(part));
  }
  for (const std::string_view part :
       {R"("newA":{"a": 1})", R"("newB":[2])", R"("newC":3)", R"("newD":4)"}) {
    EXPECT_THAT(answer.body, HasSubstr(part));
  }
}

TEST_F(SameFormatTest, names_what_another_format_cannot_carry) {
  TestGateway gateway(loop_, config("openai_chat"));
  server_.then(
      {.pieces = {
           R"(data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]})"
           "\n\ndata: [DONE]\n\n"}});
  const TestAnswer answer = gateway.ask(
      R"({"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":9,"speechConfig":{}},"safetySettings":[1],"new":1,"tools":[{"googleSearch":{}}]})",
      {}, "/v1beta/models/m:streamGenerateContent?alt=sse");
  ASSERT_EQ(answer.status, 200) << answer.body;
  for (const std::string_view name : {"generationConfig", "safetySettings", "new", "other_tools"}) {
    EXPECT_THAT(answer.header("x-callgate-dropped"), HasSubstr(name));
  }
  const std::string& sent = server_.asked().front().body;
  EXPECT_THAT(sent, HasSubstr(R"("max_tokens":9)"));
  for (const std::string_view name : {"speechConfig", "safetySettings", "\"new\"", "google"}) {
    EXPECT_EQ(sent.find(name), std::string::npos) << sent;
  }
}

class ProtocolAccessTest : public SameFormatTest {
 protected:
  std::string with_key() const {
    return config("openai_chat") +
           "[[key]]\nname = \"k\"\nsecret = \"sk-callgate-0123456789abcdef\"\n";
  }
};

TEST_F(ProtocolAccessTest, takes_a_key_where_gemini_clients_send_it) {
  TestGateway gateway(loop_, with_key());
  const std::string body = R"({"contents":[{"parts":[{"text":"hi"}]}]})";
  const std::string path = "/v1beta/models/m:generateContent";
  const std::string whole =
      R"({"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]})";
  const auto reply = [&] {
    server_.then({.headers = {{"content-type", "application/json"}}, .pieces = {whole}});
  };
  reply();
  EXPECT_EQ(gateway.ask(body, {{"x-goog-api-key", "sk-callgate-0123456789abcdef"}}, path).status,
            200);
  reply();
  EXPECT_EQ(gateway.ask(body, {}, path + "?key=sk-callgate-0123456789abcdef").status, 200);
  const TestAnswer refused = gateway.ask(body, {}, path + "?key=wrong-0123456789abcdef");
  EXPECT_EQ(refused.status, 401);
  EXPECT_THAT(refused.body, HasSubstr(R"("status":"UNAUTHENTICATED")"));
  EXPECT_EQ(refused.body.find("wrong-0123456789abcdef"), std::string::npos);
  // Other protocols do not look there.
  EXPECT_EQ(gateway.ask("{}", {}, "/api/chat?key=sk-callgate-0123456789abcdef").status, 401);
}

TEST_F(ProtocolAccessTest, shows_models_in_every_protocol) {
  TestGateway gateway(loop_, config("openai_chat"));
  const TestAnswer shown = gateway.ask(R"({"model":"m"})", {}, "/api/show");
  EXPECT_EQ(shown.status, 200);
  EXPECT_THAT(shown.body, HasSubstr("\"capabilities\""));
  EXPECT_EQ(gateway.ask(R"({"model":"nobody"})", {}, "/api/show").status, 404);
  EXPECT_EQ(gateway.ask("{}", {}, "/api/show").status, 400);
  EXPECT_EQ(gateway.ask("{}", {}, "/api/tags").status, 405);
}

}  // namespace
}  // namespace callgate::server::same_format_test
