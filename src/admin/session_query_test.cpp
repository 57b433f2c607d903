#include "admin/session_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::server::session_query_test {
namespace {

using testing::HasSubstr;

TEST(SessionQuery, reads_every_filter) {
  const auto filter = read_session_filter("model=m%201&key=ann&upstream=u&cursor=c&limit=500");
  ASSERT_TRUE(filter.has_value());
  EXPECT_EQ(filter->model, "m 1");
  EXPECT_EQ(filter->key_name, "ann");
  EXPECT_EQ(filter->upstream, "u");
  EXPECT_EQ(filter->cursor, "c");
  EXPECT_EQ(filter->limit, 500u);
}

TEST(SessionQuery, names_the_parameter_that_is_wrong) {
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {"limit=0", "limit: \"0\", expected 1 to 500"},
      {"limit=501", "limit: \"501\", expected 1 to 500"},
      {"limit=ten", "limit: \"ten\", expected 1 to 500"},
      {"model=", "model: \"\", expected some text"},
      {"color=red", "unknown parameter \"color\"; known: model, key, upstream, limit, cursor"},
  };
  for (const auto& [query, message] : wrong) {
    const auto filter = read_session_filter(query);
    ASSERT_FALSE(filter.has_value()) << query;
    EXPECT_EQ(filter.error().message, message);
    EXPECT_EQ(filter.error().code, ErrorCode::invalid_request);
    EXPECT_EQ(filter.error().param, query.substr(0, query.find('=')));
  }
}

TEST(SessionQuery, prints_pages_and_answers) {
  store::Session session;
  session.id = "s1";
  session.upstream = "u";
  session.turns = 2;
  store::SessionPage page;
  page.sessions = {session, session};
  EXPECT_THAT(print_sessions(page), HasSubstr(R"("has_more":false,"next_cursor":null)"));
  page.cursor = "next";
  const std::string printed = print_sessions(page);
  EXPECT_THAT(printed, HasSubstr(R"("has_more":true,"next_cursor":"next")"));
  EXPECT_THAT(printed, HasSubstr(R"(},{"id":"s1","object":"session","key":null,"upstream":"u")"));
  store::SessionAnswer answer;
  answer.state = store::AnswerState::cut;
  answer.request = "req_1";
  const std::string one = print_session(session, {answer, answer});
  EXPECT_THAT(one, HasSubstr(R"("turns":2)"));
  EXPECT_THAT(one, HasSubstr(R"("answers":[{"state":"cut",)"));
  EXPECT_THAT(one, HasSubstr(R"(},{"state":"cut",)"));
  EXPECT_THAT(one, HasSubstr(R"("request":"req_1")"));
  EXPECT_EQ(print_deleted_session("s1"), R"({"id":"s1","object":"session","deleted":true})");
}

}  // namespace
}  // namespace callgate::server::session_query_test
