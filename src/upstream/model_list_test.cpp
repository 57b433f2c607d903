#include "upstream/model_list.h"

#include <gtest/gtest.h>

namespace callgate::upstream::model_list_test {
namespace {

using Models = std::vector<ServedModel>;

TEST(ModelList, is_read_in_the_form_of_each_wire_format) {
  EXPECT_EQ(
      read_model_list("openai_chat",
                      R"({"object":"list","data":[{"id":"a","created":7,"x":[1]},{"id":"b"}]})"),
      (Models{{"a", 7}, {"b", 0}}));
  EXPECT_EQ(
      read_model_list(
          "anthropic_messages",
          R"({"data":[{"type":"model","id":"claude","created_at":"2026"}],"has_more":false})"),
      (Models{{"claude", 0}}));
  EXPECT_EQ(read_model_list("ollama", R"({"models":[{"name":"qwen3:8b","model":"qwen3:8b"}]})"),
            (Models{{"qwen3:8b", 0}}));
  EXPECT_EQ(read_model_list("gemini", R"({"models":[{"name":"models/gemini-3"}]})"),
            (Models{{"gemini-3", 0}}));
}

TEST(ModelList, leaves_out_what_has_no_name) {
  EXPECT_EQ(read_model_list("openai_chat", R"({"data":[{}, 1, {"id":""}, {"id":5}, {"id":"a"}]})"),
            (Models{{"a", 0}}));
  EXPECT_EQ(read_model_list("openai_chat", R"({"data":[]})"), Models{});
}

TEST(ModelList, is_nothing_where_it_is_not_one) {
  for (const char* body : {"", "[]", "{}", R"({"data":{}})", R"({"data":[)", "<html>", "null"}) {
    EXPECT_FALSE(read_model_list("openai_chat", body)) << body;
  }
  EXPECT_FALSE(read_model_list("codex_proto", R"({"data":[]})"));
  EXPECT_TRUE(model_list_path("qwen_web").empty());
}

TEST(ModelList, is_bounded) {
  std::string body = R"({"data":[)";
  for (std::size_t i = 0; i < kMostModels + 5; ++i) body += R"({"id":"m"},)";
  body.back() = ']';
  EXPECT_EQ(read_model_list("openai_chat", body + "}")->size(), kMostModels);
}

}  // namespace
}  // namespace callgate::upstream::model_list_test
