#include "chat/message_json.h"

#include <gtest/gtest.h>

namespace callgate::message_json_test {
namespace {

std::string fault_of(std::string_view json) {
  const auto messages = read_messages(json);
  return messages ? "none" : messages.error().message;
}

TEST(MessageJson, writes_what_is_given_in_the_order_of_chat) {
  EXPECT_EQ(print_message({.role = Role::assistant}), R"({"role":"assistant"})");
  EXPECT_EQ(
      print_message({.role = Role::assistant,
                     .content = {"null"},
                     .name = "Al",
                     .calls = {{.id = "c1",
                                .name = "find",
                                .arguments = R"({"q":1})",
                                .extra = {{"index", {"0"}}}},
                               {.id = "c2", .name = "stop"}},
                     .extra = {{"reasoning_content", {R"("hm")"}}}}),
      R"({"role":"assistant","content":null,"name":"Al","tool_calls":[)"
      R"({"id":"c1","type":"function","function":{"name":"find","arguments":"{\"q\":1}"},"index":0},)"
      R"({"id":"c2","type":"function","function":{"name":"stop","arguments":""}}],)"
      R"("reasoning_content":"hm"})");
  EXPECT_EQ(print_message({.role = Role::tool, .content = {R"("5")"}, .tool_call_id = "c1"}),
            R"({"role":"tool","content":"5","tool_call_id":"c1"})");
}

TEST(MessageJson, lists_have_commas_between_their_values) {
  EXPECT_EQ(print_messages({}), "[]");
  EXPECT_EQ(print_messages({{.role = Role::user}, {.role = Role::system}}),
            R"([{"role":"user"},{"role":"system"}])");
  EXPECT_EQ(join_json({}), "[]");
  EXPECT_EQ(join_json({"1"}), "[1]");
  EXPECT_EQ(join_json({"1", "{}"}), "[1,{}]");
}

TEST(MessageJson, what_is_written_is_read_back) {
  const std::string json =
      R"([{"role":"system","content":"s"},{"role":"developer","content":[{"type":"text","text":"d"}]},)"
      R"({"role":"user","content":"u","name":"Al"},{"role":"assistant","content":null,"tool_calls":[)"
      R"({"id":"c1","type":"function","function":{"name":"find","arguments":"{}"},"extra_content":{"a":1}}]},)"
      R"({"role":"tool","content":"5","tool_call_id":"c1","cache_control":{"type":"ephemeral"}}])";
  const auto messages = read_messages(json);
  ASSERT_TRUE(messages.has_value()) << messages.error().message;
  ASSERT_EQ(messages->size(), 5u);
  EXPECT_EQ((*messages)[3].calls.at(0).extra.at(0).name, "extra_content");
  EXPECT_EQ(print_messages(*messages), json);
}

TEST(MessageJson, nothing_is_an_empty_list) {
  EXPECT_TRUE(read_messages("")->empty());
  EXPECT_TRUE(read_messages("[]")->empty());
  EXPECT_EQ(fault_of(" [ ] "), "messages: empty, expected at least one message");
}

TEST(MessageJson, names_the_member_that_is_wrong) {
  EXPECT_TRUE(fault_of("[{").starts_with("messages: ")) << fault_of("[{");
  EXPECT_EQ(fault_of("{}"), "messages: an object, expected an array of messages");
  EXPECT_EQ(fault_of("[1]"), "messages[0]: a number, expected an object");
  EXPECT_EQ(fault_of(R"([{"role":"user","content":"a"},{"role":"bard"}])"),
            "messages[1].role: \"bard\", expected system|developer|user|assistant|tool|function");
  EXPECT_EQ(fault_of(R"([{"role":true}])"),
            "messages[0].role: a boolean, expected system|developer|user|assistant|tool|function");
  EXPECT_EQ(fault_of(R"([{"content":"a"}])"),
            "messages[0].role: missing, expected system|developer|user|assistant|tool|function");
  EXPECT_EQ(fault_of(R"([{"role":"user","content":null}])"),
            "messages[0].content: null, expected a string or an array of parts");
  EXPECT_EQ(fault_of(R"([{"role":"tool","content":"a"}])"),
            "messages[0].tool_call_id: missing, expected the id of the call that this answers");
  EXPECT_EQ(fault_of(R"([{"role":"assistant","tool_calls":[{"id":"a","function":{"name":7}}]}])"),
            "messages[0].tool_calls[0].function.name: a number, expected a string");
  EXPECT_EQ(read_messages("[1]").error().param, "messages[0]");
}

TEST(MessageJson, the_old_form_of_a_call_gets_an_id_that_its_result_answers) {
  const auto messages = read_messages(
      R"([{"role":"assistant","function_call":{"name":"find","arguments":"{}"}},)"
      R"({"role":"function","name":"find","content":"5"},{"role":"function","name":"other","content":"6"}])");
  ASSERT_TRUE(messages.has_value()) << messages.error().message;
  EXPECT_EQ((*messages)[0].calls.at(0).id, "call_legacy0");
  EXPECT_EQ((*messages)[1].role, Role::tool);
  EXPECT_EQ((*messages)[1].tool_call_id, "call_legacy0");
  EXPECT_EQ((*messages)[2].tool_call_id, "call_legacy1");
}

}  // namespace
}  // namespace callgate::message_json_test
