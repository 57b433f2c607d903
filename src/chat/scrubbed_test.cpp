#include "chat/scrubbed.h"

#include <gtest/gtest.h>

#include <vector>

namespace callgate::scrubbed_test {
namespace {

TEST(Scrubbed, leaves_out_members_by_path) {
  const std::vector<std::string> paths{"user", "metadata.id", "deep.er.x"};
  EXPECT_EQ(
      without_members(
          R"({"user":"ann", "metadata":{"id":1,"run":"\u00e4"},"deep":{"er":{"x":1}},"n":[1]})",
          paths),
      R"({"metadata":{"run":"\u00e4"},"deep":{"er":{}},"n":[1]})");
  EXPECT_EQ(without_members("[1]", paths), "[1]");
  EXPECT_EQ(without_members(R"({"user":)", paths), R"({"user":)");
  EXPECT_EQ(without_members(R"({"username":1})", paths), R"({"username":1})");
}

TEST(Scrubbed, leaves_them_out_of_a_request) {
  Request request;
  request.extra = {{.name = "user", .value = {"\"ann\""}},
                   {.name = "metadata", .value = {R"({"id":1,"run":2})"}},
                   {.name = "temperature", .value = {"1"}}};
  scrub_request(request, std::vector<std::string>{"user", "metadata.id"});
  ASSERT_EQ(request.extra.size(), 2u);
  EXPECT_EQ(request.extra[0].value.text, R"({"run":2})");
  EXPECT_EQ(request.extra[1].name, "temperature");
}

}  // namespace
}  // namespace callgate::scrubbed_test
