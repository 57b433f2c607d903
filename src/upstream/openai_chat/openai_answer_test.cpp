// A reader remembers what its last documents had in common. It must read each as a reader without memory does.
#include "upstream/openai_chat/openai_answer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace callgate::upstream::openai_answer_test {
namespace {

const std::vector<std::string> kTexts = {
    "word ", "another", "a longer text than the one before it", "caf\xC3\xA9", "\xF0\x9F\x98\x80",
    // What does not stay as it is.
    "", "a \\\"quote\\\"", "\\u00e9", "half \\ud83d", "cut \xC3", "line\nend", "\xFF",
    // What looks like the end of the document.
    "x\"},\"finish_reason\":\"stop\"}]}", "\"},\"finish_reason\":null}]}", "]}", "\\"};

// Around the text.
struct Shape {
  std::string before;
  std::string after;
};

const std::vector<Shape> kShapes = {
    {R"({"id":"1","choices":[{"index":0,"delta":{"content":")", R"("},"finish_reason":null}]})"},
    {R"({"id":"1","choices":[{"index":1,"delta":{"content":")", R"("},"finish_reason":null}]})"},
    {R"({"id":"2","choices":[{"index":0,"delta":{"content":")", R"("},"finish_reason":null}]})"},
    {R"({"id":"1","choices":[{"index":0,"delta":{"content":")", R"("},"finish_reason":"stop"}]})"},
    {R"({"choices":[{"delta":{"reasoning_content":")", R"("}}]})"},
    {R"({"choices":[{"delta":{"reasoning":")", R"("}}]})"},
    {R"({"choices":[{"delta":{"reasoning":"a","content":")", R"("}}]})"},
    {R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":")", R"("}}]}}]})"},
    {R"({"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":")", R"("}}]}}]})"},
    {R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":")", R"("}}]}}]})"},
    {R"({"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"arguments":")", R"("}}]}}]})"},
    {R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"input":")", R"("}}]}}]})"},
    {R"({"choices":[{"delta":{"function_call":{"arguments":")", R"("}}}]})"},
    {R"({"choices":[{"delta":{"content":"a","content":")", R"("}}]})"},
    {R"({"choices":[{"delta":{"content":")", R"(","content":"b"}}]})"},
    {R"({"choices":[{"delta":{"content":")", R"(","x":1}}]})"},
    {R"({"choices":[{"delta":{"content":")", R"("},"logprobs":{"content":[]}}]})"},
    {R"({"choices":[{"delta":{"content":")", R"("}}],"usage":{"prompt_tokens":1}})"},
    {R"({"choices":[{"delta":{"content":")", R"("}},{"index":1,"delta":{"content":"b"}}]})"},
    {R"({"choices":[{"message":{"content":")", R"("}}]})"},
    {R"({"choices":[{"text":")", R"("}]})"},
    {R"({"error":")", R"("})"},
    {R"({"message":")", R"(","choices":[{"delta":{"content":"c"}}]})"},
};

std::string show(const ChoicePiece& choice) {
  std::string text = std::to_string(choice.index);
  for (const Text* part : {&choice.text, &choice.plain, &choice.reasoning, &choice.other_reasoning,
                           &choice.refusal, &choice.finish}) {
    text.append("|").append(part->view());
  }
  text.append("|").append(choice.logprobs).append("|").append(choice.error);
  for (const CallPiece& call : choice.calls) {
    text.append("|call ").append(std::to_string(call.index.value_or(-1)));
    for (const Text* part : {&call.id, &call.name, &call.arguments, &call.other_arguments}) {
      text.append("|").append(part->view());
    }
    text.append(call.arguments_renamed ? "renamed" : "").append(call.legacy ? "legacy" : "");
  }
  for (const OtherMember& other : choice.others) text.append("|").append(other.json);
  for (const OtherMember& other : choice.message_others) text.append("|").append(other.json);
  return text + "|" + std::to_string(static_cast<int>(choice.source));
}

std::string show(bool readable, const AnswerReader& reader) {
  std::string text = readable ? "" : "unreadable ";
  for (const ChoicePiece& choice : reader.answer().choices) text += show(choice) + "\n";
  if (reader.answer().usage) text += "usage ";
  text.append(reader.answer().error).append(std::to_string(reader.mended().escaped));
  return text;
}

TEST(OpenaiAnswer, is_read_as_if_nothing_had_come_before) {
  std::mt19937 random(1);  // NOLINT: the same documents in every run
  const auto pick = [&](const auto& list) -> const auto& { return list[random() % list.size()]; };
  std::size_t hits = 0;
  for (int turn = 0; turn < 300; ++turn) {
    AnswerReader reader;
    const Shape* shape = &pick(kShapes);
    for (int i = 0; i < 40; ++i) {
      if (random() % 4 == 0) shape = &pick(kShapes);
      // Memory of its own: a view into an earlier document would be found.
      const std::vector<char> document = [&] {
        const std::string text = shape->before + pick(kTexts) + shape->after;
        return std::vector<char>(text.begin(), text.end());
      }();
      const std::string_view view(document.data(), document.size());
      AnswerReader fresh;
      const std::string got = show(reader.read(view), reader);
      ASSERT_EQ(got, show(fresh.read(view), fresh)) << view;
      hits += got.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(hits, 10'000u);
}

}  // namespace
}  // namespace callgate::upstream::openai_answer_test
