#include "admin/log_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/log_time.h"
#include "base/url_query.h"

namespace callgate::server::log_query_test {
namespace {

using store::RequestState;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t kNow = 1'794'798'000'123;  // 2026-11-16T03:00:00.123Z

class FakeLog final : public store::RequestLog {
 public:
  void begin(store::RequestRecord) override {}
  void complete(store::RequestOutcome) override {}
  store::Health health() const override { return {.recorded = 9}; }
  std::uint64_t recorded() const override { return 9; }
  bool flush(std::chrono::milliseconds) override { return true; }
  Result<std::vector<store::RequestRow>> recent(std::size_t) override {
    return std::vector<store::RequestRow>{row_};
  }
  Result<std::optional<store::RequestRow>> get(store::RequestName name) override {
    asked_key_ = name.key ? std::optional(std::string(*name.key)) : std::nullopt;
    return name.id == row_.record.id ? std::optional(row_) : std::nullopt;
  }
  Result<store::RequestPage> search(const store::RequestFilter& filter) override {
    filter_ = filter;
    return store::RequestPage{.rows = {row_}, .cursor = "next"};
  }
  Result<std::vector<store::CallRow>> calls(store::RequestName) override {
    return std::vector<store::CallRow>{{.id = "c1", .name = "f"}};
  }
  Result<store::RequestContent> content(store::RequestName) override { return content_; }
  Result<std::vector<store::UsageRow>> usage(const store::UsageQuestion& question) override {
    asked_ = question;
    return std::vector<store::UsageRow>{
        {.group = "m", .second = "k", .requests = 2, .cost = 1'500'000'000, .unpriced = 1}};
  }
  Result<store::StoreStats> stats() override {
    return store::StoreStats{.engine = "fake", .requests = 7, .oldest_at = kNow};
  }

  store::RequestRow row_{
      .record = {.id = "req 1", .received_at = kNow, .protocol = "openai_chat", .model = "m"},
      .outcome = {.state = RequestState::failed,
                  .http_status = 502,
                  .error_code = "upstream_failed",
                  .error_message = "broke",
                  .usage = Usage{.prompt_tokens = 3},
                  .total_ms = 12}};
  store::RequestContent content_{
      .received = R"({"a":1})", .sent = "no json", .events = R"([{"type":"text","text":"x"}])"};
  store::RequestFilter filter_;
  std::optional<std::string> asked_key_;
  store::UsageQuestion asked_;
};

Result<std::string> ask(FakeLog& log, std::string path, std::string query = "") {
  return answer_log_query(log,
                          {.path = std::move(path), .query = std::move(query), .now_ms = kNow});
}

TEST(LogQuery, reads_every_filter) {
  FakeLog log;
  ASSERT_TRUE(ask(log, "/v1/requests",
                  "since=2h&until=2026-11-16T02:30:00.500Z&model=a%2Fb&key=k&session=s&upstream=u&"
                  "tool=t&state=failed&finish_reason=tool_calls&has_tool_calls=true&error=true&"
                  "text=two+words&limit=7&cursor=c%3D1"));
  const store::RequestFilter& filter = log.filter_;
  EXPECT_EQ(filter.since, kNow - 7'200'000);
  EXPECT_EQ(filter.until, kNow - 123 - 1'800'000 + 500);
  EXPECT_EQ(filter.model, "a/b");
  EXPECT_EQ(filter.key_name, "k");
  EXPECT_EQ(filter.session, "s");
  EXPECT_EQ(filter.upstream, "u");
  EXPECT_EQ(filter.tool, "t");
  EXPECT_EQ(filter.state, RequestState::failed);
  EXPECT_EQ(filter.finish_reason, FinishReason::tool_calls);
  EXPECT_EQ(filter.has_calls, true);
  EXPECT_EQ(filter.has_error, true);
  EXPECT_EQ(filter.text, "two words");
  EXPECT_EQ(filter.limit, 7u);
  EXPECT_EQ(filter.cursor, "c=1");
  ASSERT_TRUE(
      ask(log, "/v1/requests", "error=upstream_failed&since=1794798000123&until=2026-11-16"));
  EXPECT_EQ(log.filter_.error_code, "upstream_failed");
  EXPECT_EQ(log.filter_.since, kNow);
  EXPECT_EQ(log.filter_.until, kNow - 123 - 3 * 3'600'000);
  ASSERT_TRUE(ask(log, "/v1/requests", "missed_call=true"));
  EXPECT_EQ(log.filter_.has_missed_call, true);
  ASSERT_TRUE(ask(log, "/v1/requests", "missed_call=hermes"));
  EXPECT_EQ(log.filter_.missed_call, "hermes");
}

TEST(LogQuery, names_the_parameter_at_fault_and_what_was_expected) {
  struct Case {
    const char* path;
    const char* query;
    const char* param;
    const char* expected;
  };
  const Case cases[] = {
      {"/v1/requests", "since=yesterday", "since", "2026-11-16T03:00:00Z"},
      {"/v1/requests", "until=2026-13-01", "until", "a time"},
      {"/v1/requests", "limit=0", "limit", "1 to 500"},
      {"/v1/requests", "limit=501", "limit", "1 to 500"},
      {"/v1/requests", "limit=x", "limit", "1 to 500"},
      {"/v1/requests", "state=done", "state", "running|completed|failed|disconnected|interrupted"},
      {"/v1/requests", "finish_reason=end", "finish_reason", "stop|tool_calls"},
      {"/v1/requests", "has_tool_calls=1", "has_tool_calls", "true|false"},
      {"/v1/requests", "error=No+Way", "error", "upstream_failed"},
      {"/v1/requests", "missed_call=klingon", "missed_call", "hermes"},
      {"/v1/requests", "model=", "model", "some text"},
      {"/v1/requests", "modle=m", "modle", "did you mean \"model\"?"},
      {"/v1/requests/x", "limit=1", "limit", "unknown parameter"},
      {"/v1/usage", "group=week", "group", "hour|day|model|key"},
      {"/v1/usage", "limit=1", "limit", "Known: group, since, until"},
      {"/v1/stats", "a=b", "a", "unknown parameter"},
  };
  FakeLog log;
  for (const Case& one : cases) {
    const auto answer = ask(log, one.path, one.query);
    ASSERT_FALSE(answer) << one.query;
    EXPECT_EQ(answer.error().code, ErrorCode::invalid_request) << one.query;
    EXPECT_EQ(answer.error().param, one.param) << one.query;
    EXPECT_THAT(answer.error().message, HasSubstr(one.expected)) << one.query;
  }
}

TEST(LogQuery, answers_a_page) {
  FakeLog log;
  EXPECT_EQ(
      *ask(log, "/v1/requests"),
      R"({"object":"list","data":[{"id":"req 1","object":"request","received_at":"2026-11-16T03:00:00.123Z","state":"failed","model":"m","upstream":null,"dialect":null,"key":null,"session":null,"trace_id":null,"protocol":"openai_chat","client_address":"","stream":false,"status":502,"finish_reason":null,"error":{"code":"upstream_failed","message":"broke"},"cut":null,"tool_calls":0,"usage":{"prompt_tokens":3,"completion_tokens":0,"total_tokens":0,"cached_tokens":0,"reasoning_tokens":0},"bytes_in":0,"bytes_out":0,"frames":0,"repairs":0,"repair_names":null,"missed_call":null,"cost":null,"attempts":0,"first_byte_ms":null,"first_token_ms":null,"total_ms":12}],"has_more":true,"next_cursor":"next"})");
  EXPECT_EQ(log.filter_.limit, 50u);
}

TEST(LogQuery, answers_one_request_with_its_content_as_json_where_it_is_json) {
  FakeLog log;
  const auto answer = ask(log, "/v1/requests/req%201");
  ASSERT_TRUE(answer);
  EXPECT_THAT(*answer, HasSubstr(R"("calls":[{"id":"c1","name":"f","outcome":"complete"}])"));
  EXPECT_THAT(
      *answer,
      HasSubstr(
          R"("received":{"a":1},"sent":"no json","response":null,"events":[{"type":"text","text":"x"}]})"));
  EXPECT_EQ(*ask(log, "/v1/requests/req%201/events"),
            R"({"object":"list","data":[{"type":"text","text":"x"}]})");
  log.content_ = {};
  EXPECT_EQ(*ask(log, "/v1/requests/req%201/events"), R"({"object":"list","data":[]})");
  EXPECT_EQ(ask(log, "/v1/requests/other").error().code, ErrorCode::not_found);
  EXPECT_THAT(ask(log, "/v1/requests/req%201/capture").error().message,
              HasSubstr("ask the gateway"));
}

TEST(LogQuery, answers_usage_and_stats) {
  FakeLog log;
  EXPECT_THAT(
      *ask(log, "/v1/usage", "group=model&since=1d&until=2026-11-16"),
      HasSubstr(
          R"({"object":"list","group":"model","data":[{"group":"m","model":"m","requests":2,)"));
  EXPECT_EQ(log.asked_.groups, std::vector{store::UsageGroup::model});
  EXPECT_EQ(log.asked_.since, kNow - 86'400'000);
  EXPECT_THAT(*ask(log, "/v1/usage", "group=tool,key&key=dev"),
              AllOf(HasSubstr(R"("group":"tool,key","data":[{"group":"m","tool":"m","key":"k")"),
                    HasSubstr(R"("cost":1.5,"unpriced_requests":1)")));
  EXPECT_EQ(log.asked_.key_name, "dev");
  ASSERT_TRUE(ask(log, "/v1/usage"));
  EXPECT_EQ(log.asked_.groups, std::vector{store::UsageGroup::day});
  EXPECT_EQ(log.asked_.until, kNow + 1);
  for (const char* wrong : {"group=", "group=week", "group=key,", "group=,key", "group=key,key",
                            "group=key,model,day", "group=key,week"}) {
    EXPECT_FALSE(ask(log, "/v1/usage", wrong)) << wrong;
  }
  EXPECT_THAT(
      *ask(log, "/v1/stats"),
      HasSubstr(
          R"("engine":"fake","schema":0,"requests":7,"sessions":0,"bytes":0,"oldest_at":"2026-11-16T03:00:00.123Z","writer":{"healthy":true,"problem":null,"recorded":9)"));
}

TEST(LogTime, reads_what_it_prints_and_shorter_forms) {
  EXPECT_EQ(to_time(print_time(kNow), 0), kNow);
  EXPECT_EQ(to_time("2026-11-16T03:00:00Z", 0), kNow - 123);
  EXPECT_EQ(to_time("2026-11-16T03:00Z", 0), kNow - 123);
  EXPECT_EQ(to_time("15m", kNow), kNow - 900'000);
  for (const char* wrong :
       {"", "x", "-1", "2026-02-30", "2026-1-1", "2026-11-16T", "2026-11-16T03Z",
        "2026-11-16T03:00", "2026-11-16T24:00Z", "2026-11-16T03:00:00.5Z", "2026-11-16T03:00:00ZZ",
        "m", "1w", "99999999d"}) {
    EXPECT_FALSE(to_time(wrong, kNow)) << wrong;
  }
}

TEST(UrlQuery, encodes_what_it_decodes) {
  const std::string odd = "a b/c=d&e%f+\xC3\xBC\n";
  EXPECT_EQ(percent_decoded(percent_encoded(odd)), odd);
  const auto parameters = read_url_query("&a=1+2&&b&c=%41%4");
  ASSERT_EQ(parameters.size(), 3u);
  EXPECT_EQ(parameters[0].value, "1 2");
  EXPECT_EQ(parameters[1].name, "b");
  EXPECT_EQ(parameters[2].value, "A%4");
}

TEST(LogQuery, prefers_the_askers_own_request_or_the_key_that_is_named) {
  FakeLog log;
  log.row_.record.key_name = "dev";
  const auto ask = [&](const char* query, std::optional<std::string> key) {
    return answer_log_query(
        log,
        {.path = "/v1/requests/req%201", .query = query, .now_ms = kNow, .key = std::move(key)});
  };
  EXPECT_TRUE(ask("", "ops"));
  EXPECT_EQ(log.asked_key_, "ops");
  EXPECT_TRUE(ask("", std::nullopt));
  EXPECT_EQ(log.asked_key_, std::nullopt);
  EXPECT_TRUE(ask("key=dev", "ops"));
  EXPECT_EQ(log.asked_key_, "dev");
  EXPECT_EQ(ask("key=other", "ops").error().code, ErrorCode::not_found);
  EXPECT_EQ(ask("kye=dev", "ops").error().code, ErrorCode::invalid_request);
}

TEST(ResolveRequest, names_a_request_that_is_not_there) {
  FakeLog log;
  const LogQuery query{.path = "/v1/requests/gone", .query = "", .now_ms = 7, .key = ""};
  const auto answer = resolve_request(log, query, R"({"resolved":true,"note":"seen"})");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::not_found);
  EXPECT_EQ(answer.error().message, "there is no request \"gone\" in the log");
  EXPECT_FALSE(resolve_request(log, query, "seen")) << "not JSON";
}

}  // namespace
}  // namespace callgate::server::log_query_test
