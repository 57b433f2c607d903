#include "net/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "compress/content_encoder.h"
#include "net/address.h"
#include "net/net_testing.h"

namespace callgate::net::client_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Reply {
  Error error{.code = ErrorCode::internal, .message = ""};
  bool sent = false;   // the head came
  bool ended = false;  // the body came to its end
  bool reused = false;
  int status = 0;
  std::string body;
};

Task<> call(HttpClient& client, const Target& target, Timeouts timeouts,
            const ClientRequest& request, Reply& reply) {
  ClientExchange exchange(client, target, timeouts);
  const Result<void> sent = co_await exchange.send(request);
  reply.reused = exchange.reused();
  if (!sent) {
    reply.error = sent.error();
    co_return;
  }
  reply.sent = true;
  reply.status = exchange.status();
  while (true) {
    const Result<std::string_view> bytes = co_await exchange.read();
    if (!bytes) {
      reply.error = bytes.error();
      co_return;
    }
    if (bytes->empty()) break;
    reply.body.append(*bytes);
  }
  reply.ended = exchange.ended();
}

Reply call_once(HttpClient& client, const Target& target, Timeouts timeouts = {},
                const ClientRequest& request = {.method = "GET", .path = "/x"}) {
  Reply reply;
  run_to_end(client.loop(), call(client, target, timeouts, request, reply));
  return reply;
}

RawUpstream::Script answer_with(std::string bytes) {
  return [bytes](RawSocket& socket) {
    socket.receive_until("\r\n\r\n");
    socket.send(bytes);
  };
}

TEST(HttpClient, sends_one_request_and_reads_the_answer) {
  std::string request;
  RawUpstream upstream({[&](RawSocket& socket) {
    request = socket.receive_until("body");
    socket.send("HTTP/1.1 201 Created\r\ncontent-length: 4\r\nx-a: b\r\n\r\ndone");
  }});
  Loop loop;
  HttpClient client(loop, {});
  Target target = upstream.target();
  target.path_prefix = "/v1";
  ClientRequest post{.method = "POST", .path = "/c?d"};
  post.headers.add("x-k", "v");
  post.body = "body";
  const Reply reply = call_once(client, target, {}, post);
  EXPECT_TRUE(reply.ended);
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.body, "done");
  EXPECT_EQ(request,
            "POST /v1/c?d HTTP/1.1\r\nhost: " + to_text(target) +
                "\r\naccept-encoding: identity\r\nx-k: v\r\ncontent-length: 4\r\n\r\nbody");
}

std::string in_chunks(std::string_view encoding, const std::vector<std::string>& pieces) {
  std::string answer = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-encoding: ";
  answer.append(encoding).append("\r\n\r\n");
  for (const std::string& piece : pieces) {
    char size[16];
    std::snprintf(size, sizeof(size), "%zx\r\n", piece.size());
    answer.append(size).append(piece).append("\r\n");
  }
  return answer + "0\r\n\r\n";
}

TEST(HttpClient, undoes_content_codings) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "line " + std::to_string(i) + "\n";
  using compress::Format;
  const std::string gzip = compress::encode(Format::gzip, text);
  const std::string both = compress::encode(Format::br, compress::encode(Format::zstd, text));
  RawUpstream upstream({[&](RawSocket& socket) {
    for (const std::string& answer :
         {in_chunks("gzip", {gzip.substr(0, 1), gzip.substr(1, 9), gzip.substr(10)}),
          in_chunks("zstd\r\ncontent-encoding: br", {both}), in_chunks("identity", {text}),
          std::string("HTTP/1.1 204 No Content\r\ncontent-encoding: gzip\r\n\r\n")}) {
      socket.receive_until("\r\n\r\n");
      socket.send(answer);
    }
  }});
  Loop loop;
  HttpClient client(loop, {});
  for (int i = 0; i < 3; ++i) {
    const Reply reply = call_once(client, upstream.target());
    EXPECT_TRUE(reply.ended) << reply.error.message;
    EXPECT_EQ(reply.body, text);
    EXPECT_EQ(reply.reused, i > 0);
  }
  EXPECT_TRUE(call_once(client, upstream.target()).ended);
}

TEST(HttpClient, gives_what_was_flushed_before_the_rest_comes) {
  const auto encoder = compress::ContentEncoder::make(compress::Format::gzip);
  std::string first;
  encoder->push("data: 1\n\n", first);
  std::promise<void> seen;
  RawUpstream upstream({[&](RawSocket& socket) {
    socket.receive_until("\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + first);
    seen.get_future().wait();
  }});
  Loop loop;
  HttpClient client(loop, {});
  run_to_end(loop, [](HttpClient& c, Target target, std::promise<void>& done) -> Task<> {
    ClientExchange exchange(c, target);
    const ClientRequest request{.method = "GET", .path = "/"};
    EXPECT_TRUE(co_await exchange.send(request));
    const auto frame = co_await exchange.read();
    EXPECT_EQ(frame.value_or("failed"), "data: 1\n\n");
    const auto nothing = co_await exchange.read(Millis(20));
    EXPECT_TRUE(nothing && nothing->waiting);
    done.set_value();
    const auto rest = co_await exchange.read();
    EXPECT_FALSE(rest) << "the content is cut short";
  }(client, upstream.target(), seen));
}

TEST(HttpClient, does_not_wait_for_ever_for_content_that_stays_empty) {
  RawUpstream upstream({[&](RawSocket& socket) {
    socket.receive_until("\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\ncontent-encoding: deflate\r\n\r\n");
    const std::string empty_block("\0\0\0\xff\xff", 5);
    for (int i = 0; i < 1000 && socket.send(empty_block); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }});
  Loop loop;
  HttpClient client(loop, {});
  const Reply reply = call_once(client, upstream.target(), {.idle = Millis(60)});
  EXPECT_EQ(reply.error.code, ErrorCode::timed_out) << reply.error.message;
  EXPECT_THAT(reply.error.message, HasSubstr("reading the response"));
}

TEST(HttpClient, refuses_content_that_it_cannot_read) {
  const std::string gzip = compress::encode(compress::Format::gzip, "some text");
  std::string damaged = gzip;
  damaged[damaged.size() - 6] ^= 1;
  struct Row {
    std::string coding;
    std::string body;
    std::string_view message;
  };
  for (const Row& row : {Row{"snappy", "x", "content-encoding \"snappy\""},
                         Row{"gzip", gzip.substr(0, gzip.size() - 1), "cut short"},
                         Row{"gzip", damaged, "damaged"}, Row{"br", "{\"plain\":1}", "damaged"}}) {
    RawUpstream upstream({answer_with(in_chunks(row.coding, {row.body}))});
    Loop loop;
    HttpClient client(loop, {});
    const Reply reply = call_once(client, upstream.target());
    EXPECT_TRUE(reply.sent);
    EXPECT_FALSE(reply.ended);
    EXPECT_EQ(reply.error.code, ErrorCode::upstream_failed);
    EXPECT_THAT(reply.error.message, StartsWith(to_text(upstream.target()) + ": "));
    EXPECT_THAT(reply.error.message, HasSubstr(std::string(row.message)));
  }
}

TEST(HttpClient, reuses_a_connection_and_retries_a_stale_one) {
  const std::string fine = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
  std::promise<void> go_on;
  RawUpstream upstream({[&](RawSocket& socket) {
                          socket.receive_until("\r\n\r\n");
                          socket.send(fine);
                          socket.receive_until("\r\n\r\n");
                          socket.send(fine);
                          // The third request dies on the kept connection.
                          socket.receive_until("\r\n\r\n");
                          socket.reset();
                        },
                        answer_with(fine)});
  Loop loop;
  HttpClient client(loop, {});
  EXPECT_FALSE(call_once(client, upstream.target()).reused);
  EXPECT_EQ(client.idle(), 1u);
  EXPECT_TRUE(call_once(client, upstream.target()).reused);
  EXPECT_EQ(upstream.accepted(), 1);
  const Reply third = call_once(client, upstream.target());
  EXPECT_TRUE(third.ended) << third.error.message;
  EXPECT_FALSE(third.reused);
  EXPECT_EQ(upstream.accepted(), 2);
}

TEST(HttpClient, does_not_retry_once_a_byte_of_the_answer_came) {
  const std::string fine = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
  RawUpstream upstream({[&](RawSocket& socket) {
    socket.receive_until("\r\n\r\n");
    socket.send(fine);
    socket.receive_until("\r\n\r\n");
    socket.send("HTTP/1.1 2");
  }});
  Loop loop;
  HttpClient client(loop, {});
  EXPECT_TRUE(call_once(client, upstream.target()).ended);
  const Reply second = call_once(client, upstream.target());
  EXPECT_FALSE(second.sent);
  EXPECT_EQ(second.error.code, ErrorCode::upstream_failed);
}

TEST(HttpClient, drops_a_kept_connection_that_the_upstream_closes) {
  RawUpstream upstream({answer_with("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")});
  Loop loop;
  HttpClient client(loop, {});
  run_to_end(loop, [](HttpClient& c, Target target) -> Task<> {
    Reply reply;
    const ClientRequest request{.method = "GET", .path = "/"};
    const Timeouts timeouts;
    co_await call(c, target, timeouts, request, reply);
    EXPECT_TRUE(reply.ended);
    for (int i = 0; i < 5000 && c.idle() > 0; ++i) co_await c.loop().sleep(Millis(1));
    EXPECT_EQ(c.idle(), 0u);
  }(client, upstream.target()));
}

TEST(HttpClient, closes_what_is_idle_for_too_long) {
  ServerThread server([](Exchange& exchange) -> Task<> {
    (void)co_await exchange.respond(200, "text/plain", "ok");
  });
  Loop loop;
  HttpClient client(loop, {.idle_timeout = Millis(20)});
  run_to_end(loop, [](HttpClient& c, std::uint16_t port) -> Task<> {
    Reply reply;
    const Target target{.host = "127.0.0.1", .port = port};
    const ClientRequest request{.method = "GET", .path = "/"};
    const Timeouts timeouts;
    co_await call(c, target, timeouts, request, reply);
    EXPECT_EQ(c.idle(), 1u);
    for (int i = 0; i < 5000 && c.idle() > 0; ++i) co_await c.loop().sleep(Millis(1));
    EXPECT_EQ(c.idle(), 0u);
  }(client, server.port()));
}

TEST(HttpClient, keeps_only_connections_whose_answer_was_read) {
  ServerThread server([](Exchange& exchange) -> Task<> {
    exchange.start(200, {});
    for (int i = 0; i < 100; ++i) {
      const std::string block(10'000, 'x');
      if (auto sent = co_await exchange.write(block); !sent) co_return;
    }
    (void)co_await exchange.end();
  });
  Loop loop;
  HttpClient client(loop, {});
  run_to_end(loop, [](HttpClient& c, std::uint16_t port) -> Task<> {
    ClientExchange exchange(c, {.host = "127.0.0.1", .port = port});
    ClientRequest request{.method = "GET", .path = "/"};
    EXPECT_TRUE(co_await exchange.send(request));
    EXPECT_TRUE(co_await exchange.read());
  }(client, server.port()));
  EXPECT_EQ(client.idle(), 0u);
  EXPECT_TRUE(server.eventually([](HttpServer& s) { return s.connections() == 0; }));
}

TEST(HttpClient, reports_an_upstream_that_breaks_at_each_stage) {
  struct Case {
    std::string name, bytes;
    bool reset, head;
  };
  const std::string chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  for (const Case& c : std::vector<Case>{
           {"close before head", "", false, false},
           {"reset before head", "", true, false},
           {"close in head", "HTTP/1.1 200 OK\r\nconte", false, false},
           {"reset in head", "HTTP/1.1 200 OK\r\nconte", true, false},
           {"close in chunk", chunked + "5\r\nab", false, true},
           {"reset in chunk", chunked + "5\r\nab", true, true},
           {"close between chunks", chunked + "2\r\nab\r\n", false, true},
           {"bad chunk", chunked + "2\r\nabXX", false, true},
           {"close in counted body", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab", false, true},
           {"reset in counted body", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab", true, true},
           {"not HTTP", "220 smtp ready\r\n\r\n", false, false},
           {"endless head", "HTTP/1.1 200 OK\r\nx: " + std::string(100'000, 'a'), false, false}}) {
    RawUpstream upstream({[&](RawSocket& socket) {
      socket.receive_until("\r\n\r\n");
      socket.send(c.bytes);
      if (c.reset) {
        // The bytes must arrive before the reset overtakes them.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        socket.reset();
      }
    }});
    Loop loop;
    HttpClient client(loop, {});
    const Reply reply = call_once(client, upstream.target());
    EXPECT_EQ(reply.sent, c.head) << c.name << reply.error.message;
    EXPECT_FALSE(reply.ended) << c.name;
    EXPECT_EQ(reply.error.code, ErrorCode::upstream_failed) << c.name;
    EXPECT_THAT(reply.error.message, StartsWith(to_text(upstream.target()))) << c.name;
    EXPECT_EQ(reply.body, c.head ? "ab" : "") << c.name;
    EXPECT_EQ(client.idle(), 0u) << c.name;
  }
}

TEST(HttpClient, times_out_in_the_phase_that_took_too_long) {
  const auto hang = [](std::string bytes) {
    return [bytes](RawSocket& socket) {
      socket.receive_until("\r\n\r\n");
      socket.send(bytes);
      socket.receive();  // until the client gives up
    };
  };
  struct Case {
    std::string bytes;
    Timeouts timeouts;
    std::string phase;
  };
  const std::string head = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n";
  for (const Case& c : std::vector<Case>{
           {"", {.first_byte = Millis(30)}, "waiting for the response"},
           {"HTTP/1.1 200 OK\r\n", {.first_byte = Millis(30)}, "waiting for the response"},
           {head, {.idle = Millis(30)}, "reading the response"},
           {head + "a", {.idle = Millis(30)}, "reading the response"},
           {head + "a", {.total = Millis(30)}, "took longer than 30 ms"}}) {
    RawUpstream upstream({hang(c.bytes)});
    Loop loop;
    HttpClient client(loop, {});
    const Reply reply = call_once(client, upstream.target(), c.timeouts);
    EXPECT_EQ(reply.error.code, ErrorCode::timed_out) << c.phase;
    EXPECT_THAT(reply.error.message, HasSubstr(c.phase));
    EXPECT_FALSE(reply.ended);
  }
}

TEST(HttpClient, times_out_while_sending_to_an_upstream_that_does_not_read) {
  std::promise<void> done;
  RawUpstream upstream({[&](RawSocket&) { done.get_future().get(); }});
  Loop loop;
  HttpClient client(loop, {});
  const std::string body(64 * 1024 * 1024, 'x');
  ClientRequest post{.method = "POST", .path = "/"};
  post.body = body;
  const Reply reply = call_once(client, upstream.target(), {.idle = Millis(50)}, post);
  done.set_value();
  EXPECT_EQ(reply.error.code, ErrorCode::timed_out);
  EXPECT_THAT(reply.error.message, HasSubstr("sending the request"));
}

TEST(HttpClient, hears_the_answer_to_a_request_it_could_not_send_whole) {
  RawUpstream upstream({[](RawSocket& socket) {
    socket.receive_until("\r\n\r\n");
    socket.send("HTTP/1.1 413 Payload Too Large\r\ncontent-length: 3\r\n\r\nbig");
    socket.shut_down_writing();
    while (!socket.receive().empty()) continue;
  }});
  Loop loop;
  HttpClient client(loop, {});
  const std::string body(8 * 1024 * 1024, 'x');
  ClientRequest post{.method = "POST", .path = "/"};
  post.body = body;
  const Reply reply = call_once(client, upstream.target(), {}, post);
  EXPECT_EQ(reply.status, 413) << reply.error.message;
  EXPECT_EQ(reply.body, "big");
}

TEST(HttpClient, reports_a_refused_connection) {
  std::uint16_t port = 0;
  {
    RawUpstream upstream({});
    port = upstream.target().port;
  }
  Loop loop;
  HttpClient client(loop, {});
  const Reply reply = call_once(client, {.host = "127.0.0.1", .port = port});
  EXPECT_EQ(reply.error.code, ErrorCode::upstream_failed);
  EXPECT_THAT(reply.error.message, HasSubstr("connect: Connection refused"));
}

TEST(HttpClient, reports_a_name_that_does_not_exist) {
  Loop loop;
  HttpClient client(loop, {});
  // Without a name server in reach the system's resolver hangs: then the connect timeout ends it.
  const Reply reply =
      call_once(client, {.host = "nonexistent.invalid", .port = 80}, {.connect = Millis(300)});
  EXPECT_FALSE(reply.sent);
  EXPECT_TRUE(reply.error.code == ErrorCode::upstream_failed ||
              reply.error.code == ErrorCode::timed_out);
  EXPECT_THAT(reply.error.message, HasSubstr("nonexistent.invalid"));
}

TEST(HttpClient, resolves_names) {
  ServerThread server([](Exchange& exchange) -> Task<> {
    const std::string host(*exchange.head().headers.find("host"));
    (void)co_await exchange.respond(200, "text/plain", host);
  });
  Loop loop;
  HttpClient client(loop, {});
  const Reply reply = call_once(client, {.host = "localhost", .port = server.port()});
  EXPECT_EQ(reply.body, "localhost:" + std::to_string(server.port())) << reply.error.message;
}

TEST(HttpClient, skips_interim_answers) {
  RawUpstream upstream(
      {answer_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")});
  Loop loop;
  HttpClient client(loop, {});
  const Reply reply = call_once(client, upstream.target());
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "ok");
}

TEST(HttpClient, refuses_to_send_what_would_split_the_request) {
  Loop loop;
  HttpClient client(loop, {});
  const Target nowhere{.host = "127.0.0.1", .port = 1};
  ClientRequest request{.method = "GET", .path = "/"};
  request.headers.add("authorization", "secret\r\nx: y");
  const Reply reply = call_once(client, nowhere, {}, request);
  EXPECT_EQ(reply.error.code, ErrorCode::invalid_request);
  EXPECT_THAT(reply.error.message, Not(HasSubstr("secret")));
  EXPECT_EQ(call_once(client, nowhere, {}, {.method = "GET", .path = "/a b"}).error.code,
            ErrorCode::invalid_request);
}

// Cancels after a moment what never ends by itself.
Task<> cancel_soon(Loop& loop, ClientExchange& exchange) {
  co_await loop.sleep(Millis(10));
  exchange.cancel();
}

TEST(HttpClient, cancels_a_request_that_waits_for_its_head) {
  std::promise<bool> closed;
  RawUpstream upstream({[&](RawSocket& socket) {
    socket.receive_until("\r\n\r\n");
    closed.set_value(socket.closed_within(5000));
  }});
  Loop loop;
  HttpClient client(loop, {});
  run_to_end(loop, [](HttpClient& c, Target target) -> Task<> {
    ClientExchange exchange(c, target);
    ClientRequest request{.method = "GET", .path = "/"};
    c.loop().spawn(cancel_soon(c.loop(), exchange));
    const Result<void> sent = co_await exchange.send(request);
    EXPECT_FALSE(sent);
    EXPECT_EQ(sent.error().code, ErrorCode::unavailable);
  }(client, upstream.target()));
  EXPECT_TRUE(closed.get_future().get());
}

TEST(HttpClient, cancels_a_read) {
  std::promise<bool> closed;
  RawUpstream upstream({[&](RawSocket& socket) {
    socket.receive_until("\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab");
    closed.set_value(socket.closed_within(5000));
  }});
  Loop loop;
  HttpClient client(loop, {});
  run_to_end(loop, [](HttpClient& c, Target target) -> Task<> {
    ClientExchange exchange(c, target);
    ClientRequest request{.method = "GET", .path = "/"};
    EXPECT_TRUE(co_await exchange.send(request));
    c.loop().spawn(cancel_soon(c.loop(), exchange));
    const Result<std::string_view> first = co_await exchange.read();
    EXPECT_TRUE(first);
    const Result<std::string_view> second = co_await exchange.read();
    EXPECT_FALSE(second);
    const Result<std::string_view> third = co_await exchange.read();
    EXPECT_FALSE(third);
  }(client, upstream.target()));
  EXPECT_TRUE(closed.get_future().get());
}

TEST(HttpClient, reads_on_after_its_patience_ended) {
  std::promise<void> impatient;
  RawUpstream upstream({[&](RawSocket& socket) {
    socket.receive_until("\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n");
    impatient.get_future().get();
    socket.send("ok");
  }});
  Loop loop;
  HttpClient client(loop, {});
  run_to_end(loop, [](HttpClient& c, Target target, std::promise<void>& told) -> Task<> {
    ClientExchange exchange(c, target);
    ClientRequest request{.method = "GET", .path = "/"};
    EXPECT_TRUE(co_await exchange.send(request));
    const Result<Piece> nothing = co_await exchange.read(Millis(5));
    EXPECT_TRUE(nothing && nothing->waiting);
    told.set_value();
    const Result<std::string_view> bytes = co_await exchange.read();
    EXPECT_TRUE(bytes && *bytes == "ok");
  }(client, upstream.target(), impatient));
}

TEST(HttpClient, cancels_a_name_lookup) {
  Loop loop;
  HttpClient client(loop, {});
  run_to_end(loop, [](HttpClient& c) -> Task<> {
    ClientExchange exchange(c, {.host = "nonexistent.invalid", .port = 80});
    ClientRequest request{.method = "GET", .path = "/"};
    c.loop().post([&] { exchange.cancel(); });
    const Result<void> sent = co_await exchange.send(request);
    EXPECT_FALSE(sent);
  }(client));
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * 4096;
}

// Client, gateway and upstream: the upstream's one endless line streams through the gateway.
TEST(HttpClient, passes_a_large_stream_through_with_flat_memory) {
  constexpr std::size_t kBlocks = 200;
  const std::string block(1024 * 1024, 'x');
  ServerThread upstream([&](Exchange& exchange) -> Task<> {
    exchange.start(200, {});
    for (std::size_t i = 0; i < kBlocks; ++i) {
      if (auto sent = co_await exchange.write(block); !sent) co_return;
    }
    (void)co_await exchange.end();
  });
  const Target target{.host = "127.0.0.1", .port = upstream.port()};
  std::unique_ptr<HttpClient> client;
  ServerThread gateway([&](Exchange& exchange) -> Task<> {
    if (!client) client = std::make_unique<HttpClient>(exchange.loop(), ClientOptions{});
    ClientExchange up(*client, target);
    ClientRequest request{.method = "GET", .path = "/"};
    if (auto sent = co_await up.send(request); !sent) co_return;
    exchange.start(up.status(), {});
    std::string own;
    while (true) {
      const Result<std::string_view> bytes = co_await up.read();
      if (!bytes) co_return;
      if (bytes->empty()) break;
      // The view would not survive a wait: a gateway transforms it into memory of its own.
      own.assign(*bytes);
      if (auto sent = co_await exchange.write(own); !sent) co_return;
    }
    (void)co_await exchange.end();
  });
  RawSocket reader = RawSocket::connect(gateway.port());
  reader.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  std::size_t received = 0;
  std::size_t after_start = 0;
  std::string buffer(256 * 1024, '\0');
  while (true) {
    const ssize_t got = ::recv(reader.fd(), buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    received += static_cast<std::size_t>(got);
    if (after_start == 0 && received > 10 * block.size()) after_start = resident_bytes();
  }
  EXPECT_GT(received, kBlocks * block.size());
  EXPECT_LT(resident_bytes(), after_start + 16 * 1024 * 1024);
  gateway.on_loop([&](HttpServer&) { client.reset(); });
}

TEST(HttpClient, speaks_over_a_unix_socket) {
  const std::string path = testing::TempDir() + "callgate_net_test_" + std::to_string(::getpid());
  {
    ServerThread server(
        [](Exchange& exchange) -> Task<> {
          const std::string peer = exchange.peer();
          (void)co_await exchange.respond(200, "text/plain", peer);
        },
        {}, nullptr, {.unix_path = path});
    Loop loop;
    HttpClient client(loop, {});
    const Result<Target> target = parse_url("unix:" + path);
    ASSERT_TRUE(target);
    const Reply reply = call_once(client, *target);
    EXPECT_EQ(reply.body, "unix") << reply.error.message;
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0) << "the socket's file is left behind";
}

// One connection is kept; which targets may use it?
TEST(HttpClient, uses_a_kept_connection_for_the_same_server_only) {
  ServerThread server([](Exchange& exchange) -> Task<> {
    (void)co_await exchange.respond(200, "text/plain", "ok");
  });
  const Target plain{.host = "127.0.0.1", .port = server.port()};
  Loop loop;
  HttpClient client(loop, {});
  ASSERT_TRUE(call_once(client, plain).ended);
  Target other_path = plain;
  other_path.path_prefix = "/v1";
  EXPECT_TRUE(call_once(client, other_path).reused);
  ASSERT_EQ(client.idle(), 1u);

  Target tls = plain;
  tls.tls = true;
  const Reply over_tls = call_once(client, tls);
  EXPECT_FALSE(over_tls.sent);
  EXPECT_THAT(over_tls.error.message, HasSubstr("TLS"));
  Target named = plain;
  named.host = "127.0.0.2";
  EXPECT_FALSE(call_once(client, named).reused);
  Target port = plain;
  port.port = 1;
  EXPECT_FALSE(call_once(client, port).sent);
  Target socket = plain;
  socket.unix_path = "/nonexistent/callgate";
  EXPECT_FALSE(call_once(client, socket).sent);
}

TEST(HttpClient, keeps_a_connection_unless_the_upstream_says_close) {
  for (const bool close : {false, true}) {
    RawUpstream upstream({[&](RawSocket& socket) {
      socket.receive_until("\r\n\r\n");
      socket.send("HTTP/1.1 200 OK\r\nconnection: " + std::string(close ? "close" : "keep-alive") +
                  "\r\ncontent-length: 2\r\n\r\nok");
      socket.receive_until("\r\n\r\n");
    }});
    Loop loop;
    HttpClient client(loop, {});
    EXPECT_TRUE(call_once(client, upstream.target()).ended);
    EXPECT_EQ(client.idle(), close ? 0u : 1u);
  }
}

TEST(HttpClient, keeps_as_many_connections_as_allowed) {
  int arrived = 0;
  ServerThread server([&](Exchange& exchange) -> Task<> {
    ++arrived;
    exchange.start(200, {});
    (void)co_await exchange.flush();
    // No answer ends before all have begun.
    while (arrived < 3) co_await exchange.loop().sleep(Millis(1));
    (void)co_await exchange.end("ok");
  });
  Loop loop;
  HttpClient client(loop, {.idle_per_target = 2});
  run_to_end(loop, [](HttpClient& c, std::uint16_t port) -> Task<> {
    const Target target{.host = "127.0.0.1", .port = port};
    const ClientRequest request{.method = "GET", .path = "/"};
    ClientExchange one(c, target), two(c, target), three(c, target);
    ClientExchange* const all[] = {&one, &two, &three};
    for (ClientExchange* exchange : all) {
      EXPECT_TRUE(co_await exchange->send(request));
    }
    for (ClientExchange* exchange : all) {
      EXPECT_TRUE(co_await exchange->read_all(100));
    }
    EXPECT_EQ(c.idle(), 2u);
    c.close_idle();
    EXPECT_EQ(c.idle(), 0u);
  }(client, server.port()));
}

TEST(HttpClient, reads_a_body_that_is_as_large_as_the_limit) {
  for (const std::size_t limit : {4u, 3u}) {
    RawUpstream upstream({answer_with("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody")});
    Loop loop;
    HttpClient client(loop, {});
    run_to_end(loop, [](HttpClient& c, Target target, std::size_t most) -> Task<> {
      ClientExchange exchange(c, target);
      const ClientRequest request{.method = "GET", .path = "/"};
      EXPECT_TRUE(co_await exchange.send(request));
      const Result<std::string> body = co_await exchange.read_all(most);
      if (most == 4) {
        EXPECT_EQ(body.value_or("failed"), "body");
      } else {
        EXPECT_FALSE(body);
        EXPECT_EQ(body.error().code, ErrorCode::too_large);
      }
    }(client, upstream.target(), limit));
  }
}

TEST(HttpClient, limits_heads_of_responses) {
  const std::string head = "HTTP/1.1 200 OK\r\na: b\r\ncontent-length: 0\r\n\r\n";
  struct Case {
    ClientOptions options;
    bool fits;
  };
  const Case cases[] = {{{.head_bytes = head.size()}, true},
                        {{.head_bytes = head.size() - 1}, false},
                        {{.header_count = 2}, true},
                        {{.header_count = 1}, false}};
  for (const Case& each : cases) {
    RawUpstream upstream({answer_with(head)});
    Loop loop;
    HttpClient client(loop, each.options);
    EXPECT_EQ(call_once(client, upstream.target()).sent, each.fits);
  }
}

TEST(HttpClient, asks_about_each_address_before_it_connects) {
  RawUpstream upstream({answer_with("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")});
  Loop loop;
  HttpClient never(loop, {.may_connect = [](const Address&) { return false; }});
  EXPECT_FALSE(call_once(never, upstream.target()).sent);
  EXPECT_EQ(upstream.accepted(), 0);
  HttpClient always(loop, {.may_connect = [](const Address&) { return true; }});
  EXPECT_TRUE(call_once(always, upstream.target()).ended);
}

TEST(Resolver, gives_each_address_of_a_name_once) {
  const auto addresses = resolve_blocking("localhost", 80);
  ASSERT_TRUE(addresses) << addresses.error().message;
  std::set<std::string> texts;
  for (const Address& address : *addresses) texts.insert(to_text(address));
  EXPECT_EQ(texts.size(), addresses->size());
}

}  // namespace
}  // namespace callgate::net::client_test
