#include "net/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "net/client.h"
#include "net/net_testing.h"
#include "net/tls_testing.h"

namespace callgate::net::tls_test {
namespace {

using testing::HasSubstr;

struct Reply {
  Result<std::string> body = fail(ErrorCode::internal, "not sent");
  bool reused = false;
};

Task<> call(HttpClient& client, const Target& target, std::string_view body, Reply& reply) {
  ClientExchange exchange(client, target);
  ClientRequest request{.method = "POST", .path = "/", .body = body};
  const Result<void> sent = co_await exchange.send(request);
  if (!sent) {
    reply.body = tl::unexpected(sent.error());
    co_return;
  }
  reply.reused = exchange.reused();
  reply.body = co_await exchange.read_all(64 * 1024 * 1024);
}

Reply call_once(HttpClient& client, const Target& target, std::string_view body = "hello") {
  Reply reply;
  run_to_end(client.loop(), call(client, target, body, reply));
  return reply;
}

Task<> echo(Exchange& exchange) {
  const Result<std::string_view> body = co_await exchange.body();
  if (!body) co_return;
  exchange.start(200, {});
  (void)co_await exchange.end(*body);
}

Target to(const std::string& host, const ServerThread& server) {
  return {.tls = true, .host = host, .port = server.port()};
}

TEST(Tls, serves_and_calls_and_keeps_the_connection) {
  Authority authority;
  const TlsFiles files = authority.issue("good", "DNS:localhost,IP:127.0.0.1");
  ServerThread server(echo, {}, &files);
  Loop loop;
  HttpClient client(loop, {.ca_file = authority.ca_file()});
  const Reply first = call_once(client, to("localhost", server));
  ASSERT_TRUE(first.body) << first.body.error().message;
  EXPECT_EQ(*first.body, "hello");
  const Reply second = call_once(client, to("localhost", server));
  EXPECT_TRUE(second.reused);
  const Reply by_address = call_once(client, to("127.0.0.1", server));
  EXPECT_TRUE(by_address.body) << by_address.body.error().message;
}

TEST(Tls, moves_large_bodies_both_ways) {
  Authority authority;
  const TlsFiles files = authority.issue("large", "IP:127.0.0.1");
  ServerThread server(echo, {}, &files);
  Loop loop;
  HttpClient client(loop, {.ca_file = authority.ca_file()});
  std::string body(10'000'000, 'a');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>('a' + i % 23);
  const Reply reply = call_once(client, to("127.0.0.1", server), body);
  ASSERT_TRUE(reply.body) << reply.body.error().message;
  EXPECT_TRUE(*reply.body == body);
}

TEST(Tls, refuses_certificates_that_do_not_fit) {
  Authority authority;
  Authority stranger("another authority");
  struct Case {
    const char* label;
    const char* names;
    long valid;
    bool known;
    std::string host, reason;
  };
  for (const Case& c : std::vector<Case>{
           {"other_name", "DNS:elsewhere", 3600, true, "localhost", "mismatch"},
           {"other_address", "IP:127.0.0.2", 3600, true, "127.0.0.1", "mismatch"},
           {"expired", "DNS:localhost", -3600, true, "localhost", "expired"},
           {"unknown_authority", "DNS:localhost", 3600, false, "localhost", "unable to get"}}) {
    const TlsFiles files = authority.issue(c.label, c.names, c.valid);
    ServerThread server(echo, {}, &files);
    Loop loop;
    HttpClient client(loop, {.ca_file = (c.known ? authority : stranger).ca_file()});
    const Reply reply = call_once(client, to(c.host, server));
    ASSERT_FALSE(reply.body) << c.label;
    EXPECT_EQ(reply.body.error().code, ErrorCode::upstream_failed);
    EXPECT_THAT(reply.body.error().message, HasSubstr("certificate refused")) << c.label;
    EXPECT_THAT(reply.body.error().message, HasSubstr(c.reason)) << c.label;
  }
}

TEST(Tls, accepts_any_certificate_when_told_to) {
  Authority authority;
  const TlsFiles files = authority.issue("insecure", "DNS:elsewhere");
  ServerThread server(echo, {}, &files);
  Loop loop;
  HttpClient client(loop, {.insecure = true});
  EXPECT_TRUE(call_once(client, to("localhost", server)).body);
}

TEST(Tls, fails_on_a_server_without_tls_and_a_client_without_it) {
  Authority authority;
  const TlsFiles files = authority.issue("mixed", "DNS:localhost");
  ServerThread plain(echo);
  ServerThread encrypted(echo, {}, &files);
  Loop loop;
  HttpClient client(loop, {.ca_file = authority.ca_file()});
  EXPECT_EQ(call_once(client, to("localhost", plain)).body.error().code,
            ErrorCode::upstream_failed);
  Target target = to("localhost", encrypted);
  target.tls = false;
  EXPECT_EQ(call_once(client, target).body.error().code, ErrorCode::upstream_failed);
  EXPECT_TRUE(encrypted.eventually([](HttpServer& s) { return s.connections() == 0; }));
}

TEST(Tls, gives_up_on_a_handshake_that_stops) {
  Authority authority;
  const TlsFiles files = authority.issue("slow", "DNS:localhost");
  ServerThread server(echo, {.head_timeout = Millis(30)}, &files);
  RawSocket client = RawSocket::connect(server.port());
  client.send("\x16\x03\x01");
  EXPECT_TRUE(client.closed_within(5000));
}

// What a client says first, as a server of OpenSSL's own sees it.
TEST(Tls, sends_the_host_name_and_offers_http11) {
  Authority authority;
  const TlsFiles files = authority.issue("sni", "DNS:localhost");
  std::string name;
  std::string protocol;
  RawUpstream upstream({[&](RawSocket& socket) {
    const TlsContext context = std::move(*make_server_tls(files.certificate, files.key));
    const TlsSession session = make_server_session(context);
    SSL_set_fd(session.get(), socket.fd());
    if (SSL_accept(session.get()) != 1) return;
    if (const char* sent = SSL_get_servername(session.get(), TLSEXT_NAMETYPE_host_name))
      name = sent;
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(session.get(), &chosen, &size);
    protocol.assign(reinterpret_cast<const char*>(chosen), size);
  }});
  Loop loop;
  HttpClient client(loop, {.ca_file = authority.ca_file()});
  Target target = upstream.target();
  target.host = "localhost";
  target.tls = true;
  EXPECT_FALSE(call_once(client, target).body);
  EXPECT_EQ(name, "localhost");
  EXPECT_EQ(protocol, "http/1.1");
}

TEST(Tls, calls_a_body_truncated_that_ends_without_a_goodbye) {
  Authority authority;
  const TlsFiles files = authority.issue("truncated", "DNS:localhost");
  RawUpstream upstream({[&](RawSocket& socket) {
    const TlsContext context = std::move(*make_server_tls(files.certificate, files.key));
    const TlsSession session = make_server_session(context);
    SSL_set_fd(session.get(), socket.fd());
    if (SSL_accept(session.get()) != 1) return;
    std::array<char, 4096> request;
    SSL_read(session.get(), request.data(), request.size());
    constexpr std::string_view kPart = "HTTP/1.1 200 OK\r\n\r\nuntil the close";
    SSL_write(session.get(), kPart.data(), kPart.size());
  }});
  Loop loop;
  HttpClient client(loop, {.ca_file = authority.ca_file()});
  Target target = upstream.target();
  target.host = "localhost";
  target.tls = true;
  const Reply reply = call_once(client, target);
  ASSERT_FALSE(reply.body);
  EXPECT_EQ(reply.body.error().code, ErrorCode::upstream_failed);
}

TEST(Tls, notices_at_once_that_the_client_left) {
  Authority authority;
  const TlsFiles files = authority.issue("gone", "DNS:localhost");
  std::promise<void> gone;
  ServerThread server(
      [&](Exchange& exchange) -> Task<> {
        (void)co_await exchange.body();
        Signal signal(exchange.loop());
        exchange.on_client_gone([&] { signal.notify(); });
        co_await signal.wait();
        gone.set_value();
      },
      {}, &files);
  Loop loop;
  HttpClient client(loop, {.ca_file = authority.ca_file()});
  run_to_end(loop, [](HttpClient& c, Target target) -> Task<> {
    ClientExchange exchange(c, target, {.first_byte = Millis(50)});
    ClientRequest request{.method = "GET", .path = "/"};
    EXPECT_FALSE(co_await exchange.send(request));
  }(client, to("localhost", server)));
  EXPECT_EQ(gone.get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
}

TEST(Tls, shows_another_certificate_to_new_connections) {
  Authority old_authority("old");
  Authority new_authority("new");
  const TlsFiles old_files = old_authority.issue("leaf", "DNS:localhost");
  const TlsFiles new_files = new_authority.issue("leaf", "DNS:localhost");
  ServerThread server(echo, {}, &old_files);
  Loop loop;
  HttpClient trusts_old(loop, {.ca_file = old_authority.ca_file()});
  HttpClient trusts_new(loop, {.ca_file = new_authority.ca_file()});
  ASSERT_TRUE(call_once(trusts_old, to("localhost", server)).body);
  EXPECT_FALSE(call_once(trusts_new, to("localhost", server)).body);
  const Result<TlsContext> context = make_server_tls(new_files.certificate, new_files.key);
  ASSERT_TRUE(context);
  server.on_loop([&](HttpServer& on) { on.use_tls(*context); });
  EXPECT_TRUE(call_once(trusts_new, to("localhost", server)).body);
  const Reply open = call_once(trusts_old, to("localhost", server));
  EXPECT_TRUE(open.body) << "a connection that was open goes on";
  EXPECT_TRUE(open.reused);
  trusts_old.close_idle();
  EXPECT_FALSE(call_once(trusts_old, to("localhost", server)).body);
}

TEST(Tls, a_certificate_does_not_turn_a_plain_listener_into_another) {
  Authority authority;
  const TlsFiles files = authority.issue("plain", "DNS:localhost");
  ServerThread server(echo);
  const Result<TlsContext> context = make_server_tls(files.certificate, files.key);
  ASSERT_TRUE(context);
  server.on_loop([&](HttpServer& on) { on.use_tls(*context); });
  Loop loop;
  HttpClient client(loop, {});
  EXPECT_TRUE(call_once(client, {.host = "localhost", .port = server.port()}).body);
}

TEST(Tls, says_which_file_is_wrong) {
  Loop loop;
  HttpServer server(loop, {}, echo);
  const TlsFiles files{"/nonexistent/cert.pem", "/nonexistent/key.pem"};
  const Result<Endpoint> bound = server.listen({.host = "127.0.0.1"}, &files);
  ASSERT_FALSE(bound);
  EXPECT_THAT(bound.error().message, HasSubstr("/nonexistent/cert.pem"));
  HttpClient client(loop, {.ca_file = "/nonexistent/ca.pem"});
  RawUpstream upstream({[](RawSocket& socket) { socket.receive(); }});
  Target target = upstream.target();
  target.tls = true;
  EXPECT_THAT(call_once(client, target).body.error().message, HasSubstr("/nonexistent/ca.pem"));
}

}  // namespace
}  // namespace callgate::net::tls_test
