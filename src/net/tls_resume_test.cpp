// TLS: sessions that go on from earlier ones, the size of records, and records that come together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include "net/client.h"
#include "net/net_testing.h"
#include "net/tls.h"
#include "net/tls_testing.h"

namespace callgate::net::tls_resume_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Le;

Task<> call(HttpClient& client, const Target& target, std::string& body) {
  ClientExchange exchange(client, target);
  ClientRequest request{.method = "GET", .path = "/"};
  const auto sent = co_await exchange.send(request);
  EXPECT_TRUE(sent) << sent.error().message;
  if (!sent) co_return;
  auto read = co_await exchange.read_all(1 << 20);
  EXPECT_TRUE(read) << read.error().message;
  if (read) body = std::move(*read);
}

std::string call_once(HttpClient& client, const Target& target) {
  std::string body;
  run_to_end(client.loop(), call(client, target, body));
  return body;
}

// A server's session on a blocking socket. What it writes is held until flush().
class RawTls {
 public:
  RawTls(const TlsContext& context, RawSocket& socket) : session_(make_server_session(context)) {
    BIO* const below = BIO_new_socket(socket.fd(), BIO_NOCLOSE);
    BIO* const above = BIO_push(BIO_new(BIO_f_buffer()), BIO_new_socket(socket.fd(), BIO_NOCLOSE));
    BIO_set_write_buffer_size(above, 256 * 1024);
    SSL_set_bio(session_.get(), below, above);
    accepted_ = SSL_accept(session_.get()) == 1;
  }
  bool accepted() const { return accepted_; }
  bool resumed() const { return SSL_session_reused(session_.get()) == 1; }
  void read_request() {
    std::array<char, 4096> request;
    SSL_read(session_.get(), request.data(), static_cast<int>(request.size()));
  }
  void write(std::string_view bytes) {
    SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }
  void flush() { (void)BIO_flush(SSL_get_wbio(session_.get())); }

 private:
  TlsSession session_;
  bool accepted_ = false;
};

Target over_tls(const RawUpstream& upstream) {
  Target target = upstream.target();
  target.host = "localhost";
  target.tls = true;
  return target;
}

TEST(Tls, resumes_the_session_with_an_upstream) {
  Authority authority;
  const TlsFiles files = authority.issue("resumed", "DNS:localhost");
  const TlsContext context = std::move(*make_server_tls(files.certificate, files.key));
  std::vector<bool> resumed;
  const auto script = [&](RawSocket& socket) {
    RawTls session(context, socket);
    if (!session.accepted()) return;
    session.read_request();
    resumed.push_back(session.resumed());
    session.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
    session.flush();
    socket.receive();
  };
  RawUpstream upstream({script, script, script});
  Loop loop;
  HttpClient client(loop, {.ca_file = authority.ca_file()});
  HttpClient other(loop, {.ca_file = authority.ca_file()});
  EXPECT_EQ(call_once(client, over_tls(upstream)), "ok");
  EXPECT_EQ(call_once(client, over_tls(upstream)), "ok");
  EXPECT_EQ(call_once(other, over_tls(upstream)), "ok");
  EXPECT_THAT(resumed, ElementsAre(false, true, false));
}

// A session takes half of the memory and of the time when it goes on from another; streams begin while others run.
TEST(Tls, resumes_the_session_of_an_answer_that_has_not_ended) {
  Authority authority;
  const TlsFiles files = authority.issue("endless", "DNS:localhost");
  const TlsContext context = std::move(*make_server_tls(files.certificate, files.key));
  std::vector<bool> resumed;
  const auto script = [&](RawSocket& socket) {
    RawTls session(context, socket);
    if (!session.accepted()) return;
    session.read_request();
    resumed.push_back(session.resumed());
    session.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nthe beginning");
    session.flush();
    socket.receive();
  };
  RawUpstream upstream({script, script});
  Loop loop;
  HttpClient client(loop, {.ca_file = authority.ca_file()});
  const auto begin = [](HttpClient& on, Target target) -> Task<> {
    ClientExchange exchange(on, target);
    const ClientRequest request{.method = "GET", .path = "/"};
    EXPECT_TRUE(co_await exchange.send(request));
  };
  run_to_end(loop, begin(client, over_tls(upstream)));
  run_to_end(loop, begin(client, over_tls(upstream)));
  EXPECT_THAT(resumed, ElementsAre(false, true));
}

// They are in OpenSSL's buffer, where no event tells of them.
TEST(Tls, does_not_take_records_after_an_answer_for_the_next_one) {
  Authority authority;
  const TlsFiles files = authority.issue("together", "DNS:localhost");
  const TlsContext context = std::move(*make_server_tls(files.certificate, files.key));
  const auto script = [&](RawSocket& socket) {
    RawTls session(context, socket);
    if (!session.accepted()) return;
    session.read_request();
    session.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nreal");
    session.write("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged");
    session.flush();
    socket.receive();
  };
  RawUpstream upstream({script, script});
  Loop loop;
  HttpClient client(loop, {.ca_file = authority.ca_file()});
  EXPECT_EQ(call_once(client, over_tls(upstream)), "real");
  EXPECT_EQ(client.idle(), 0u);
  EXPECT_EQ(call_once(client, over_tls(upstream)), "real");
}

TEST(Tls, reads_records_that_came_together_without_another_event) {
  Authority authority;
  const TlsFiles files = authority.issue("records", "DNS:localhost");
  const TlsContext context = std::move(*make_server_tls(files.certificate, files.key));
  RawUpstream upstream({[&](RawSocket& socket) {
    RawTls session(context, socket);
    if (!session.accepted()) return;
    session.read_request();
    session.write("HTTP/1.1 200 OK\r\ncontent-length: 30\r\n\r\n");
    for (int i = 0; i < 10; ++i) session.write("abc");
    session.flush();
    socket.receive();  // nothing more: the connection stays open
  }});
  Loop loop;
  HttpClient client(loop, {.ca_file = authority.ca_file()});
  EXPECT_EQ(call_once(client, over_tls(upstream)).size(), 30u);
  EXPECT_EQ(client.idle(), 1u);
  client.close_idle();
}

TEST(Tls, begins_with_small_records) {
  Authority authority;
  const TlsFiles files = authority.issue("small", "IP:127.0.0.1");
  const std::string body(512 * 1024, 'x');
  ServerThread server(
      [&](Exchange& exchange) -> Task<> {
        (void)co_await exchange.respond(200, "text/plain", body);
      },
      {}, &files);
  RawSocket socket = RawSocket::connect(server.port());
  const TlsContext context = std::move(*make_client_tls(authority.ca_file(), false));
  const TlsSession session = std::move(*make_client_session(context, "127.0.0.1"));
  SSL_set_fd(session.get(), socket.fd());
  ASSERT_EQ(SSL_connect(session.get()), 1);
  constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
  SSL_write(session.get(), kRequest.data(), static_cast<int>(kRequest.size()));
  std::vector<int> early;
  int largest = 0;
  std::string record(32 * 1024, '\0');
  for (std::size_t all = 0;;) {
    const int got = SSL_read(session.get(), record.data(), static_cast<int>(record.size()));
    if (got <= 0) break;
    if (all < 64 * 1024) early.push_back(got);
    largest = std::max(largest, got);
    all += static_cast<std::size_t>(got);
  }
  EXPECT_GE(early.size(), 16u);
  EXPECT_THAT(early, Each(Le(4096)));
  EXPECT_EQ(largest, 16 * 1024);
}

}  // namespace
}  // namespace callgate::net::tls_resume_test
