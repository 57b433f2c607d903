#include "turn/attempt.h"

#include <gtest/gtest.h>

namespace callgate::server::attempt_test {
namespace {

TEST(SessionOf, is_the_first_header_that_has_a_name) {
  net::Headers headers;
  EXPECT_EQ(session_of(headers), "");
  headers.add("session-id", "last");
  EXPECT_EQ(session_of(headers), "last");
  headers.add("x-session-id", std::string(60'000, 's'));
  EXPECT_EQ(session_of(headers), "last") << "too long for a name";
  headers.add("x-callgate-session", std::string(1'024, 's'));
  EXPECT_EQ(session_of(headers).size(), 1'024u);
}

}  // namespace
}  // namespace callgate::server::attempt_test
