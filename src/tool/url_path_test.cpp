#include "tool/url_path.h"

#include <gtest/gtest.h>

#include <string>

#include "tool/url_template.h"

namespace callgate::tool::url_path_test {
namespace {

TEST(UrlPath, knows_dot_segments_in_every_spelling) {
  const char* const refused[] = {
      "/a/..",
      "/a/../b",
      "/./a",
      "/a/.",
      "/a/..%2Fadmin",
      "/a/..%2fadmin",
      "/a%2F..%2Fadmin",
      "/a/%2e%2e/admin",
      "/a/%2E./admin",
      "/a/.%2e",
      "/a/%252e%252e/admin",
      "/a/..%252fadmin",
      "/a/%25252e%25252e%25252fadmin",
      "/a/..\\admin",
      "/a/..%5cadmin",
      "/a/..%255cadmin",
      "/a%5C..%5Cb",
      "/a/..;/admin",
      "/a/..;x=1/admin",
      "/a/.;/admin",
      "/a/..%3b/admin",
      "/a/..%3Bx/admin",
      "/a/..%00/admin",
      "/a/..%00.json",
      "/a/..%20/admin",
      "/a/%09../admin",
      "/a/.%0a./admin",
      "/a/..%3f/admin",
      "/a/..%23/admin",
      "/a/%c0%ae%c0%ae/admin",
      "/a/..%c0%afadmin",
      "/a/..%c1%9cadmin",
      "/a/%e0%80%ae%e0%80%ae/admin",
      "/a/%f0%80%80%ae%f0%80%80%ae%f0%80%80%afadmin",
      "/a/%fc%80%80%80%80%ae%fc%80%80%80%80%ae/admin",
      "/a/..%c0%2fadmin",
      "/a/%25c0%25ae%25c0%25ae/admin",
      "/a/%u002e%u002e/admin",
      "/a/..%u2215admin",
      "/a/..%uff0fadmin",
      "/a/%EF%BC%8E%EF%BC%8E/admin",
      "/a/..%EF%BC%8Fadmin",
      "/a/%E2%80%A5/admin",
      "/a/%E2%80%A4%E2%80%A4/admin",
      "/a/%2525252525252525252e",
  };
  for (const char* path : refused) EXPECT_TRUE(has_dot_segment(path)) << path;
  const char* const accepted[] = {
      "/",
      "/a/b.json",
      "/a/...",
      "/a/..b",
      "/a/b..",
      "/a/.hidden",
      "/a/1.2.3",
      "/a%2Fb",
      "/a/100%25",
      "/a/%C3%BC",
      "/a/x%2F..y",
      "/a/%E2%80%A6",
      "/a/b%20c.%20d",
      "/a/%25zz",
      "/a/%",
      "/a/a;..",
      "/a/%E4%BD%A0%E5%A5%BD",
      "/a/%F0%9F%98%80",
      "/a/..x;",
      "/a/.well-known",
  };
  for (const char* path : accepted) EXPECT_FALSE(has_dot_segment(path)) << path;
}

TEST(UrlPath, template_arguments_cannot_leave_their_place) {
  const auto parsed = UrlTemplate::parse("http://api.example/orders/{id}/lines?note={note}");
  ASSERT_TRUE(parsed);
  const auto expand = [&](const std::string& id, const std::string& note) {
    return parsed->expand({{"id", '"' + id + '"'}, {"note", '"' + note + '"'}});
  };
  for (const char* id :
       {"..", ".", "../admin", "a/../../admin", "..\\\\admin", "%2e%2e", "..%2fadmin",
        "%252e%252e%252fadmin", "..;", "\xC0\xAE\xC0\xAE", "x/.", "\xEF\xBC\x8E\xEF\xBC\x8E/x"}) {
    const auto place = expand(id, "x");
    ASSERT_FALSE(place) << id;
    EXPECT_EQ(place.error().code, ErrorCode::invalid_request);
  }
  // A query is not resolved.
  const auto place = expand("7", "../x");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->path, "/orders/7/lines?note=..%2Fx");
}

}  // namespace
}  // namespace callgate::tool::url_path_test
