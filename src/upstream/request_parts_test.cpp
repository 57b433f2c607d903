#include "upstream/request_parts.h"

#include <gtest/gtest.h>

#include "upstream/fields_testing.h"

namespace callgate::upstream::request_parts_test {
namespace {

TEST(RequestParts, names_what_is_left_behind_and_whether_it_matters) {
  Request request{.choices = 2};
  request.parallel_tool_calls = true;
  request.extra = {{"user", {"\"u\""}}, {"seed", {"1"}}, {"top_p", {"1"}}, {"stop", {"null"}}};
  const std::string_view carried[] = {"top_p"};
  const auto dropped = fields_left_behind(request, carried);
  ASSERT_EQ(dropped.size(), 3u);
  EXPECT_EQ(dropped[0].name, "n");
  EXPECT_TRUE(dropped[0].changes_meaning);
  EXPECT_EQ(dropped[1].name, "user");
  EXPECT_FALSE(dropped[1].changes_meaning);
  EXPECT_EQ(dropped[2].name, "seed");
}

TEST(RequestParts, one_call_at_a_time_is_carried_or_reported_by_every_wire_format) {
  Request request = request_with("tools");
  request.parallel_tool_calls = false;
  for (const WireFormat* format : all()) {
    const auto made = format->encode(request, {.model = "m"});
    ASSERT_TRUE(made.has_value()) << format->name;
    const bool carried = made->body.find("parallel_tool") != std::string::npos;
    const bool reported =
        std::any_of(made->dropped.begin(), made->dropped.end(), [](const DroppedField& field) {
          return field.name == "parallel_tool_calls" && !field.changes_meaning;
        });
    EXPECT_NE(carried, reported) << format->name;
  }
}

}  // namespace
}  // namespace callgate::upstream::request_parts_test
