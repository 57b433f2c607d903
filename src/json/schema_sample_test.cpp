#include "json/schema_sample.h"

#include <gtest/gtest.h>

#include "json/reader.h"

namespace callgate::json::schema_sample_test {
namespace {

TEST(SampleArguments, makes_a_value_for_each_kind_of_schema) {
  const struct {
    std::string_view property;
    std::string_view value;
  } cases[] = {
      {R"({"type":"string"})", R"("p")"},
      {R"({"type":"integer"})", "1"},
      {R"({"type":"number"})", "1"},
      {R"({"type":"boolean"})", "true"},
      {R"({"type":"null"})", "null"},
      {R"({})", R"("p")"},
      {R"(true)", R"("p")"},
      {R"({"const":"c"})", R"("c")"},
      {R"({"enum":["x","y"]})", R"("x")"},
      {R"({"type":"string","default":"d","enum":["x","d"]})", R"("d")"},
      {R"({"type":"string","examples":["e"]})", R"("e")"},
      {R"({"type":"number","example":2.5})", "2.5"},
      {R"({"type":["null","integer"]})", "1"},
      {R"({"type":"integer","minimum":3})", "3"},
      {R"({"type":"integer","minimum":2.5})", "3"},
      {R"({"type":"integer","exclusiveMinimum":3})", "4"},
      {R"({"type":"integer","minimum":3,"exclusiveMinimum":true})", "4"},
      {R"({"type":"integer","maximum":-2})", "-2"},
      {R"({"type":"integer","exclusiveMaximum":0})", "-1"},
      {R"({"type":"number","minimum":0,"maximum":0.5})", "0.5"},
      {R"({"type":"number","exclusiveMinimum":0.5,"exclusiveMaximum":1})", "0.75"},
      {R"({"type":"integer","multipleOf":5})", "5"},
      {R"({"type":"integer","maximum":9007199254740991})", "1"},
      {R"({"type":"string","format":"date"})", R"("2026-01-15")"},
      {R"({"type":"string","format":"email"})", R"("ada@example.com")"},
      {R"({"type":"string","format":"uri"})", R"("https://example.com/")"},
      {R"({"type":"string","minLength":4})", R"("pxxx")"},
      {R"({"type":"string","maxLength":0})", R"("")"},
      {R"({"type":"array","items":{"type":"integer"}})", "[1]"},
      {R"({"type":"array","minItems":2,"items":{"type":"string"}})", R"(["p","p 2"])"},
      {R"({"type":"array","maxItems":0})", "[]"},
      {R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"boolean"}]})", "[1,true]"},
      {R"({"type":"object","properties":{"a":{"type":"integer"},"b":{}},"required":["a"]})",
       R"({"a":1})"},
      {R"({"properties":{"a":{"default":7},"b":{}}})", R"({"a":7})"},
      {R"({"anyOf":[{"type":"null"},{"type":"integer","minimum":8}]})", "8"},
      {R"({"oneOf":[{"type":"boolean"},{"type":"string"}]})", "true"},
      {R"({"allOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]},)"
       R"({"properties":{"b":{"type":"boolean"}},"required":["b"]}]})",
       R"({"a":1,"b":true})"},
      {R"({"$ref":"#/$defs/City"})", R"("Rome")"},
      {R"({"$ref":"#/$defs/a~1b"})", "9"},
      {R"({"$ref":"#/nowhere"})", R"("p")"},
  };
  for (const auto& row : cases) {
    const std::string schema =
        R"({"type":"object","properties":{"p":)" + std::string(row.property) +
        R"(},"required":["p"],"$defs":{"City":{"const":"Rome"},"a/b":{"const":9}}})";
    EXPECT_EQ(sample_arguments(schema, ""), R"({"p":)" + std::string(row.value) + "}")
        << row.property;
  }
}

TEST(SampleArguments, takes_words_from_the_text_names_first) {
  const std::string_view schema =
      R"({"properties":{"from":{"type":"string"},"to":{"type":"string"},"by":{"type":"string"},)"
      R"("as":{"type":"string"}},"required":["from","to","by","as"]})";
  EXPECT_EQ(sample_arguments(schema, "Please travel from Paris to Rome"),
            R"({"from":"Paris","to":"Rome","by":"Please","as":"travel"})");
  EXPECT_EQ(sample_arguments(schema, "Please go to Rome", 1),
            R"({"from":"Please","to":"to","by":"by","as":"as"})");
}

TEST(SampleArguments, adds_required_properties_that_are_not_declared) {
  EXPECT_EQ(sample_arguments(R"({"required":["a\"b"]})", ""), R"({"a\"b":"a\"b"})");
}

TEST(SampleArguments, ends_on_a_schema_that_contains_itself) {
  const std::string_view schema =
      R"({"properties":{"l":{"$ref":"#"},"r":{"$ref":"#"},"m":{"$ref":"#"}},"required":["l","r","m"],)"
      R"("allOf":[{"$ref":"#"}]})";
  const std::string arguments = sample_arguments(schema, "");
  EXPECT_LT(arguments.size(), 100'000u);
  Reader in(arguments);
  in.skip();
  EXPECT_TRUE(in.finish());
}

TEST(SampleArguments, gives_an_empty_object_for_an_odd_schema) {
  for (const std::string_view schema :
       {"", "null", "[]", "{", "\"x\"", "{\"properties\":3,\"required\":{}}"}) {
    EXPECT_EQ(sample_arguments(schema, "Hi"), "{}") << schema;
  }
}

}  // namespace
}  // namespace callgate::json::schema_sample_test
