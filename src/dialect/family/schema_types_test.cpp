#include "dialect/family/schema_types.h"

#include <gtest/gtest.h>

namespace callgate::dialect::schema_types_test {
namespace {

using enum ValueKind;

struct KindCase {
  std::string_view schema;
  KindSet kinds;
};

TEST(SchemaTypes, flattens_what_a_schema_allows) {
  const KindCase cases[] = {
      {R"({"type": "string"})", {string}},
      {R"({"type": "integer"})", {integer}},
      {R"({"type": "number"})", {number}},
      {R"({"type": "boolean"})", {boolean}},
      {R"({"type": "object"})", {object}},
      {R"({"type": "array"})", {array}},
      {R"({"type": "null"})", {null}},
      {R"({"type": ["string", "null"]})", {string, null}},
      {R"({"type": []})", {}},
      {R"({"type": "banana"})", {}},
      {R"({"type": "int"})", {integer}},
      {R"({"type": "str"})", {string}},
      {R"({})", {}},
      {R"(true)", {}},
      {R"({"description": "x"})", {}},
      {R"({"anyOf": [{"type": "integer"}, {"type": "null"}]})", {integer, null}},
      {R"({"oneOf": [{"type": "object"}, {"type": "array"}]})", {object, array}},
      {R"({"allOf": [{"type": "number"}, {"description": "x"}]})", {number}},
      {R"({"anyOf": [{"oneOf": [{"allOf": [{"type": "boolean"}]}]}]})", {boolean}},
      {R"({"enum": ["a", "b"]})", {string}},
      {R"({"enum": [1, 2.5, true, null, {}, []]})",
       {integer, number, boolean, null, object, array}},
      {R"({"const": 7})", {integer}},
      {R"({"const": null})", {null}},
      {R"({"type": "string", "nullable": true})", {string, null}},
      {R"({"type": "string", "nullable": false})", {string}},
      {R"({"properties": {"a": {}}})", {object}},
      {R"({"items": {"type": "string"}})", {array}},
      {R"({"$ref": "#/$defs/x", "$defs": {"x": {"type": "integer"}}})", {integer}},
      {R"({"$ref": "#/definitions/x", "definitions": {"x": {"type": "array"}}})", {array}},
      {R"({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "integer"}}})", {integer}},
      {R"({"$ref": "#/$defs/a~0b", "$defs": {"a~b": {"type": "integer"}}})", {integer}},
      {R"({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"type": "integer"}}})", {integer}},
      {R"({"$ref": "#/$defs/a%25", "$defs": {"a%": {"type": "integer"}}})", {integer}},
      {R"({"$ref": "#/list/1", "list": [{"type": "null"}, {"type": "number"}]})", {number}},
      {R"({"$ref": "#/$defs/none", "$defs": {}})", {}},
      {R"({"$ref": "other.json#/x"})", {}},
      {R"({"$ref": "x/$defs/a", "$defs": {"a": {"type": "integer"}}})", {}},
      {R"({"$ref": "", "type": "string"})", {string}},
      {R"({"$ref": "#"})", {}},
      {R"({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})",
       {}},
      {R"({"anyOf": [{"$ref": "#"}, {"type": "string"}]})", {string}},
      {R"(not json)", {}},
      {R"({"type": "string")", {}},
  };
  for (const KindCase& test : cases) {
    EXPECT_EQ(SchemaTree(test.schema).root().kinds(), test.kinds) << test.schema;
  }
}

TEST(SchemaTypes, finds_members_behind_references_and_combiners) {
  const SchemaTree tree(R"({
    "allOf": [{"$ref": "#/$defs/base"}],
    "properties": {"a": {"type": "integer"}, "o": {"properties": {"deep": {"type": "boolean"}}}},
    "additionalProperties": {"type": "number"},
    "$defs": {"base": {"properties": {"b": {"type": "array", "items": {"type": "null"}}}}}
  })");
  const SchemaPlace root = tree.root();
  EXPECT_EQ(root.member("a").kinds(), KindSet{integer});
  EXPECT_EQ(root.member("b").kinds(), KindSet{array});
  EXPECT_EQ(root.member("b").element().kinds(), KindSet{null});
  EXPECT_EQ(root.member("o").member("deep").kinds(), KindSet{boolean});
  EXPECT_EQ(root.member("other").kinds(), KindSet{number});
  EXPECT_TRUE(root.member("o").member("none").is_nothing());
  EXPECT_TRUE(SchemaPlace().member("x").is_nothing());
  EXPECT_TRUE(SchemaPlace().kinds().empty());
}

TEST(SchemaTypes, lists_members_in_order) {
  const SchemaTree tree(R"({"properties": {"z": {}, "a": {}}})");
  EXPECT_EQ(tree.root().member_name(0), "z");
  EXPECT_EQ(tree.root().member_name(1), "a");
  EXPECT_EQ(tree.root().member_name(2), "");
}

TEST(SchemaTypes, lists_what_is_required_through_references_and_allOf) {
  const SchemaTree tree(
      R"({"required": ["a", 1], "allOf": [{"$ref": "#/$defs/x"}, {"required": ["c"]}],
          "anyOf": [{"required": ["d"]}], "$defs": {"x": {"required": ["b"], "$ref": "#"}}})");
  EXPECT_EQ(tree.root().required(), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(SchemaPlace().required().empty());
}

TEST(SchemaTypes, knows_wrappers_by_name_and_by_what_the_tool_has) {
  const SchemaTree tree(R"({"properties": {"input": {}, "city": {}}})");
  EXPECT_TRUE(tree.root().is_wrapped_by("arguments"));
  EXPECT_FALSE(tree.root().is_wrapped_by("input"));
  EXPECT_FALSE(tree.root().is_wrapped_by("town"));
  EXPECT_FALSE(SchemaPlace().is_wrapped_by("arguments"));
  EXPECT_TRUE(tree.root().knows_members_of(R"({"city": 1})"));
  EXPECT_FALSE(tree.root().knows_members_of(R"({"city": 1, "town": 2})"));
  EXPECT_FALSE(tree.root().knows_members_of("[]"));
}

TEST(ToolSchemas, reads_the_schema_of_the_tool_that_is_called) {
  const ToolSpec tools[] = {
      {.name = "f", .parameters = {R"({"properties": {"k": {"type": "null"}}})"}}, {.name = "g"}};
  ToolSchemas schemas(tools);
  EXPECT_TRUE(schemas.may_be_called("f"));
  EXPECT_FALSE(schemas.may_be_called("h"));
  EXPECT_EQ(schemas.arguments_of("f").member("k").kinds(), KindSet{null});
  EXPECT_EQ(schemas.arguments_of("f").member("k").kinds(), KindSet{null});
  EXPECT_TRUE(schemas.arguments_of("g").member("k").is_nothing());
  EXPECT_TRUE(schemas.arguments_of("h").is_nothing());
}

}  // namespace
}  // namespace callgate::dialect::schema_types_test
