// Endpoints that callgate does not know, relayed to an upstream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_client_testing.h"

namespace callgate::server::passthrough_test {
namespace {

using testing::HasSubstr;

const HeaderPairs kJson{{"content-type", "application/json"}};

class PassthroughTest : public testing::Test {
 protected:
  std::string config(std::string_view upstream = "passthrough = true\n",
                     std::string_view more = {}) const {
    return "[[upstream]]\nname = \"plain\"\nurl = \"http://127.0.0.1:1\"\n"
           "[[upstream]]\nname = \"a\"\nurl = \"" +
           server_.url() + "\"\n" + std::string(upstream) +
           "[[model]]\nname = \"m\"\nid = \"real-m\"\nupstream = [\"a\"]\n"
           "[[model]]\nname = \"closed\"\nupstream = [\"plain\"]\n" +
           std::string(more);
  }
  static FakeServer::Reply reply(int status, std::string body, HeaderPairs more = {}) {
    more.emplace_back("content-type", "application/json");
    return {.status = status, .headers = std::move(more), .pieces = {std::move(body)}};
  }

  net::Loop loop_;
  FakeServer server_{loop_};
};

TEST_F(PassthroughTest, relays_a_request_under_the_upstreams_name_of_the_model) {
  TestGateway gateway(loop_, config());
  server_.then(reply(200, R"({"data":[1]})", {{"openai-processing-ms", "5"}, {"x-other", "1"}}));
  const std::string body = R"({"input": "hi", "model": "m", "unknown": [1, 2]})";
  const TestAnswer answer = fetch(gateway, "POST", "/v1/embeddings?a=1", kJson, body);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"data":[1]})");
  EXPECT_EQ(answer.header("content-type"), "application/json");
  EXPECT_EQ(answer.header("openai-processing-ms"), "5");
  EXPECT_EQ(answer.header("x-other"), "");
  EXPECT_EQ(answer.header("x-callgate-attempts"), "1");
  ASSERT_EQ(server_.asked().size(), 1u);
  EXPECT_EQ(server_.asked()[0].method, "POST");
  EXPECT_EQ(server_.asked()[0].path, "/embeddings");
  EXPECT_EQ(server_.asked()[0].query, "a=1");
  EXPECT_EQ(server_.asked()[0].body, R"({"input": "hi", "model": "real-m", "unknown": [1, 2]})");
  ASSERT_EQ(gateway.log().rows().size(), 1u);
  const store::RequestRow& row = gateway.log().rows()[0];
  EXPECT_EQ(row.record.protocol, "passthrough");
  EXPECT_EQ(row.record.model, "m");
  EXPECT_EQ(row.record.upstream, "a");
  EXPECT_EQ(row.record.dialect, "native");
  EXPECT_EQ(row.outcome.http_status, 200);
  EXPECT_EQ(row.outcome.attempts, 1);
  EXPECT_EQ(row.outcome.bytes_in, static_cast<std::int64_t>(body.size()));
  EXPECT_EQ(row.outcome.bytes_out, static_cast<std::int64_t>(answer.body.size()));
  EXPECT_EQ(row.outcome.state, store::RequestState::completed);
}

TEST_F(PassthroughTest, relays_other_methods_and_unknown_models_as_they_are) {
  TestGateway gateway(loop_, config());
  server_.then(reply(200, "{}"));
  EXPECT_EQ(fetch(gateway, "GET", "/v1/files").status, 200);
  server_.then(reply(200, "{}"));
  const std::string body = R"({"model":"other"})";
  EXPECT_EQ(fetch(gateway, "POST", "/v1/images/generations", kJson, body).status, 200);
  ASSERT_EQ(server_.asked().size(), 2u);
  EXPECT_EQ(server_.asked()[0].method, "GET");
  EXPECT_EQ(server_.asked()[0].path, "/files");
  EXPECT_EQ(server_.asked()[1].path, "/images/generations");
  EXPECT_EQ(server_.asked()[1].body, body);
}

TEST_F(PassthroughTest, relays_files_and_forms_as_they_come) {
  TestGateway gateway(loop_,
                      config("passthrough = true\n",
                             "[[key]]\nname = \"k\"\nsecret = \"k-secret\"\nmodels = [\"m\"]\n"));
  const auto send = [&](const std::string& type, const std::string& body) {
    return fetch(gateway, "POST", "/v1/audio/transcriptions",
                 {{"content-type", type}, {"authorization", "Bearer k-secret"}}, body);
  };
  const auto form = [](const std::string& model) {
    return "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n" +
           std::string("\0\1", 2) +
           "\r\n--x\r\ncontent-disposition: form-data; name=\"model\"\r\n\r\n" + model +
           "\r\n--x--\r\n";
  };
  server_.then(reply(200, "{}"));
  EXPECT_EQ(send("multipart/form-data; boundary=x", form("m")).status, 200);
  server_.then(reply(200, "{}"));
  const std::string bytes(100'000, '\0');
  EXPECT_EQ(send("application/octet-stream", bytes).status, 200);
  ASSERT_EQ(server_.asked().size(), 2u);
  EXPECT_EQ(server_.asked()[0].body, form("real-m"));
  EXPECT_EQ(server_.asked()[1].body, bytes);
  EXPECT_EQ(gateway.log().rows().at(0).record.model, "m");
  EXPECT_EQ(send("multipart/form-data; boundary=x", form("other")).status, 403);
  EXPECT_EQ(send("multipart/form-data; boundary=y", form("m")).status, 400);
  const TestAnswer foreign = fetch(gateway, "POST", "/v1/files",
                                   {{"content-type", "multipart/form-data; boundary=x"},
                                    {"origin", "https://evil.example"},
                                    {"authorization", "Bearer k-secret"}},
                                   form("m"));
  EXPECT_EQ(foreign.status, 403);
  EXPECT_EQ(server_.asked().size(), 2u);
}

TEST_F(PassthroughTest, relays_errors_with_what_the_client_should_do) {
  TestGateway gateway(loop_, config());
  server_.then(reply(429, R"({"error":"slow down"})", {{"retry-after", "7"}}));
  const TestAnswer answer = fetch(gateway, "POST", "/v1/embeddings", kJson, R"({"model":"m"})");
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.header("retry-after"), "7");
  EXPECT_EQ(answer.body, R"({"error":"slow down"})");
  EXPECT_EQ(gateway.log().rows().at(0).outcome.http_status, 429);
}

TEST_F(PassthroughTest, counts_what_the_answer_says_of_its_tokens) {
  TestGateway gateway(
      loop_, config("passthrough = true\n",
                    "[[key]]\nname = \"k\"\nsecret = \"k-secret\"\ntokens_per_minute = 100\n"
                    "[[price]]\nmodel = \"m\"\ninput = 2\n"));
  HeaderPairs headers = kJson;
  headers.emplace_back("authorization", "Bearer k-secret");
  const auto embed = [&](std::string_view input) {
    return fetch(gateway, "POST", "/v1/embeddings", headers,
                 R"({"model":"m","input":")" + std::string(input) + "\"}");
  };
  server_.then(reply(200, R"({"data":[],"usage":{"prompt_tokens":90,"total_tokens":90}})"));
  EXPECT_EQ(embed("hi").status, 200);
  const store::RequestRow& row = gateway.log().rows().at(0);
  ASSERT_TRUE(row.outcome.usage);
  EXPECT_EQ(row.outcome.usage->prompt_tokens, 90);
  EXPECT_EQ(row.outcome.cost, 180'000);
  const TestAnswer refused = embed("hello there, and more of that");
  EXPECT_EQ(refused.status, 429) << "90 of 100 are used";
  EXPECT_EQ(server_.asked().size(), 1u);
  EXPECT_EQ(embed(std::string(4'000, 'x')).status, 429) << "it could never fit";
}

TEST_F(PassthroughTest, gives_back_what_it_took_when_the_answer_counts_nothing) {
  TestGateway gateway(
      loop_, config("passthrough = true\n",
                    "[[key]]\nname = \"k\"\nsecret = \"k-secret\"\ntokens_per_minute = 20\n"));
  HeaderPairs headers = kJson;
  headers.emplace_back("authorization", "Bearer k-secret");
  for (int i = 0; i < 10; ++i) {
    server_.then(reply(200, "{}"));
    EXPECT_EQ(fetch(gateway, "POST", "/v1/moderations", headers, R"({"model":"m"})").status, 200);
  }
}

TEST_F(PassthroughTest, relays_no_model_without_a_price_for_a_budget_in_money) {
  TestGateway gateway(loop_,
                      config("passthrough = true\n",
                             "[[key]]\nname = \"k\"\nsecret = \"k-secret\"\ncost_per_day = 1\n"));
  HeaderPairs headers = kJson;
  headers.emplace_back("authorization", "Bearer k-secret");
  EXPECT_EQ(fetch(gateway, "POST", "/v1/embeddings", headers, R"({"model":"m"})").status, 403);
  EXPECT_TRUE(server_.asked().empty());
}

TEST_F(PassthroughTest, records_an_answer_that_breaks_off_as_failed) {
  TestGateway gateway(loop_, config());
  FakeServer::Reply broken = reply(200, "half");
  broken.breaks_off = true;
  server_.then(std::move(broken));
  (void)fetch(gateway, "POST", "/v1/embeddings", kJson, R"({"model":"m"})");
  ASSERT_EQ(gateway.log().rows().size(), 1u);
  EXPECT_EQ(gateway.log().rows()[0].outcome.state, store::RequestState::failed);
  EXPECT_NE(gateway.log().rows()[0].outcome.error_code, "");
}

TEST_F(PassthroughTest, keeps_the_whole_path_for_ollama) {
  TestGateway gateway(loop_, config("passthrough = true\nwire = \"ollama\"\n"));
  server_.then(reply(200, "{}"));
  EXPECT_EQ(fetch(gateway, "POST", "/v1/embeddings", kJson, R"({"model":"m"})").status, 200);
  EXPECT_EQ(server_.asked().at(0).path, "/v1/embeddings");
}

TEST_F(PassthroughTest, refuses_what_no_upstream_relays) {
  TestGateway closed(loop_, config(""));
  EXPECT_EQ(fetch(closed, "POST", "/v1/embeddings", kJson, R"({"model":"m"})").status, 404);
  TestGateway open(loop_, config());
  const TestAnswer answer = fetch(open, "POST", "/v1/embeddings", kJson, R"({"model":"closed"})");
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, HasSubstr("no upstream of model \\\"closed\\\" has passthrough = true"));
  for (const std::string_view path :
       {"/v1/a%2fb", "/v1/a%2E%2e/b", "/v1//b", "/v1/a%5cb", "/v1/"}) {
    EXPECT_EQ(fetch(open, "POST", path, kJson, R"({"model":"m"})").status, 404) << path;
  }
  EXPECT_TRUE(server_.asked().empty());
}

TEST_F(PassthroughTest, keeps_to_the_models_of_a_key) {
  TestGateway gateway(loop_,
                      config("passthrough = true\n",
                             "[[key]]\nname = \"k\"\nsecret = \"k-secret\"\nmodels = [\"x\"]\n"));
  HeaderPairs headers = kJson;
  EXPECT_EQ(fetch(gateway, "POST", "/v1/embeddings", headers, R"({"model":"m"})").status, 401);
  headers.emplace_back("authorization", "Bearer k-secret");
  EXPECT_EQ(fetch(gateway, "POST", "/v1/embeddings", headers, R"({"model":"m"})").status, 403);
  EXPECT_TRUE(server_.asked().empty());
}

}  // namespace
}  // namespace callgate::server::passthrough_test
