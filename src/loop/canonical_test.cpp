#include "loop/canonical.h"

#include <gtest/gtest.h>

namespace callgate::loop::canonical_test {
namespace {

TEST(CanonicalJson, is_the_same_for_texts_that_mean_the_same) {
  static constexpr std::pair<std::string_view, std::string_view> kTable[] = {
      {R"({})", R"({})"},
      {R"( { "b" : 1 , "a" : [ 1 , { "d":null,"c":true } ] } )",
       R"({"a":[1,{"c":true,"d":null}],"b":1})"},
      {R"({"a":"\u0041\u00e9"})", R"({"a":"Aé"})"},
      {R"({"a":1,"a":2})", R"({"a":2})"},
      {R"({"n":12345678901234567890.50})", R"({"n":12345678901234567890.50})"},
      {R"("x")", R"("x")"},
      {R"([])", R"([])"},
      {R"({"a":)", R"({"a":)"},
      {R"({} x)", R"({} x)"},
      {"", ""},
  };
  for (const auto& [in, out] : kTable) EXPECT_EQ(canonical_json(in), out) << in;
}

}  // namespace
}  // namespace callgate::loop::canonical_test
