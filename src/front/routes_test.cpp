#include "front/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::server::routes_test {
namespace {

using testing::HasSubstr;

Routes some_routes() {
  Routes routes;
  routes.add({"GET", "/v1/things", Guard::key, {}});
  routes.add({"GET", "/v1/things/*", Guard::admin, {}});
  routes.add({"DELETE", "/v1/things/*", Guard::admin, {}});
  routes.add({"GET", "/", Guard::open, {}});
  routes.add({"OPTIONS", "/*", Guard::open, {}});
  return routes;
}

const Route* find(std::string_view method, std::string_view path) {
  static const Routes kRoutes = some_routes();
  std::string allow;
  return kRoutes.find(method, path, allow).value_or(nullptr);
}

TEST(Routes, finds_by_method_and_path) {
  ASSERT_NE(find("GET", "/v1/things"), nullptr);
  EXPECT_EQ(find("GET", "/v1/things")->guard, Guard::key);
  ASSERT_NE(find("GET", "/v1/things/a/b"), nullptr);
  EXPECT_EQ(find("GET", "/v1/things/a/b")->guard, Guard::admin);
  ASSERT_NE(find("DELETE", "/v1/things/a"), nullptr);
  EXPECT_EQ(find("DELETE", "/v1/things/a")->method, "DELETE");
}

TEST(Routes, a_star_needs_at_least_one_more_byte) {
  EXPECT_EQ(find("DELETE", "/v1/things/"), nullptr);
  EXPECT_EQ(find("GET", "/v1/thingsx"), nullptr);
}

TEST(Routes, head_is_answered_like_get) {
  ASSERT_NE(find("HEAD", "/v1/things"), nullptr);
  EXPECT_EQ(find("HEAD", "/v1/things")->method, "GET");
}

TEST(Routes, names_the_methods_of_a_known_path) {
  std::string allow;
  const auto found = some_routes().find("POST", "/v1/things/a", allow);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_allowed);
  EXPECT_EQ(allow, "GET, HEAD, DELETE, OPTIONS");
  EXPECT_THAT(found.error().message, HasSubstr("POST is not allowed here, use " + allow));
}

TEST(Routes, methods_are_named_once_and_only_where_none_answers) {
  Routes routes;
  routes.add({"POST", "/v1/talks", Guard::model, {}});
  routes.add({"GET", "/v1/talks", Guard::model, {}});
  routes.add({"POST", "/v1/*", Guard::key, {}});
  std::string allow;
  ASSERT_TRUE(routes.find("GET", "/v1/talks", allow));
  EXPECT_EQ(allow, "");
  ASSERT_FALSE(routes.find("PUT", "/v1/talks", allow));
  EXPECT_EQ(allow, "POST, GET, HEAD, OPTIONS");
}

TEST(Routes, lists_the_paths_there_are_for_an_unknown_one) {
  std::string allow;
  const auto found = some_routes().find("GET", "/v2", allow);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_EQ(found.error().upstream_code, "unknown_url");
  EXPECT_EQ(allow, "");
  EXPECT_EQ(found.error().message,
            "there is no /v2; known paths: GET /v1/things, GET /v1/things/*, DELETE /v1/things/*");
}

TEST(Routes, any_path_can_be_asked_for_its_options) {
  EXPECT_NE(find("OPTIONS", "/v1/things"), nullptr);
  EXPECT_EQ(find("OPTIONS", "/"), nullptr);
}

}  // namespace
}  // namespace callgate::server::routes_test
