#include "response/response_body.h"

#include <gtest/gtest.h>

#include "response/response_events.h"
#include "response/response_memory.h"

namespace callgate::server::response_body_test {
namespace {

TEST(ResponseBody, reads_what_the_service_needs) {
  const ResponseFields fields = read_response_fields(
      R"({"input":"hi","previous_response_id":"resp_1","store":false,"background":true,"stream":true,"generate":false,"stream_id":"a"})");
  EXPECT_EQ(fields.input, "\"hi\"");
  EXPECT_EQ(fields.previous, "resp_1");
  EXPECT_FALSE(fields.store);
  EXPECT_TRUE(fields.background);
  EXPECT_TRUE(fields.stream);
  EXPECT_FALSE(fields.generate);
  EXPECT_EQ(fields.stream_id, "a");
  EXPECT_EQ(read_response_fields(R"({"stream_id":7})").stream_id, " ");
  EXPECT_EQ(read_response_fields(R"({"stream_id":null})").stream_id, "");
  for (const std::string_view odd : {"", "[]", "{", "7", R"({"previous_response_id":7})"}) {
    EXPECT_EQ(read_response_fields(odd).previous, "") << odd;
    EXPECT_TRUE(read_response_fields(odd).store) << odd;
  }
}

TEST(ResponseBody, makes_items_of_any_input) {
  EXPECT_EQ(input_items("\"hi\""), R"({"type":"message","role":"user","content":"hi"})");
  EXPECT_EQ(input_items(R"([ {"a":1} , {"b":2}])"), R"({"a":1},{"b":2})");
  EXPECT_EQ(input_items("[]"), "");
  EXPECT_EQ(input_items("7"), "");
  EXPECT_EQ(with_input(R"({"input":"x","model":"m"})", R"({"a":1})"),
            R"({"model":"m","input":[{"a":1}]})");
}

TEST(ResponseBody, names_items) {
  EXPECT_EQ(with_item_ids(R"({"a":1},{"id":"x"},{})", "item_r_i"),
            R"({"id":"item_r_i0","a":1},{"id":"x"},{"id":"item_r_i2"})");
  EXPECT_EQ(response_of_item("msg_abc_0"), "resp_abc");
  EXPECT_EQ(response_of_item("item_abc_i12"), "resp_abc");
  EXPECT_EQ(response_of_item("msg"), "");
  EXPECT_EQ(response_of_item("msg_0"), "");
  EXPECT_EQ(reference_id(R"({"type":"item_reference","id":"x"})"), "x");
  EXPECT_EQ(reference_id(R"({"id":"x"})"), "x");
  EXPECT_EQ(reference_id(R"({"id":"x","role":"user","content":"y"})"), "");
  EXPECT_EQ(reference_id(R"({"type":"message","id":"x"})"), "");
}

TEST(ResponseBody, finds_results_of_calls_that_nobody_made) {
  const std::string_view call = R"({"type":"function_call","call_id":"a"})";
  EXPECT_EQ(unmatched_output(call, R"({"type":"function_call_output","call_id":"a"})"), "");
  EXPECT_EQ(unmatched_output(call, R"({"type":"function_call_output","call_id":"b"})"), "b");
  EXPECT_EQ(unmatched_output("", R"({"type":"message"})"), "");
}

constexpr std::string_view kStream =
    ": note\n\nevent: response.created\ndata: {\"n\":0}\n\nevent: response.x\ndata: {\"n\":1}\n\n"
    "event: response.completed\ndata: {\"response\":{\"id\":\"r\"}}\n\n";

TEST(ResponseEvents, finds_frames_by_their_number) {
  EXPECT_EQ(frames_after(kStream, -1), kStream);
  EXPECT_TRUE(frames_after(kStream, 0).starts_with("event: response.x\n"));
  EXPECT_TRUE(frames_after(kStream, 1).starts_with("event: response.completed\n"));
  EXPECT_EQ(frames_after(kStream, 2), "");
  EXPECT_EQ(frames_after(kStream, 99), "");
}

TEST(ResponseEvents, goes_on_counting_where_it_stopped) {
  std::int64_t left = 4;  // of the three in each
  EXPECT_EQ(skip_frames(kStream, left), "");
  EXPECT_EQ(left, 1);
  EXPECT_TRUE(skip_frames(kStream, left).starts_with("event: response.x\n"));
  EXPECT_EQ(left, 0);
  EXPECT_EQ(skip_frames(kStream, left), kStream);
}

TEST(ResponseEvents, knows_the_end_of_a_response) {
  EXPECT_EQ(final_response(kStream), R"({"id":"r"})");
  EXPECT_EQ(final_response("event: response.x\ndata: {}\n\n"), "");
  EXPECT_EQ(final_response(""), "");
  int frames = 0;
  each_frame(kStream, [&](std::string_view, std::string_view) { ++frames; });
  EXPECT_EQ(frames, 3);
}

TEST(ResponseMemory, forgets_the_oldest) {
  MemoryBudget budget;
  ResponseMemory memory(budget);
  for (std::size_t i = 0; i <= ResponseMemory::kMaxResponses; ++i) {
    memory.add("r" + std::to_string(i), "x");
  }
  EXPECT_EQ(memory.find("r0"), nullptr);
  ASSERT_NE(memory.find("r1"), nullptr);
  memory.forget("r1");
  EXPECT_EQ(memory.find("r1"), nullptr);
  memory.add("r2", "y");
  EXPECT_EQ(*memory.find("r2"), "y");
}

TEST(ResponseMemory, forgets_what_there_is_no_memory_for) {
  MemoryBudget budget(160 << 10);  // of which copies may have 100 KiB
  ResponseMemory memory(budget);
  memory.add("r1", std::string(60 << 10, 'x'));
  EXPECT_GE(budget.used(), 60u << 10);
  memory.add("r2", std::string(60 << 10, 'x'));
  EXPECT_EQ(memory.find("r1"), nullptr);
  EXPECT_NE(memory.find("r2"), nullptr);
  memory.add("r3", std::string(200 << 10, 'x'));
  EXPECT_EQ(memory.find("r3"), nullptr);
  EXPECT_EQ(budget.used(), 0u);
}

TEST(ResponseBody, an_abandoned_response_keeps_all_but_its_status_and_error) {
  EXPECT_EQ(
      abandoned_object(
          R"({"id":"resp_1","status":"in_progress","error":null,"output":[],"a\"b":1.50})"),
      R"({"id":"resp_1","status":"failed","error":{"code":"server_error","message":"the gateway that )"
      R"(ran this response ended before the response was complete"},"output":[],"a\"b":1.50})");
}

}  // namespace
}  // namespace callgate::server::response_body_test
