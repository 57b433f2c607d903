#include "turn/model/model_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chat/content.h"

namespace callgate::server::model_choice_test {
namespace {

using testing::HasSubstr;

class ModelChoiceTest : public testing::Test {
 protected:
  static Snapshot snapshot_of(std::string_view more) {
    const std::string text =
        "[[upstream]]\nname = \"a\"\nwire = \"script\"\n"
        "[[model]]\nname = \"small\"\nupstream = \"a\"\n"
        "[[model]]\nname = \"m\"\nupstream = \"a\"\n" +
        std::string(more);
    auto config = parse_config(text, "test.toml");
    EXPECT_TRUE(config) << config.error().message;
    return Snapshot(std::move(*config), Access({}, nullptr));
  }
  static Request request_of(std::string_view system, std::string_view user) {
    Request request;
    request.model = "m";
    if (!system.empty()) {
      Message& prompt = request.messages.emplace_back();
      prompt.role = Role::system;
      prompt.content = text_content(system);
    }
    request.messages.emplace_back().content = text_content(user);
    return request;
  }
};

TEST_F(ModelChoiceTest, sends_titles_and_summaries_elsewhere) {
  const Snapshot snapshot = snapshot_of("title_model = \"small\"\n");
  const auto chosen = [&](const Request& request) {
    return choose_for(snapshot, nullptr, request)->config->name;
  };
  EXPECT_EQ(chosen(request_of("", "Generate a short title for this chat.")), "small");
  EXPECT_EQ(chosen(request_of("You are a TITLE GENERATOR.", "Where is ORD-42?")), "small");
  EXPECT_EQ(chosen(request_of("Be brief.", "Where is ORD-42?")), "m");
  Request with_tools = request_of("", "Generate a short title for this chat.");
  with_tools.tools.emplace_back().name = "find";
  EXPECT_EQ(chosen(with_tools), "m");
}

TEST_F(ModelChoiceTest, refuses_what_is_longer_than_the_context) {
  const Snapshot snapshot = snapshot_of("context_length = 100\n");
  EXPECT_TRUE(choose_for(snapshot, nullptr, request_of("", "Hi")));
  const auto refused = choose_for(snapshot, nullptr, request_of("", std::string(4000, 'x')));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().upstream_code, "context_length_exceeded");
  EXPECT_THAT(refused.error().message, HasSubstr("context length is 100 tokens"));
}

TEST_F(ModelChoiceTest, refuses_replayed_calls_where_it_should) {
  const Request request = request_of("", "<use_tool><name>a</name></use_tool>");
  EXPECT_TRUE(choose_for(snapshot_of(""), nullptr, request));
  const auto refused = choose_for(snapshot_of("replayed_tools = \"reject\"\n"), nullptr, request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().param, "messages[0].content");
}

}  // namespace
}  // namespace callgate::server::model_choice_test
