// Members that callgate does not know, wherever an upstream of the client's own format puts them in its answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "gateway/gateway_testing.h"

namespace callgate::server::same_format_members_test {
namespace {

using testing::HasSubstr;

class SameFormatMembers : public testing::Test {
 protected:
  std::string config(std::string_view wire) const {
    return "[[upstream]]\nname = \"a\"\nwire = \"" + std::string(wire) + "\"\nurl = \"" +
           server_.url() + "\"\n[[model]]\nname = \"m\"\nupstream = \"a\"\nretries = 0\n";
  }

  // What a client is told of such an answer. `type`: its content type, empty for an event stream.
  std::string answer_to(std::string_view wire, std::string_view path, std::string_view body,
                        std::string pieces, std::string_view type = "") {
    TestGateway gateway(loop_, config(wire));
    FakeServer::Reply reply;
    if (!type.empty()) reply.headers = {{"content-type", std::string(type)}};
    reply.pieces = {std::move(pieces)};
    server_.then(std::move(reply));
    const TestAnswer answer = gateway.ask(std::string(body), {}, std::string(path));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body;
  }

  net::Loop loop_;
  FakeServer server_{loop_};
};

void expect_all(const std::string& body, const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) EXPECT_THAT(body, HasSubstr(std::string(part)));
}

std::string typed(std::string_view type, std::string_view members) {
  std::string frame = "event: ";
  frame.append(type).append("\ndata: {\"type\":\"").append(type).append("\",").append(members);
  return frame + "}\n\n";
}

std::string response(std::string_view type, std::string_view members) {
  return typed("response." + std::string(type), members);
}

constexpr std::string_view kMessageItem =
    R"({"id":"msg_up","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello","annotations":[{"type":"file_citation","file_id":"f","newE":5}],"newP":6}]})";
constexpr std::string_view kUsage =
    R"("usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":1,"newI":7},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0,"newO":8},"total_tokens":5,"newU":{"a": 9}})";

TEST_F(SameFormatMembers, of_a_responses_stream) {
  const std::string body = answer_to(
      "openai_responses", "/v1/responses", R"({"model":"m","stream":true,"input":"hi"})",
      response("created", R"("newA":1,"response":{"id":"r","status":"in_progress","output":[]})") +
          response(
              "output_item.added",
              R"("output_index":0,"item":{"id":"rs_up","type":"reasoning","summary":[],"newB":2})") +
          response(
              "reasoning_summary_text.delta",
              R"("item_id":"rs_up","output_index":0,"summary_index":0,"delta":"Hm","newC":3)") +
          response(
              "output_item.done",
              R"("output_index":0,"item":{"id":"rs_up","type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}],"newB":2})") +
          response(
              "output_item.added",
              R"("output_index":1,"item":{"id":"msg_up","type":"message","role":"assistant","status":"in_progress","content":[]})") +
          response(
              "content_part.added",
              R"("item_id":"msg_up","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"newP":6})") +
          response(
              "output_text.delta",
              R"("item_id":"msg_up","output_index":1,"content_index":0,"delta":"Hel","obfuscation":"x1","newM":3)") +
          response(
              "output_text.delta",
              R"("item_id":"msg_up","output_index":1,"content_index":0,"delta":"lo","newD":{"a": 4})") +
          response("output_item.done", R"("output_index":1,"item":)" + std::string(kMessageItem)) +
          response("completed", R"("response":{"id":"r","status":"completed",)" +
                                    std::string(kUsage) + R"(,"output":[)" +
                                    std::string(kMessageItem) + "]}"));
  expect_all(body, {R"("type":"response.created","sequence_number":0,"newA":1,)",
                    R"("summary":[],"newB":2})", R"("sequence_number":4,"newC":3,)",
                    R"("sequence_number":10,"newM":3,)", R"("delta":"Hel","logprobs":[]})",
                    R"("sequence_number":11,"newD":{"a": 4},)", R"("delta":"lo","logprobs":[]})",
                    R"("annotation":{"type":"file_citation","file_id":"f","newE":5})",
                    R"("annotations":[],"logprobs":[],"newP":6})", R"("logprobs":[],"newP":6}]})",
                    R"("cache_write_tokens":0,"newI":7})", R"("reasoning_tokens":0,"newO":8})",
                    R"("total_tokens":5,"newU":{"a": 9}})"});
}

TEST_F(SameFormatMembers, of_a_whole_response) {
  const std::string body =
      answer_to("openai_responses", "/v1/responses", R"({"model":"m","input":"hi"})",
                R"({"id":"r","object":"response","status":"completed","newA":1,)" +
                    std::string(kUsage) + R"(,"output":[)" + std::string(kMessageItem) + "]}",
                "application/json");
  expect_all(body, {R"("newA":1)", R"("newE":5)", R"("newP":6)", R"("newI":7)", R"("newO":8)",
                    R"("newU":{"a": 9})"});
}

TEST_F(SameFormatMembers, of_a_messages_stream) {
  const std::string body = answer_to(
      "anthropic_messages", "/v1/messages",
      R"({"model":"m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"hi"}]})",
      typed(
          "message_start",
          R"("newA":1,"message":{"id":"x","type":"message","role":"assistant","model":"u","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}})") +
          typed("content_block_start",
                R"("index":0,"newB":2,"content_block":{"type":"text","text":""})") +
          typed(
              "content_block_delta",
              R"("index":0,"newC":3,"delta":{"type":"text_delta","text":"Hel","newD":{"a": 4}})") +
          typed("content_block_delta", R"("index":0,"delta":{"type":"text_delta","text":"lo"})") +
          typed("content_block_stop", R"("index":0,"newE":5)") +
          typed("content_block_start",
                R"("index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}})") +
          typed(
              "content_block_delta",
              R"("index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}","newF":6})") +
          typed("content_block_stop", R"("index":1)") +
          typed(
              "message_delta",
              R"("newG":7,"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":2})") +
          typed("message_stop", R"("newH":8)"));
  expect_all(body, {R"("newA":1})", R"("content_block":{"type":"text","text":""},"newB":2})",
                    R"("delta":{"type":"text_delta","text":"Hel","newD":{"a": 4}},"newC":3})",
                    R"("delta":{"type":"text_delta","text":"lo"}})",
                    R"({"type":"content_block_stop","index":0,"newE":5})",
                    R"("delta":{"type":"input_json_delta","partial_json":"{\"a\":1}","newF":6}})",
                    R"({"type":"content_block_stop","index":1})", R"("newG":7)",
                    R"({"type":"message_stop","newH":8})"});
}

constexpr std::string_view kGeminiParts =
    R"([{"text":"Hm","thought":true,"newA":1},{"text":"Hi","newB":{"a": 2}},{"functionCall":{"id":"c","name":"f","args":{}},"newC":3}])";

TEST_F(SameFormatMembers, of_the_parts_of_gemini) {
  const std::string frame = R"({"candidates":[{"content":{"role":"model","parts":)" +
                            std::string(kGeminiParts) +
                            R"(},"finishReason":"STOP","index":0}],"promptFeedback":{"newD":4}})";
  const std::string_view body = R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}]})";
  for (const bool stream : {true, false}) {
    const std::string path = stream ? "/v1beta/models/m:streamGenerateContent?alt=sse"
                                    : "/v1beta/models/m:generateContent";
    const std::string answer =
        answer_to("gemini", path, body, stream ? "data: " + frame + "\n\n" : frame,
                  stream ? "" : "application/json");
    expect_all(answer, {R"("newA":1})", R"({"text":"Hi","newB":{"a": 2}})",
                        R"("args":{}},"newC":3})", R"("promptFeedback":{"newD":4})"});
  }
}

TEST_F(SameFormatMembers, of_the_calls_of_ollama) {
  const std::string line =
      R"({"model":"x","created_at":"t","message":{"role":"assistant","content":"","tool_calls":[{"id":"c","newA":1,"function":{"name":"f","arguments":{"a":1}}}]},"done":true,"done_reason":"stop"})";
  for (const std::string_view stream : {"true", "false"}) {
    const std::string body =
        R"({"model":"m","messages":[{"role":"user","content":"hi"}],"stream":)" +
        std::string(stream) + "}";
    const std::string answer =
        answer_to("ollama", "/api/chat", body, line + "\n",
                  stream == "true" ? "application/x-ndjson" : "application/json");
    EXPECT_THAT(answer, HasSubstr(R"("arguments":{"a":1}},"newA":1})"));
  }
}

}  // namespace
}  // namespace callgate::server::same_format_members_test
