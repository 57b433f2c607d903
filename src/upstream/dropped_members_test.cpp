#include "upstream/dropped_members.h"

#include <gtest/gtest.h>

#include "upstream/decoder_testing.h"
#include "upstream/wire_format.h"

namespace callgate::upstream::dropped_members_test {
namespace {

std::string dropped_of(std::string_view wire, std::string_view body) {
  const Request request;
  const auto decoder = find(wire)->make_decoder(request);
  LoggedChoice sinks;
  decoder->push_body(body, sinks);
  EXPECT_FALSE(decoder->error());
  return decoder->dropped();
}

TEST(DroppedMembers, are_named_for_whole_answers_of_other_wire_formats) {
  EXPECT_EQ(dropped_of("anthropic_messages",
                       R"({"type":"message","role":"assistant","content":[{"type":"server_tool_use",
              "id":"s1","name":"web_search","input":{}},{"type":"text","text":"Hi",
              "citations":[{"url":"https://a.example"}]}],"stop_reason":"end_turn"})"),
            "server_tool_use, citations");
  EXPECT_EQ(dropped_of("gemini",
                       R"({"candidates":[{"content":{"parts":[{"text":"Hi"},
              {"inlineData":{"mimeType":"image/png","data":"AAAA"}}],"role":"model"},
              "finishReason":"STOP","groundingMetadata":{"a":1},"safetyRatings":[]}]})"),
            "inlineData, groundingMetadata");
  EXPECT_EQ(dropped_of("openai_responses",
                       R"({"object":"response","status":"completed","tools":[{"type":"x"}],
              "output":[{"type":"web_search_call","id":"w","status":"completed"},
              {"type":"message","content":[{"type":"output_text","text":"Hi"}]}]})"),
            "web_search_call");
  EXPECT_EQ(dropped_of("ollama",
                       R"({"message":{"role":"assistant","content":"Hi","images":["AAAA"]},
              "done":true,"done_reason":"stop","total_duration":7})"),
            "images");
}

TEST(DroppedMembers, have_names_that_a_header_can_carry) {
  DroppedMembers members;
  for (const std::string_view name : {"a", "a", "", "b\r\nx: y", "c,d", "e_1"}) members.add(name);
  EXPECT_EQ(members.print(), "a, e_1");
  for (int i = 0; i < 100; ++i) members.add("n" + std::to_string(i));
  EXPECT_TRUE(members.print().ends_with(", n29"));
}

}  // namespace
}  // namespace callgate::upstream::dropped_members_test
