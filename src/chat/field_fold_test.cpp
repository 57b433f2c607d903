#include "chat/field_fold.h"

#include <gtest/gtest.h>

namespace callgate::field_fold_test {
namespace {

using Scope = FieldReported::Scope;

std::string folded(Scope scope, std::string_view name,
                   std::initializer_list<std::string_view> reports) {
  FieldFold fold;
  for (const std::string_view json : reports) fold.add(scope, name, json);
  std::string out;
  fold.each([&](std::string_view field, std::string_view json) {
    out.append(field).append(" ").append(json);
  });
  return out;
}

TEST(FieldFold, appends_the_elements_of_lists_that_grow) {
  for (const std::string_view name :
       {"reasoning_details", "annotations", "images", "citations", "parts"}) {
    EXPECT_EQ(folded(Scope::message, name, {"[ ]", R"([{"a":1}])", "[]", R"([2,3])"}),
              std::string(name) + R"( [{"a":1},2,3])");
  }
}

TEST(FieldFold, joins_the_bytes_and_the_words_of_audio) {
  EXPECT_EQ(folded(Scope::message, "audio",
                   {R"({"id":"a1"})", R"({"data":"AAA","transcript":"Hi \ud83d"})",
                    R"({"data":"BBB=","transcript":"\ude00!"})", R"({"expires_at":7})"}),
            R"(audio {"id":"a1","data":"AAABBB=","transcript":"Hi \ud83d\ude00!","expires_at":7})");
}

TEST(FieldFold, appends_the_lists_of_logprobs) {
  EXPECT_EQ(folded(Scope::choice, "logprobs",
                   {R"({"content":null,"refusal":null})", R"({"content":[1]})",
                    R"({"content":[2],"refusal":null})"}),
            R"(logprobs {"content":[1,2],"refusal":null})");
}

TEST(FieldFold, takes_the_last_report_of_any_other_field) {
  EXPECT_EQ(folded(Scope::turn, "citations", {"[1]", "[1,2]"}), "citations [1,2]");
  EXPECT_EQ(folded(Scope::call, "extra_content", {R"({"a":1})", R"({"b":2})"}),
            R"(extra_content {"b":2})");
  EXPECT_EQ(folded(Scope::message, "x", {R"("a")", R"("b")"}), R"(x "b")");
}

TEST(FieldFold, takes_the_last_report_where_the_form_is_another) {
  EXPECT_EQ(folded(Scope::message, "images", {"[1]", "7"}), "images 7");
  EXPECT_EQ(folded(Scope::message, "audio", {R"({"data":"A"})", "7"}), "audio 7");
}

TEST(FieldFold, counts_the_bytes_that_it_holds) {
  FieldFold fold;
  EXPECT_EQ(fold.bytes(), 0u);
  fold.add(Scope::turn, "tier", "1");
  EXPECT_EQ(fold.bytes(), 5u);
  fold.add(Scope::turn, "tier", "22");
  EXPECT_EQ(fold.bytes(), 6u) << "the last report takes the place of the first";
  fold.add(Scope::message, "images", "[1]");
  fold.add(Scope::message, "images", "[2]");
  EXPECT_EQ(fold.bytes(), 6u + 11u);
}

TEST(FieldFold, keeps_the_order_and_bounds_the_names) {
  FieldFold fold;
  for (int i = 0; i < 1000; ++i) fold.add(Scope::message, "f" + std::to_string(i), "1");
  int seen = 0;
  fold.each([&](std::string_view name, std::string_view) {
    EXPECT_EQ(name, "f" + std::to_string(seen++));
  });
  EXPECT_EQ(seen, 256);
}

}  // namespace
}  // namespace callgate::field_fold_test
