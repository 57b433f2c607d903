#include "loop/history.h"

#include <gtest/gtest.h>

#include "loop/transcript_testing.h"

namespace callgate::loop::history_test {
namespace {

// `u` a user's message, `a` the assistant's words, `A12` calls 1 and 2, `1` the result of call 1.
std::vector<Message> conversation(std::string_view letters) {
  std::vector<Message> messages;
  bool in_calls = false;
  for (const char c : letters) {
    if (c >= '0' && c <= '9') {
      const std::string id(1, c);
      if (in_calls) {
        messages.back().calls.push_back({id, "f", "{}", {}});
      } else {
        messages.push_back(tool_message(id, "result"));
      }
      continue;
    }
    in_calls = c == 'A';
    if (c != ' ')
      messages.push_back(text_message(c == 'u' ? Role::user : Role::assistant, "words"));
  }
  return messages;
}

std::string letters_of(const std::vector<Message>& messages) {
  std::string letters;
  for (const Message& message : messages) {
    switch (message.role) {
      case Role::user:
      case Role::system:
      case Role::developer:
        letters += 'u';
        break;
      case Role::assistant:
        letters += message.calls.empty() ? "a" : "A";
        for (const CallRecord& call : message.calls) letters += call.id;
        if (!message.calls.empty()) letters += ' ';
        break;
      case Role::tool:
        letters += message.tool_call_id;
        if (message.content.text.find("interrupted") != std::string::npos) letters += '!';
        break;
    }
  }
  return letters;
}

TEST(History, calls_that_nothing_answers_get_a_result) {
  static constexpr std::pair<std::string_view, std::string_view> kTable[] = {
      {"", ""},
      {"uau", "uau"},
      {"uA1 1a", "uA1 1a"},
      {"uA1 u", "uA1 1!u"},
      {"uA12 2u", "uA12 21!u"},
      {"uA12 u", "uA12 1!2!u"},
      {"uA1 A2 2", "uA1 1!A2 2"},
      {"uA1 A1 1", "uA1 1!A1 1"},
      {"uA1 u1", "uA1 u1"},
      {"A1", "A1 1!"},
  };
  for (const auto& [in, out] : kTable) {
    std::vector<Message> history = conversation(in);
    repair_calls(history);
    EXPECT_EQ(letters_of(history), out) << in;
  }
}

// The leg: a round with call 1 that the client never saw, then calls 2 (callgate's, with its result) and 3 (the client's).
TEST(History, a_leg_takes_the_place_of_what_the_client_knows) {
  const State::Leg leg{.messages = conversation("A1 1A23"), .results = conversation("2")};
  static constexpr std::pair<std::string_view, std::string_view> kTable[] = {
      {"uA3 3", "uA1 1A23 23"},
      {"uA3 3u", "uA1 1A23 23u"},
      {"uA3 u", "uA1 1A23 23!u"},
      {"3", "A1 1A23 23"},
      {"ua", "ua"},
      {"uA9 9", "uA9 9"},
      {"uaA3 3aA8 8", "uaA1 1A23 23aA8 8"},
  };
  for (const auto& [in, out] : kTable) {
    std::vector<Message> history = conversation(in);
    restore_legs(history, std::span(&leg, 1));
    EXPECT_EQ(letters_of(history), out) << in;
  }
}

TEST(History, arguments_are_json_whatever_the_model_wrote) {
  EXPECT_EQ(history_arguments(R"({"a": 1})"), R"({"a": 1})");
  EXPECT_EQ(history_arguments("{}"), "{}");
  EXPECT_EQ(history_arguments(R"({"a":)"), R"({"raw":"{\"a\":"})");
  EXPECT_EQ(history_arguments("[1]"), R"({"raw":"[1]"})");
  EXPECT_EQ(history_arguments(""), R"({"raw":""})");
}

TEST(History, the_answer_is_for_the_last_words_of_the_user) {
  EXPECT_EQ(letters_of(last_user_messages(conversation("uauuA1 1"))), "uu");
  EXPECT_EQ(letters_of(last_user_messages(conversation("a"))), "");
}

}  // namespace
}  // namespace callgate::loop::history_test
