#include "dialect/tool_schema.h"

#include <gtest/gtest.h>

namespace callgate::dialect::tool_schema_test {
namespace {

std::string sample(std::string property) {
  ToolSpec tool{.name = "f"};
  tool.parameters.text =
      R"({"type":"object","$defs":{"City":{"enum":["Rome"]}},"required":["p"],"properties":{"p":)" +
      std::move(property) + "}}";
  return sample_arguments(tool);
}

TEST(ToolSchema, samples_fit_the_schema) {
  const struct {
    std::string_view property;
    std::string_view value;
  } rows[] = {
      {R"({"type":"string"})", R"("the p")"},
      {R"({"const":"fixed"})", R"("fixed")"},
      {R"({"type":"string","examples":["Paris","Rome"]})", R"("Paris")"},
      {R"({"type":"string","example":"Oslo"})", R"("Oslo")"},
      {R"({"type":"string","enum":["a","b"],"default":"b"})", R"("b")"},
      {R"({"type":["string","null"],"default":null})", R"("the p")"},
      {R"({"type":"string","format":"date"})", R"("2026-01-15")"},
      {R"({"type":"string","maxLength":3})", R"("the")"},
      {R"({"type":"integer"})", "1"},
      {R"({"type":"integer","minimum":18})", "18"},
      {R"({"type":"integer","exclusiveMinimum":9,"multipleOf":5})", "10"},
      {R"({"type":"number","maximum":0.5})", "0.5"},
      {R"({"type":"boolean"})", "true"},
      {R"({"type":"array","items":{"type":"integer","minimum":4}})", "[4]"},
      {R"({"type":"object","properties":{"a":{"const":2},"b":{}},"required":["a"]})", R"({"a":2})"},
      {R"({"anyOf":[{"type":"null"},{"type":"integer","minimum":8}]})", "8"},
      {R"({"$ref":"#/$defs/City"})", R"("Rome")"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(sample(std::string(row.property)), R"({"p": )" + std::string(row.value) + "}")
        << row.property;
  }
}

TEST(ToolSchema, samples_the_required_parameters_or_the_first_one) {
  ToolSpec tool{.name = "f"};
  tool.parameters.text = R"({"properties":{"a":{"type":"integer"},"b":{"const":7}}})";
  EXPECT_EQ(sample_arguments(tool), R"({"a": 1})");
  tool.parameters.text = R"({"properties":{"a":{},"b":{"const":7}},"required":["b"]})";
  EXPECT_EQ(sample_arguments(tool), R"({"b": 7})");
  tool.parameters.text.clear();
  EXPECT_EQ(sample_arguments(tool), "{}");
}

}  // namespace
}  // namespace callgate::dialect::tool_schema_test
