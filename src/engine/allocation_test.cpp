// After warm-up a frame costs no allocation, from upstream bytes to client bytes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "callgate/pipeline.h"
#include "engine/fake_dialect_testing.h"

namespace {

std::size_t allocations = 0;

void* counted(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace callgate::allocation_test {
namespace {

std::string choice(std::string_view delta) {
  return "data: "
         "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":"
         "\"m\",\"system_fingerprint\":\"fp\",\"choices\":[{\"index\":0,\"delta\":" +
         std::string(delta) + ",\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n";
}

// How many allocations 1,000 pushes of `frame` cost after `before` and a few of them. Cut in two at `cut`.
std::size_t allocations_for(const std::string& before, const std::string& frame, std::size_t cut,
                            PipelineOptions options = {}) {
  const Request request{.model = "m", .stream = true, .include_usage = true};
  Result<Pipeline> pipeline = Pipeline::make(request, std::move(options));
  std::string out;
  out.reserve(std::size_t{1} << 16);
  pipeline->push(before, out);
  const auto push = [&] {
    out.clear();
    pipeline->push(std::string_view(frame).substr(0, cut), out);
    pipeline->push(std::string_view(frame).substr(cut), out);
  };
  for (int i = 0; i < 16; ++i) push();
  const std::size_t start = allocations;
  for (int i = 0; i < 1000; ++i) push();
  const std::size_t counted = allocations - start;
  EXPECT_FALSE(out.empty());
  return counted;
}

const std::string kRole = choice(R"({"role":"assistant","content":""})");
const std::string kCall = choice(R"({"tool_calls":[{"index":0,"id":"call_1","type":"function",)"
                                 R"("function":{"name":"find","arguments":"{\"q\":\""}}]})");

TEST(Allocation, counts) {
  const std::size_t start = allocations;
  const auto memory = std::make_unique<std::string>(100, 'x');
  EXPECT_GE(allocations - start, 2u);
}

TEST(Allocation, is_zero_for_a_text_frame) {
  const std::string frame =
      choice(R"({"content":"some words that are longer than a short string"})");
  EXPECT_EQ(allocations_for(kRole, frame, 0), 0u);
  EXPECT_EQ(allocations_for(kRole, frame, 100), 0u);
}

TEST(Allocation, is_zero_for_text_that_ends_with_white_space) {
  const std::string frame =
      choice(R"({"content":"some words that are longer than a short string \n"})");
  EXPECT_EQ(allocations_for(kRole, frame, 0), 0u);
}

TEST(Allocation, is_zero_for_text_that_leaves_in_sentences) {
  PipelineOptions options;
  options.policy.split = TextSplit::sentences;
  EXPECT_EQ(allocations_for(kRole, choice(R"({"content":"One of them. And half "})"), 0, options),
            0u);
}

TEST(Allocation, is_zero_for_text_with_escapes) {
  const std::string frame =
      choice(R"({"content":"line one\nline two \"quoted\" \u00e9 and more"})");
  EXPECT_EQ(allocations_for(kRole, frame, 0), 0u);
  EXPECT_EQ(allocations_for(kRole, frame, 170), 0u);
}

TEST(Allocation, is_zero_for_an_argument_frame) {
  const std::string frame = choice(
      R"({"tool_calls":[{"index":0,"function":{"arguments":"more \\u00e9 bytes of the value"}}]})");
  EXPECT_EQ(allocations_for(kRole + kCall, frame, 0), 0u);
  EXPECT_EQ(allocations_for(kRole + kCall, frame, 100), 0u);
}

TEST(Allocation, is_zero_for_an_argument_frame_that_ends_inside_an_escape) {
  const std::string frame =
      choice(R"({"tool_calls":[{"index":0,"function":{"arguments":"n and on and on\\"}}]})");
  EXPECT_EQ(allocations_for(kRole + kCall +
                                choice(R"({"tool_calls":[{"index":0,"function":)"
                                       R"({"arguments":"\\"}}]})"),
                            frame, 0),
            0u);
}

TEST(Allocation, is_zero_for_text_through_a_dialect) {
  EXPECT_EQ(allocations_for(kRole, choice(R"({"content":"plain words"})"), 0,
                            {.dialect = &engine::kFakeDialect}),
            0u);
}

TEST(Allocation, is_zero_for_frames_of_the_messages_api) {
  const auto block = [](std::string_view index, std::string_view json) {
    return "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":" +
           std::string(index) + ",\"content_block\":" + std::string(json) + "}\n\n";
  };
  const auto delta = [](std::string_view index, std::string_view json) {
    return "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":" +
           std::string(index) + ",\"delta\":" + std::string(json) + "}\n\n";
  };
  const std::string text = delta("0", R"({"type":"text_delta","text":"some words\nand \"more\""})");
  const std::string input =
      delta("1", R"({"type":"input_json_delta","partial_json":"more \\u00e9 bytes of it"})");
  const std::string call =
      block("1", R"({"type":"tool_use","id":"toolu_1","name":"f","input":{}})") +
      delta("1", R"({"type":"input_json_delta","partial_json":"{\"q\":\""})");
  EXPECT_EQ(allocations_for(block("0", R"({"type":"text","text":""})"), text, 100,
                            {.wire = "anthropic_messages"}),
            0u);
  EXPECT_EQ(allocations_for(call, input, 100, {.wire = "anthropic_messages"}), 0u);
}

TEST(Allocation, is_zero_for_frames_of_the_responses_api) {
  const auto event = [](std::string_view type, std::string_view members) {
    return "event: response." + std::string(type) + "\ndata: {\"type\":\"response." +
           std::string(type) + "\",\"output_index\":0," + std::string(members) + "}\n\n";
  };
  const std::string text =
      event("output_text.delta",
            R"("item_id":"msg_1","content_index":0,"delta":"words\n","logprobs":[])");
  const std::string input = event("function_call_arguments.delta",
                                  R"("item_id":"fc_1","delta":"more \\u00e9 bytes of it")");
  const std::string call =
      event("output_item.added",
            R"("item":{"type":"function_call","id":"fc_1","call_id":"a","name":"f"})") +
      event("function_call_arguments.delta", R"("item_id":"fc_1","delta":"{\"q\":\"")");
  EXPECT_EQ(allocations_for(text, text, 100, {.wire = "openai_responses"}), 0u);
  EXPECT_EQ(allocations_for(call, input, 100, {.wire = "openai_responses"}), 0u);
}

TEST(Allocation, is_zero_for_frames_of_the_gemini_api_and_for_elements_of_its_array) {
  const auto answer = [](std::string_view part) {
    return R"({"candidates":[{"content":{"parts":[)" + std::string(part) +
           R"(],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9}})";
  };
  const auto frame = [&](std::string_view part) { return "data: " + answer(part) + "\r\n\r\n"; };
  const std::string text = answer(R"({"text":"some words\nand \"more\""})");
  const std::string piece = frame(
      R"({"functionCall":{"partialArgs":[{"jsonPath":"$.a[0].text","stringValue":"more \n words",)"
      R"("willContinue":true}],"willContinue":true}})");
  EXPECT_EQ(
      allocations_for(frame(R"({"text":"x"})"), "data: " + text + "\n\n", 100, {.wire = "gemini"}),
      0u);
  EXPECT_EQ(allocations_for("[" + text, "," + text, 100, {.wire = "gemini"}), 0u);
  EXPECT_EQ(allocations_for(frame(R"({"functionCall":{"name":"f","willContinue":true}})"), piece,
                            100, {.wire = "gemini"}),
            0u);
}

}  // namespace
}  // namespace callgate::allocation_test
