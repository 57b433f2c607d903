#include "chat/tool_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chat/call_names.h"

namespace callgate::tool_index_test {
namespace {

TEST(ToolIndex, finds_the_first_tool_of_a_name_among_few_and_many) {
  for (const std::size_t count : {2u, 16u, 17u, 300u}) {
    std::vector<ToolSpec> tools(count);
    for (std::size_t i = 0; i < count; ++i) tools[i].name = "tool_" + std::to_string(i);
    tools.push_back(tools.front());
    const ToolIndex index(tools);
    EXPECT_EQ(index.find("tool_0"), &tools[0]) << count;
    EXPECT_EQ(index.find("tool_" + std::to_string(count - 1)), &tools[count - 1]) << count;
    EXPECT_EQ(index.find("tool_"), nullptr) << count;
    EXPECT_EQ(index.find(""), nullptr) << count;
  }
  EXPECT_EQ(ToolIndex().find("a"), nullptr);
}

TEST(CallNames, gives_the_newest_call_of_an_id_and_the_first_of_its_message) {
  Message first;
  first.calls = {{"a", "one", "{}", {}}, {"b", "two", "{}", {}}};
  Message second;
  second.calls = {{"a", "three", "{}", {}}, {"a", "four", "{}", {}}};
  CallNames names;
  EXPECT_EQ(names.find("a"), "");
  names.add(first);
  EXPECT_EQ(names.find("a"), "one");
  names.add(second);
  EXPECT_EQ(names.find("a"), "three");
  EXPECT_EQ(names.find("b"), "two");
  EXPECT_EQ(names.find("c"), "");
}

}  // namespace
}  // namespace callgate::tool_index_test
