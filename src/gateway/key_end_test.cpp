// Answers that run when their key ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "access/key_book.h"
#include "access/key_secret.h"
#include "gateway/gateway_testing.h"
#include "store/keys/key_table.h"
#include "store/migration.h"
#include "store/scratch_testing.h"

namespace callgate::server::key_end_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string text(std::string_view words) {
  return R"(data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":")" +
         std::string(words) + "\"},\"finish_reason\":null}]}\n\n";
}

class KeyEndTest : public testing::Test {
 protected:
  KeyEndTest() {
    store::StoredKey key;
    key.name = "ann";
    key.secret_hash = hash_of_secret("cg-1");
    EXPECT_TRUE(table_.add(key).value());
    EXPECT_TRUE(book_.refresh(table_));
  }

  std::string config() const {
    return "[[upstream]]\nname = \"a\"\nurl = \"" + server_.url() +
           "\"\n[[model]]\nname = \"m\"\nupstream = [\"a\"]\n";
  }
  // Revokes the key when the first words have come. What came after them.
  std::string ask(const HeaderPairs& headers, std::string_view path, std::string_view body) {
    const Config made = TestGateway::parse(config());
    TestGateway gateway(loop_, made);
    EXPECT_TRUE(gateway.gateway().apply(std::make_shared<Snapshot>(
        made, Access({}, nullptr, {.book = &book_, .required = true}), gateway.world().catalogue)));
    server_.then({.pieces = {text("Hello."), text("Too late.")}, .after_first = &never_});
    std::string rest;
    HeaderPairs all{{"authorization", "Bearer cg-1"}};
    all.insert(all.end(), headers.begin(), headers.end());
    gateway.run([](KeyEndTest& test, TestGateway& to, const HeaderPairs& with,
                   std::string_view where, std::string_view asked,
                   std::string& got) -> net::Task<> {
      net::ClientExchange exchange(to.client(), to.target());
      const net::ClientRequest request = TestGateway::request(asked, with, where);
      const auto sent = co_await exchange.send(request);
      EXPECT_TRUE(sent && exchange.status() == 200);
      if (!sent) co_return;
      const auto first = co_await exchange.read();
      EXPECT_TRUE(first && first->find("Hello.") != std::string_view::npos);
      EXPECT_TRUE(test.table_.revoke("ann").value());
      EXPECT_TRUE(test.book_.refresh(test.table_));
      const auto more = co_await exchange.read_all(1 << 20);
      if (more) got = *more;
    }(*this, gateway, all, path, body, rest));
    EXPECT_EQ(gateway.log().rows().back().outcome.error_code, "unauthenticated");
    return rest;
  }

  net::Loop loop_;
  net::Signal never_{loop_};  // outlives the server, which may wait for it
  FakeServer server_{loop_};
  store::ScratchFolder scratch_;
  std::unique_ptr<store::Database> database_ = store::open_migrated(scratch_.url(), {}).value();
  store::KeyTable table_{*database_};
  KeyBook book_;
};

constexpr std::string_view kChat =
    R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})";

TEST_F(KeyEndTest, a_stream_of_a_revoked_key_ends_though_its_upstream_says_nothing) {
  EXPECT_THAT(ask({}, "/v1/chat/completions", kChat),
              AllOf(HasSubstr("api_key_ended"), Not(HasSubstr("Too late."))));
}

TEST_F(KeyEndTest, it_ends_in_the_words_of_its_protocol) {
  EXPECT_THAT(
      ask({}, "/v1/messages",
          R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]})"),
      AllOf(HasSubstr("event: error"), HasSubstr("authentication_error"),
            Not(HasSubstr("Too late."))));
}

TEST_F(KeyEndTest, so_does_a_tool_loop) {
  EXPECT_THAT(ask({{"x-callgate-loop", "1"}}, "/v1/chat/completions", kChat),
              AllOf(HasSubstr("api_key_ended"), Not(HasSubstr("Too late."))));
}

}  // namespace
}  // namespace callgate::server::key_end_test
