#include "access/page_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "net/request_parser.h"

namespace callgate::server::page_rules_test {
namespace {

using testing::HasSubstr;

Config open_gateway(std::vector<std::string> hosts = {},
                    std::vector<std::string> listen = {"127.0.0.1:8080"}) {
  Config config;
  config.hosts = std::move(hosts);
  config.listen = std::move(listen);
  return config;
}

Config with_a_key() {
  Config config;
  config.keys.emplace_back().name = "a";
  return config;
}

// A head as it comes from the wire; `lines` beside the request line.
class ParsedHead {
 public:
  explicit ParsedHead(std::string_view lines, std::string_view target = "/v1/requests")
      : parser_(limits_) {
    parser_.push("POST " + std::string(target) + " HTTP/1.1\r\n" + std::string(lines) + "\r\n");
    EXPECT_NE(parser_.state(), net::RequestParser::State::failed) << parser_.fault().message;
  }
  const net::RequestHead& get() const { return parser_.head(); }

 private:
  net::HttpLimits limits_;
  net::RequestParser parser_;
};

std::string objection(std::string_view lines, const Config& config, Arrival arrival = {},
                      std::string_view target = "/v1/requests") {
  const ParsedHead head(lines, target);
  const auto error = check_page(head.get(), arrival, config);
  return error ? error->message : "";
}

TEST(PageRules, same_origin_is_scheme_name_and_port) {
  EXPECT_TRUE(is_same_origin("http://localhost:8080", "localhost:8080", false));
  EXPECT_TRUE(is_same_origin("http://LOCALHOST:8080", "localhost:8080", false));
  EXPECT_TRUE(is_same_origin("https://gw.example", "gw.example:443", true));
  EXPECT_TRUE(is_same_origin("http://gw.example:80", "gw.example", false));
  EXPECT_TRUE(is_same_origin("http://[::1]:8080", "[::1]:8080", false));
  EXPECT_FALSE(is_same_origin("https://localhost:8080", "localhost:8080", false));
  EXPECT_FALSE(is_same_origin("http://localhost:8080", "localhost:8080", true));
  EXPECT_FALSE(is_same_origin("http://localhost:3000", "localhost:8080", false));
  EXPECT_FALSE(is_same_origin("http://evil.example", "localhost:8080", false));
  EXPECT_FALSE(is_same_origin("null", "localhost:8080", false));
  EXPECT_FALSE(is_same_origin("http://", "", false));
  EXPECT_FALSE(is_same_origin("", "localhost", false));
}

TEST(PageRules, a_gateway_without_keys_answers_to_its_own_names) {
  for (const std::string_view host :
       {"localhost", "localhost:8080", "LocalHost:1", "localhost.", "app.localhost", "127.0.0.1",
        "127.0.0.1:8080", "127.8.9.10", "[::1]", "[::1]:8080", "[::ffff:127.0.0.1]:1"}) {
    EXPECT_TRUE(is_own_host(host, open_gateway())) << host;
  }
  for (const std::string_view host :
       {"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
        "notlocalhost", "10.0.0.1", "128.0.0.1", "[2001:db8::1]", "0.0.0.0:8080", "127.1", ""}) {
    EXPECT_FALSE(is_own_host(host, open_gateway())) << host;
  }
}

TEST(PageRules, listed_names_and_listen_addresses_are_its_own) {
  const Config listed = open_gateway({"gateway.internal", "*.corp.example"});
  EXPECT_TRUE(is_own_host("Gateway.Internal:9000", listed));
  EXPECT_TRUE(is_own_host("a.corp.example", listed));
  EXPECT_FALSE(is_own_host("evil.example", listed));
  EXPECT_TRUE(is_own_host("evil.example", open_gateway({"*"})));
  EXPECT_TRUE(is_own_host("10.0.0.1:8080", open_gateway({}, {"10.0.0.1:8080"})));
  EXPECT_TRUE(is_own_host("box", open_gateway({}, {"box:8080"})));
  EXPECT_FALSE(is_own_host("10.0.0.2", open_gateway({}, {"10.0.0.1:8080"})));
  for (const char* every : {"0.0.0.0:8080", ":8080", "[::]:8080"}) {
    EXPECT_TRUE(is_own_host("192.168.1.7:8080", open_gateway({}, {every}))) << every;
    EXPECT_TRUE(is_own_host("[2001:db8::1]:8080", open_gateway({}, {every}))) << every;
    EXPECT_FALSE(is_own_host("evil.example", open_gateway({}, {every}))) << every;
  }
}

TEST(PageRules, a_foreign_name_is_refused_without_keys_only) {
  constexpr std::string_view kRebound = "host: evil.example:8080\r\n";
  EXPECT_THAT(objection(kRebound, open_gateway()), HasSubstr("\"evil.example\" to `hosts`"));
  EXPECT_EQ(objection(kRebound, with_a_key()), "");
  EXPECT_EQ(objection(kRebound, open_gateway(), {.local = true}), "");
  EXPECT_EQ(objection("host: localhost\r\n", open_gateway()), "");
  EXPECT_NE(objection("host: localhost\r\n", open_gateway(), {}, "http://evil.example/v1/requests"),
            "");
  EXPECT_EQ(objection("host: localhost\r\n", open_gateway(), {}, "http://localhost/v1/requests"),
            "");
}

TEST(PageRules, a_page_of_another_origin_is_refused) {
  struct Case {
    std::string_view lines;
    bool allowed;
  };
  constexpr Case kCases[] = {
      {"", true},
      {"origin: http://localhost:8080\r\n", true},
      {"origin: http://localhost:3000\r\n", true},  // loopback pages, on a loopback listener
      {"origin: https://evil.example\r\n", false},
      {"origin: http://localhost.evil.example\r\n", false},
      {"origin: null\r\n", false},
      {"origin: \r\n", false},
      {"origin: http://localhost:8080\r\norigin: https://evil.example\r\n", false},
      {"sec-fetch-site: cross-site\r\n", false},
      {"sec-fetch-site: same-origin\r\n", true},
      {"sec-fetch-site: none\r\n", true},
  };
  for (const Case& each : kCases) {
    const std::string lines = "host: localhost:8080\r\n" + std::string(each.lines);
    EXPECT_EQ(objection(lines, open_gateway()).empty(), each.allowed) << each.lines;
    EXPECT_EQ(objection(lines, with_a_key()).empty(), each.allowed) << each.lines;
  }
}

TEST(PageRules, listed_origins_may_call) {
  Config config = with_a_key();
  config.cors.origins = {"https://*.example"};
  constexpr std::string_view kApp = "host: gw\r\norigin: https://app.example\r\n";
  EXPECT_EQ(objection(kApp, config), "");
  EXPECT_THAT(objection("host: gw\r\norigin: http://localhost:3000\r\n", config),
              HasSubstr("cors.origins"));
  config.cors.origins = {"*"};
  EXPECT_EQ(objection("host: gw\r\norigin: null\r\n", config), "");
  EXPECT_EQ(objection("host: gw\r\nsec-fetch-site: cross-site\r\n", config), "");
}

TEST(PageRules, json_comes_as_json) {
  struct Case {
    std::string_view lines;
    bool read;
  };
  constexpr Case kCases[] = {
      {"content-type: application/json\r\n", true},
      {"content-type: Application/JSON ; charset=utf-8\r\n", true},
      {"content-type: application/vnd.api+json\r\n", true},
      {"content-type: application/json\r\norigin: http://localhost\r\n", true},
      {"", true},
      {"content-type: application/x-www-form-urlencoded\r\n", true},  // curl -d
      {"content-type: text/plain\r\n", false},
      {"content-type: text/plain; application/json\r\n", false},
      {"content-type: multipart/form-data; boundary=x\r\n", false},
      {"content-type: application/xml\r\n", false},
      {"content-type: application/json\r\ncontent-type: text/plain\r\n", false},
      {"origin: http://localhost\r\n", false},
      {"sec-fetch-site: same-origin\r\n", false},
      {"sec-fetch-mode: no-cors\r\n", false},
      {"content-type: application/x-www-form-urlencoded\r\norigin: http://localhost\r\n", false},
      {"content-type: application/x-www-form-urlencoded\r\nsec-fetch-site: cross-site\r\n", false},
  };
  for (const Case& each : kCases) {
    const std::string lines = "host: a\r\ncontent-length: 2\r\n" + std::string(each.lines);
    EXPECT_EQ(!check_content_type(ParsedHead(lines).get()), each.read) << each.lines;
  }
  EXPECT_FALSE(check_content_type(ParsedHead("host: a\r\ncontent-type: text/plain\r\n").get()))
      << "without a body nothing is read";
}

}  // namespace
}  // namespace callgate::server::page_rules_test
