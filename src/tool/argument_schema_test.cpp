#include "tool/argument_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace callgate::tool::argument_schema_test {
namespace {

using testing::HasSubstr;

std::string fault(std::string_view schema, std::string_view arguments) {
  const Result<void> checked = check_arguments(schema, arguments);
  return checked ? "" : checked.error().message;
}

constexpr std::string_view kWeather = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
  "properties": {
    "city": {"type": "string", "minLength": 2},
    "unit": {"enum": ["c", "f", 7]},
    "days": {"type": "integer", "minimum": 1, "exclusiveMaximum": 15},
    "tags": {"type": "array", "items": {"type": ["string", "null"]}},
    "place": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}},
  "required": ["city"], "additionalProperties": false})";

TEST(ArgumentSchema, says_what_a_model_can_correct) {
  struct Row {
    const char* arguments;
    const char* message;
  };
  const Row rows[] = {
      {R"({"city":"Bonn"})", ""},
      {R"({"city":"Bonn","unit":7,"days":3.0,"tags":["a",null],"place":{"lat":1}})", ""},
      {R"({})", "arguments.city: missing"},
      {"", "arguments.city: missing"},
      {R"({"city":1})", "arguments.city: expected string, got number 1"},
      {R"({"city":"Bonn","unit":"kelvin"})",
       "arguments.unit: expected one of \"c\", \"f\", 7, got string \"kelvin\""},
      {R"({"city":"Bonn","tags":["a",5]})",
       "arguments.tags[1]: expected string or null, got number 5"},
      {R"({"city":"Bonn","place":{}})", "arguments.place.lat: missing"},
      {R"({"city":"Bonn","place":{"lat":"x"}})",
       "arguments.place.lat: expected number, got string \"x\""},
      {R"({"city":"Bonn","town":"x"})", "arguments.town: not a property of this tool"},
      {R"({"city":"Bonn","days":1.5})", "arguments.days: expected integer, got number 1.5"},
      {R"([])", "arguments: expected an object, got an array of 0"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(fault(kWeather, row.arguments), row.message) << row.arguments;
  EXPECT_THAT(fault(kWeather, R"({"city":"Bonn","days":0})"), HasSubstr("arguments.days: "));
  EXPECT_THAT(fault(kWeather, R"({"city":"Bonn","days":15})"), HasSubstr("arguments.days: "));
  EXPECT_THAT(fault(kWeather, R"({"city":"B"})"), HasSubstr("arguments.city: "));
  EXPECT_THAT(fault(kWeather, R"({"unit":1,"days":"x"})"),
              testing::AllOf(HasSubstr("arguments.city: missing"), HasSubstr("arguments.unit: "),
                             HasSubstr("arguments.days: expected integer")));
  EXPECT_THAT(fault(kWeather, R"({"city":)"), HasSubstr("arguments: not JSON"));
}

TEST(ArgumentSchema, keeps_large_integers_integers) {
  const char* schema = R"({"properties":{"n":{"type":"integer","maximum":9007199254740991}}})";
  EXPECT_EQ(fault(schema, R"({"n":9007199254740991})"), "");
  EXPECT_THAT(fault(schema, R"({"n":123456789012345678901234567890})"), HasSubstr("arguments.n"));
  EXPECT_EQ(fault(R"({"properties":{"n":{"type":"integer"}}})", R"({"n":12345678901234567890})"),
            "");
  EXPECT_EQ(fault(R"({"properties":{"n":{"type":"integer"}}})", R"({"n":-1e30})"), "");
  EXPECT_EQ(fault(R"({"properties":{"n":{"type":"number"}}})", R"({"n":1e999})"), "");
}

TEST(ArgumentSchema, understands_newer_keywords) {
  const char* schema = R"({"$defs":{"name":{"type":"string"}},
    "properties":{"a":{"$ref":"#/$defs/name","minLength":2},
                  "t":{"prefixItems":[{"type":"integer"}],"items":{"type":"string"}}},
    "dependentRequired":{"a":["b"]}})";
  EXPECT_EQ(fault(schema, R"({"a":"xy","b":1,"t":[1,"x"]})"), "");
  EXPECT_THAT(fault(schema, R"({"a":"x","b":1})"), HasSubstr("arguments.a"));
  EXPECT_THAT(fault(schema, R"({"a":5,"b":1})"), HasSubstr("arguments.a"));
  EXPECT_THAT(fault(schema, R"({"a":"xy"})"), HasSubstr("b"));
  EXPECT_NE(fault(schema, R"({"t":["x"]})"), "");
  EXPECT_NE(fault(schema, R"({"t":[1,2]})"), "");
}

TEST(ArgumentSchema, bounds_what_patterns_cost_together) {
  std::string list;
  for (int i = 0; i < 2'000; ++i) list += (i == 0 ? "\"" : ",\"") + std::string(4'000, 'a') + "\"";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NE(fault(R"({"properties":{"a":{"items":{"pattern":"^(a|b|aa|ab|ba|bb|aab|bba)*c?$"}}}})",
                  "{\"a\":[" + list + "]}"),
            "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            std::chrono::seconds(20));  // minutes without a bound
}

TEST(ArgumentSchema, checks_patterns_and_multiples) {
  const char* schema =
      R"({"properties":{"id":{"pattern":"^ORD-[0-9]{1,5}$"},"pattern":{"type":"string"},
    "step":{"multipleOf":0.1},"even":{"multipleOf":2}}})";
  EXPECT_EQ(fault(schema, R"({"id":"ORD-42","pattern":"x","step":0.3,"even":4})"), "");
  EXPECT_THAT(fault(schema, R"({"id":"ORD-x"})"),
              HasSubstr("arguments.id: expected text that matches"));
  EXPECT_THAT(fault(schema, R"({"even":2.5})"),
              HasSubstr("expected a multiple of 2, got number 2.5"));
  EXPECT_NE(fault(schema, R"({"step":0.35})"), "");
  // Found anywhere, over several lines, too.
  const char* inside = R"({"properties":{"a":{"pattern":"b+$|^x"}}})";
  EXPECT_EQ(fault(inside, R"({"a":"a\nabb"})"), "");
  EXPECT_EQ(fault(inside, R"({"a":"xa"})"), "");
  EXPECT_NE(fault(inside, R"({"a":"bbxa"})"), "");
}

TEST(ArgumentSchema, refuses_schemas_that_are_none) {
  for (
      const char* schema :
      {"[]", "{", R"({"type":"objekt"})", R"({"properties":[]})", R"({"$ref":"https://x/y"})",
       R"({"$ref":"#"})", R"({"allOf":[{"$ref":"#"}]})",
       R"({"$defs":{"a":{"anyOf":[{"not":{"$ref":"#/$defs/b"}}]},"b":{"if":{"$ref":"#/$defs/a"}}}})",
       R"({"properties":{"a":{"$ref":"#/nowhere"}}})",
       R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"})",
       R"({"properties":{"a":{"multipleOf":0}}})", R"({"properties":{"a":{"pattern":"("}}})",
       R"({"properties":{"a":{"pattern":"a)|(b"}}})", R"({"patternProperties":{"(a+)+$":{}}})",
       R"({"required":"x"})"}) {
    EXPECT_FALSE(ArgumentSchema::compile(schema).has_value()) << schema;
  }
  EXPECT_FALSE(ArgumentSchema::compile(std::string(300'000, ' ')).has_value());
}

TEST(ArgumentSchema, costs_a_bounded_amount_of_work) {
  const auto began = std::chrono::steady_clock::now();
  const std::string aaa = std::string(15'000, 'a') + "!";
  // Patterns that take others for ever, or all of the stack.
  EXPECT_NE(fault(R"({"properties":{"a":{"pattern":"^(a+)+$"}}})", "{\"a\":\"" + aaa + "\"}"), "");
  EXPECT_NE(fault(R"({"properties":{"a":{"pattern":"^(a|b)*$"}}})",
                  "{\"a\":\"" + std::string(5'000'000, 'a') + "\"}"),
            "");
  EXPECT_NE(fault(R"({"properties":{"a":{"pattern":"(a|b|ab)*c"}}})", "{\"a\":\"" + aaa + "\"}"),
            "");
  EXPECT_EQ(fault(R"({"properties":{"a":{"pattern":"((a?){9999}){9999}"}}})", R"({"a":"x"})"), "");
  EXPECT_EQ(fault(R"({"properties":{"a":{"format":"date-time"}}})",
                  "{\"a\":\"" + std::string(5'000'000, '1') + "\"}"),
            "");
  // Every level doubles the work.
  std::string deep = "1";
  for (int i = 0; i < 38; ++i) deep = "{\"a\":" + deep + "}";
  const char* doubling = R"({"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[
    {"properties":{"a":{"$ref":"#/$defs/n"}},"required":["z"]},
    {"properties":{"a":{"$ref":"#/$defs/n"}},"required":["y"]}]}}})";
  EXPECT_THAT(fault(doubling, deep), HasSubstr("cannot be checked"));
  std::string many = "{\"a\":[0";
  for (int i = 1; i < 20'000; ++i) many += "," + std::to_string(i);
  EXPECT_THAT(fault(R"({"properties":{"a":{"uniqueItems":true}}})", many + "]}"),
              HasSubstr("cannot be checked"));
  // References that go down the stack.
  std::string chain = "{\"$ref\":\"#/$defs/d0\",\"$defs\":{";
  for (int i = 0; i < 2000; ++i) {
    chain += "\"d" + std::to_string(i) + "\":{\"properties\":{\"a\":{\"$ref\":\"#/$defs/d" +
             std::to_string(i + 1) + "\"}}},";
  }
  EXPECT_FALSE(ArgumentSchema::compile(chain + "\"d2000\":{}}}").has_value());
  EXPECT_THAT(fault("{}", "{\"a\":" + std::string(5000, '[') + std::string(5000, ']') + "}"),
              HasSubstr("arguments: not JSON"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
}

TEST(ArgumentSchema, tells_as_many_faults_as_a_model_can_use) {
  const auto faults_of = [](int count) {
    std::string schema = R"({"properties":{)";
    std::string arguments = "{";
    for (int i = 0; i < count; ++i) {
      const std::string name = (i > 0 ? ",\"p" : "\"p") + std::to_string(i) + "\":";
      schema += name + R"({"type":"string"})";
      arguments += name + "1";
    }
    return fault(schema + "}}", arguments + "}");
  };
  const auto count_of = [](const std::string& text) {
    return std::count(text.begin(), text.end(), ';') + 1;
  };
  EXPECT_EQ(count_of(faults_of(1)), 1);
  EXPECT_EQ(count_of(faults_of(8)), 8);
  EXPECT_THAT(faults_of(8), testing::Not(HasSubstr("and more")));
  EXPECT_EQ(count_of(faults_of(9)), 9);
  EXPECT_THAT(faults_of(9), testing::EndsWith("; and more"));
}
}  // namespace
}  // namespace callgate::tool::argument_schema_test
