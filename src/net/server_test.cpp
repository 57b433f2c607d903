#include "net/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "net/net_testing.h"

namespace callgate::net::server_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view kLastGet = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

// Answers with method, path and body.
Task<> echo(Exchange& exchange) {
  const Result<std::string_view> body = co_await exchange.body();
  if (!body) {
    const bool large = body.error().code == ErrorCode::too_large;
    const int status = large ? 413 : body.error().status == 0 ? 400 : body.error().status;
    (void)co_await exchange.respond(status, "text/plain", body.error().message);
    co_return;
  }
  std::string answer =
      std::string(exchange.head().method) + " " + std::string(exchange.head().path);
  answer.append(" ").append(*body);
  (void)co_await exchange.respond(200, "text/plain", answer);
}

Task<> stream_three(Exchange& exchange) {
  Headers headers{{"content-type", "text/event-stream"}};
  exchange.start(200, headers);
  (void)co_await exchange.write("one");
  (void)co_await exchange.write("two");
  (void)co_await exchange.end("three");
}

TEST(HttpServer, answers_a_request) {
  ServerThread server(echo);
  RawSocket client = RawSocket::connect(server.port());
  client.send(
      "POST /p?q HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody");
  const std::string answer = client.receive_all();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nserver: callgate\r\ndate: "));
  EXPECT_THAT(answer, HasSubstr("\r\ncontent-length: 12\r\nconnection: close\r\n"));
  EXPECT_THAT(answer, EndsWith("content-type: text/plain\r\n\r\nPOST /p body"));
}

TEST(HttpServer, takes_a_request_byte_by_byte) {
  ServerThread server(echo);
  RawSocket client = RawSocket::connect(server.port());
  const std::string request =
      "POST /p HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
  for (const char byte : request) ASSERT_TRUE(client.send({&byte, 1}));
  EXPECT_THAT(client.receive_all(), EndsWith("\r\n\r\nPOST /p abc"));
}

TEST(HttpServer, answers_pipelined_requests_in_order) {
  ServerThread server(echo);
  RawSocket client = RawSocket::connect(server.port());
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  }
  client.send(requests + std::string(kLastGet));
  const std::string answers = client.receive_all();
  std::size_t at = 0;
  for (int i = 0; i < 50; ++i) {
    at = answers.find("GET /" + std::to_string(i) + " ", at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_THAT(answers, EndsWith("GET /x "));
}

TEST(HttpServer, answers_head_without_a_body) {
  ServerThread server(echo);
  RawSocket client = RawSocket::connect(server.port());
  client.send("HEAD /h HTTP/1.1\r\nHost: a\r\n\r\n" + std::string(kLastGet));
  const std::string answers = client.receive_all();
  EXPECT_THAT(answers, HasSubstr("content-length: 8\r\n"));
  EXPECT_THAT(answers, Not(HasSubstr("HEAD /h")));
  EXPECT_THAT(answers, EndsWith("GET /x "));
}

TEST(HttpServer, streams_chunks_and_keeps_the_connection) {
  ServerThread server(stream_three);
  RawSocket client = RawSocket::connect(server.port());
  client.send(kGet);
  const std::string first = client.receive_until("0\r\n\r\n");
  EXPECT_THAT(first, HasSubstr("\r\ntransfer-encoding: chunked\r\n"));
  EXPECT_THAT(first, EndsWith("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n"));
  client.send(kLastGet);
  EXPECT_THAT(client.receive_all(), EndsWith("5\r\nthree\r\n0\r\n\r\n"));
}

TEST(HttpServer, streams_until_the_close_to_an_old_client) {
  ServerThread server(stream_three);
  RawSocket client = RawSocket::connect(server.port());
  client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const std::string answer = client.receive_all();
  EXPECT_THAT(answer, Not(HasSubstr("transfer-encoding")));
  EXPECT_THAT(answer, HasSubstr("connection: close"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nonetwothree"));
}

TEST(HttpServer, keeps_an_old_client_that_asks_for_it) {
  ServerThread server(echo);
  RawSocket client = RawSocket::connect(server.port());
  client.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(client.receive_until("GET /a "), HasSubstr("connection: keep-alive"));
  client.send("GET /b HTTP/1.0\r\n\r\n");
  EXPECT_THAT(client.receive_all(), EndsWith("GET /b "));
}

TEST(HttpServer, asks_for_an_expected_body_when_it_is_wanted) {
  ServerThread server(echo);
  RawSocket client = RawSocket::connect(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("ok");
  EXPECT_THAT(client.receive_until("POST / ok"), EndsWith("POST / ok"));
}

TEST(HttpServer, closes_when_a_body_was_left_unread) {
  ServerThread server([](Exchange& exchange) -> Task<> {
    (void)co_await exchange.respond(401, "text/plain", "no");
  });
  RawSocket client = RawSocket::connect(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n");
  // More than the buffers hold: the answer must survive it.
  client.send(std::string(300'000, 'x'));
  client.shut_down_writing();
  const std::string answer = client.receive_all();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(answer, HasSubstr("connection: close"));
}

TEST(HttpServer, refuses_a_body_beyond_the_limit) {
  ServerOptions options;
  options.limits.body_bytes = 1000;
  ServerThread server(echo, options);
  RawSocket counted = RawSocket::connect(server.port());
  counted.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n");
  EXPECT_THAT(counted.receive_until("}}"), StartsWith("HTTP/1.1 413 "));
  RawSocket chunked = RawSocket::connect(server.port());
  chunked.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
               std::string(1001, 'x'));
  chunked.shut_down_writing();
  EXPECT_THAT(chunked.receive_all(), StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServer, answers_nonsense_and_closes) {
  ServerThread server(echo);
  struct Case {
    std::string bytes, status;
  };
  for (const Case& c : std::vector<Case>{
           {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "400"},
           {"GET / HTTP/1.1\r\n\r\n", "400"},
           {"GET / HTTP/1.1\nHost: a\n\n", "400"},
           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"},
           {"GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n", "414"},
           {"GET / HTTP/1.1\r\nX: " + std::string(70'000, 'a'), "431"},
           {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "501"},
           {"POST / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n", "417"},
           {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), "400"}}) {
    RawSocket client = RawSocket::connect(server.port());
    client.send(c.bytes);
    client.shut_down_writing();
    const std::string answer = client.receive_all();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + c.status + " ")) << c.bytes.substr(0, 60);
    EXPECT_THAT(answer, HasSubstr("connection: close"));
    EXPECT_THAT(answer, HasSubstr("{\"error\":{\"message\":"));
  }
  EXPECT_TRUE(server.eventually([](HttpServer& s) { return s.connections() == 0; }));
}

TEST(HttpServer, serves_nothing_that_follows_a_refused_request) {
  std::atomic<int> answered = 0;
  ServerThread server([&](Exchange& exchange) -> Task<> {
    ++answered;
    (void)co_await exchange.respond(200, "text/plain", "");
  });
  RawSocket client = RawSocket::connect(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n" +
              std::string(kGet));
  client.shut_down_writing();
  EXPECT_THAT(client.receive_all(), StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(answered, 0);
}

TEST(HttpServer, gives_up_on_half_a_head) {
  ServerOptions options;
  options.head_timeout = Millis(30);
  ServerThread server(echo, options);
  RawSocket half = RawSocket::connect(server.port());
  half.send("GET / HTTP/1.1\r\nHo");
  EXPECT_THAT(half.receive_all(), StartsWith("HTTP/1.1 408 "));
  RawSocket silent = RawSocket::connect(server.port());
  EXPECT_EQ(silent.receive_all(), "");
}

TEST(HttpServer, gives_up_on_a_head_that_drips) {
  ServerOptions options;
  options.head_timeout = Millis(40);
  ServerThread server(echo, options);
  RawSocket client = RawSocket::connect(server.port());
  std::string answer;
  client.send("GET / HTTP/1.1\r\nX: ");
  for (int i = 0; i < 1000 && !client.closed_within(5); ++i) {
    if (!client.send("x")) break;
    pollfd wait{client.fd(), POLLIN, 0};
    if (::poll(&wait, 1, 0) > 0) break;
  }
  EXPECT_THAT(client.receive_all(), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpServer, gives_up_on_half_a_body) {
  ServerOptions options;
  options.body_idle_timeout = Millis(30);
  ServerThread server(echo, options);
  RawSocket client = RawSocket::connect(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
  const std::string answer = client.receive_until("arriving");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(answer, HasSubstr("the request body stopped arriving"));
}

TEST(HttpServer, gives_up_on_a_body_that_drips) {
  ServerOptions options;
  options.body_idle_timeout = Millis(100);
  options.min_body_rate = 1000;
  ServerThread server(echo, options);
  RawSocket client = RawSocket::connect(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nab");
  for (int i = 0; i < 2000 && client.send("x"); ++i) {
    pollfd wait{client.fd(), POLLIN, 0};
    if (::poll(&wait, 1, 5) > 0) break;
  }
  const std::string answer = client.receive_until("slowly");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(answer, HasSubstr("the request body arrives too slowly"));
}

TEST(HttpServer, waits_for_a_body_that_comes_at_the_least_rate) {
  ServerOptions options;
  options.body_idle_timeout = Millis(20);
  options.min_body_rate = 1;  // each byte earns a second
  ServerThread server(echo, options);
  RawSocket client = RawSocket::connect(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nConnection: close\r\n\r\nab");
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    client.send("x");
  }
  // On a busy machine the bytes may pause for longer than the idle timeout; they never come too slowly.
  EXPECT_THAT(client.receive_all(), Not(HasSubstr("too slowly")));
}

// As Python's http.client does: the whole body is written, then the answer is read.
TEST(HttpServer, refuses_large_bodies_of_clients_that_write_before_they_read) {
  ServerThread server(echo);
  for (const std::size_t megabytes : {33, 36, 40}) {
    RawSocket client = RawSocket::connect(server.port());
    const std::size_t bytes = megabytes * 1'000'000;
    const std::size_t limit = HttpLimits{}.body_bytes;
    ASSERT_TRUE(client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                            std::to_string(bytes + limit) + "\r\n\r\n"));
    const std::string piece(1'000'000, 'x');
    for (std::size_t sent = 0; sent < bytes; sent += piece.size()) {
      ASSERT_TRUE(client.send(piece)) << megabytes << " MB, after " << sent;
    }
    EXPECT_THAT(client.receive_all(), StartsWith("HTTP/1.1 413 ")) << megabytes;
  }
}

TEST(HttpServer, throws_away_only_so_much_of_a_refused_body) {
  ServerOptions options;
  options.linger_bytes = 100'000;
  ServerThread server(echo, options);
  RawSocket client = RawSocket::connect(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999\r\n\r\n");
  const std::string piece(1'000'000, 'x');
  bool open = true;
  for (int i = 0; i < 100 && open; ++i) open = client.send(piece);
  EXPECT_FALSE(open);
}

TEST(HttpServer, knows_the_address_of_the_client) {
  ServerThread server([](Exchange& exchange) -> Task<> {
    const std::string answer =
        std::string(exchange.peer_host()) + (exchange.secure() ? " tls" : " plain");
    (void)co_await exchange.respond(200, "text/plain", answer);
  });
  RawSocket client = RawSocket::connect(server.port());
  client.send(kLastGet);
  EXPECT_THAT(client.receive_all(), EndsWith("127.0.0.1 plain"));
}

TEST(HttpServer, takes_other_options_while_it_serves) {
  constexpr std::string_view kHello =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
  ServerThread server(echo);
  RawSocket before = RawSocket::connect(server.port());
  before.send(kHello);
  EXPECT_THAT(before.receive_until("hello"), StartsWith("HTTP/1.1 200 "));
  server.on_loop([](HttpServer& on) {
    ServerOptions options;
    options.limits.body_bytes = 4;
    on.use_options(std::move(options));
  });
  RawSocket after = RawSocket::connect(server.port());
  after.send(kHello);
  EXPECT_THAT(after.receive_until("too large"), StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServer, closes_an_idle_connection) {
  ServerOptions options;
  options.keep_alive_timeout = Millis(30);
  ServerThread server(echo, options);
  RawSocket client = RawSocket::connect(server.port());
  client.send(kGet);
  client.receive_until("GET /x ");
  EXPECT_TRUE(client.closed_within(5000));
}

TEST(HttpServer, turns_a_throwing_answer_into_a_500) {
  std::atomic<int> logged = 0;
  ServerOptions options;
  options.log = [&](std::string_view) { ++logged; };
  options.error_body = [](int status, std::string_view, std::string_view path, Headers&) {
    return "own " + std::to_string(status) + " of " + std::string(path);
  };
  ServerThread server(
      [](Exchange& exchange) -> Task<> {
        co_await exchange.loop().sleep(Millis(1));
        throw std::runtime_error("broken");
      },
      options);
  RawSocket client = RawSocket::connect(server.port());
  client.send(kGet);
  const std::string answer = client.receive_all();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(answer, EndsWith("own 500 of /x"));
  EXPECT_EQ(logged, 1);
}

TEST(HttpServer, says_which_path_it_refuses_by_itself) {
  ServerOptions options;
  options.limits.header_count = 2;
  options.error_body = [](int status, std::string_view, std::string_view path, Headers&) {
    return std::to_string(status) + " of '" + std::string(path) + "'";
  };
  ServerThread server(echo, options);
  const auto refusal = [&](std::string_view request) {
    RawSocket client = RawSocket::connect(server.port());
    client.send(request);
    return client.receive_all();
  };
  EXPECT_THAT(refusal("GET /p?q HTTP/1.1\r\nhost: a\r\na: b\r\nc: d\r\n\r\n"),
              EndsWith("431 of '/p'"));
  EXPECT_THAT(refusal("GET /p HTTP/1.1\r\n\r\n"), EndsWith("400 of '/p'"));
  const std::string long_head = "\r\nhost: a\r\nx: " + std::string(70'000, 'a');
  EXPECT_THAT(refusal("POST /p?q HTTP/1.1" + long_head), EndsWith("431 of '/p'"));
  EXPECT_THAT(refusal("POST http://a/p HTTP/1.1" + long_head), EndsWith("431 of '/p'"));
  EXPECT_THAT(refusal("POST" + long_head), EndsWith("431 of ''"));
  EXPECT_THAT(refusal("nonsense\r\n\r\n"), EndsWith("400 of ''"));
}

TEST(HttpServer, breaks_the_connection_of_a_stream_that_throws) {
  ServerThread server([](Exchange& exchange) -> Task<> {
    exchange.start(200, {});
    (void)co_await exchange.write("one");
    throw std::runtime_error("broken");
  });
  RawSocket client = RawSocket::connect(server.port());
  client.send(kGet);
  EXPECT_THAT(client.receive_all(), EndsWith("3\r\none\r\n"));
}

TEST(HttpServer, answers_500_when_the_task_forgets_to) {
  ServerThread server([](Exchange&) -> Task<> { co_return; });
  RawSocket client = RawSocket::connect(server.port());
  client.send(kGet);
  EXPECT_THAT(client.receive_all(), StartsWith("HTTP/1.1 500 "));
}

TEST(HttpServer, drops_header_values_that_would_split_the_answer) {
  ServerThread server([](Exchange& exchange) -> Task<> {
    Headers headers{{"x-evil", "a\r\nset-cookie: b"}, {"x-good", "c"}};
    (void)co_await exchange.respond(200, headers, "");
  });
  RawSocket client = RawSocket::connect(server.port());
  client.send(kLastGet);
  const std::string answer = client.receive_all();
  EXPECT_THAT(answer, Not(HasSubstr("set-cookie")));
  EXPECT_THAT(answer, HasSubstr("x-good: c"));
}

// Waits until the client goes and reports when that was noticed.
struct GoneProbe {
  std::promise<std::chrono::steady_clock::time_point> noticed;
  std::promise<void> waiting;

  Answer answer() {
    return [this](Exchange& exchange) -> Task<> {
      (void)co_await exchange.body();
      Signal gone(exchange.loop());
      exchange.on_client_gone([&] {
        noticed.set_value(std::chrono::steady_clock::now());
        gone.notify();
      });
      waiting.set_value();
      co_await gone.wait();
    };
  }
};

double milliseconds_since(std::chrono::steady_clock::time_point start,
                          std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

// The best of five, so that a busy machine does not decide.
TEST(HttpServer, notices_at_once_that_the_client_closed) {
  for (const bool with_reset : {false, true}) {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      GoneProbe probe;
      ServerThread server(probe.answer());
      RawSocket client = RawSocket::connect(server.port());
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok");
      probe.waiting.get_future().get();
      const auto left = std::chrono::steady_clock::now();
      with_reset ? client.reset() : client.close();
      best = std::min(best, milliseconds_since(left, probe.noticed.get_future().get()));
      EXPECT_TRUE(server.eventually([](HttpServer& s) { return s.connections() == 0; }));
    }
    EXPECT_LT(best, 5);
  }
}

TEST(HttpServer, notices_a_leaving_client_behind_a_pipelined_request) {
  GoneProbe probe;
  ServerThread server(probe.answer());
  RawSocket client = RawSocket::connect(server.port());
  client.send(std::string(kGet) + std::string(kGet));
  probe.waiting.get_future().get();
  client.send(kGet);
  client.close();
  EXPECT_EQ(probe.noticed.get_future().wait_for(std::chrono::seconds(5)),
            std::future_status::ready);
}

TEST(HttpServer, tells_at_once_when_the_client_is_gone_already) {
  std::promise<bool> told;
  ServerThread server([&](Exchange& exchange) -> Task<> {
    while (!exchange.client_gone()) co_await exchange.loop().sleep(Millis(1));
    bool called = false;
    exchange.on_client_gone([&] { called = true; });
    const Result<void> sent = co_await exchange.respond(200, "text/plain", "x");
    told.set_value(called && !sent && sent.error().code == ErrorCode::unavailable);
  });
  RawSocket client = RawSocket::connect(server.port());
  client.send(kGet);
  client.close();
  EXPECT_TRUE(told.get_future().get());
}

TEST(HttpServer, survives_resets_at_every_stage) {
  ServerThread server(echo);
  const std::string request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";
  for (std::size_t size = 0; size <= request.size(); ++size) {
    RawSocket client = RawSocket::connect(server.port());
    client.send(std::string_view(request).substr(0, size));
    client.reset();
  }
  EXPECT_TRUE(server.eventually([](HttpServer& s) { return s.connections() == 0; }));
}

TEST(HttpServer, waits_for_a_client_that_reads_slowly) {
  std::atomic<std::size_t> written = 0;
  std::promise<void> ended;
  ServerThread server([&](Exchange& exchange) -> Task<> {
    const std::string block(64 * 1024, 'x');
    exchange.start(200, {});
    for (int i = 0; i < 1000; ++i) {
      if (auto sent = co_await exchange.write(block); !sent) break;
      written += block.size();
    }
    (void)co_await exchange.end();
    ended.set_value();
  });
  RawSocket client = RawSocket::connect(server.port());
  client.send(kLastGet);
  // Nothing is read yet: only what the kernel's buffers hold may be written.
  std::size_t before = 0;
  do {
    before = written;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  } while (before != written);
  EXPECT_LT(written, 32u * 1024 * 1024);
  std::size_t received = 0;
  for (std::string more = client.receive(); !more.empty(); more = client.receive()) {
    received += more.size();
  }
  EXPECT_GT(received, 1000u * 64 * 1024);
  ended.get_future().get();
}

TEST(HttpServer, gives_up_on_a_client_that_stops_reading) {
  ServerOptions options;
  options.write_stall_timeout = Millis(50);
  std::promise<ErrorCode> failed;
  ServerThread server(
      [&](Exchange& exchange) -> Task<> {
        const std::string block(1024 * 1024, 'x');
        exchange.start(200, {});
        while (true) {
          if (auto sent = co_await exchange.write(block); !sent) {
            failed.set_value(sent.error().code);
            co_return;
          }
        }
      },
      options);
  RawSocket client = RawSocket::connect(server.port());
  client.send(kGet);
  EXPECT_EQ(failed.get_future().get(), ErrorCode::timed_out);
}

TEST(HttpServer, drains) {
  std::promise<Signal*> waiting;
  ServerThread server([&](Exchange& exchange) -> Task<> {
    if (exchange.head().path == "/slow") {
      Signal go_on(exchange.loop());
      waiting.set_value(&go_on);
      co_await go_on.wait();
    }
    (void)co_await exchange.respond(200, "text/plain", "done");
  });
  RawSocket idle = RawSocket::connect(server.port());
  idle.send(kGet);
  idle.receive_until("done");
  RawSocket busy = RawSocket::connect(server.port());
  busy.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
  Signal* go_on = waiting.get_future().get();
  EXPECT_EQ(server.on_loop([](HttpServer& s) { return s.active(); }), 1u);
  server.on_loop([](HttpServer& s) { s.stop_accepting(); });
  EXPECT_TRUE(idle.closed_within(5000));
  server.on_loop([&](HttpServer&) { go_on->notify(); });
  const std::string answer = busy.receive_all();
  EXPECT_THAT(answer, HasSubstr("connection: close"));
  EXPECT_THAT(answer, EndsWith("done"));
  EXPECT_TRUE(server.eventually([](HttpServer& s) { return s.connections() == 0; }));
}

TEST(HttpServer, close_all_tells_the_answers) {
  GoneProbe probe;
  ServerThread server(probe.answer());
  RawSocket client = RawSocket::connect(server.port());
  client.send(kGet);
  probe.waiting.get_future().get();
  server.on_loop([](HttpServer& s) { s.close_all(); });
  EXPECT_TRUE(client.closed_within(5000));
  EXPECT_TRUE(server.eventually([](HttpServer& s) { return s.connections() == 0; }));
}

TEST(HttpServer, destroys_answers_that_still_wait) {
  std::promise<void> waiting;
  bool destroyed = false;
  {
    ServerThread server([&](Exchange& exchange) -> Task<> {
      struct Probe {
        bool& flag;
        ~Probe() { flag = true; }
      } guard{destroyed};
      waiting.set_value();
      co_await exchange.loop().sleep(Millis(1'000'000));
    });
    RawSocket client = RawSocket::connect(server.port());
    client.send(kGet);
    waiting.get_future().get();
  }
  EXPECT_TRUE(destroyed);
}

TEST(HttpServer, refuses_a_port_in_use) {
  ServerThread server(echo);
  Loop loop;
  HttpServer second(loop, {}, echo);
  const Result<Endpoint> bound = second.listen(server.endpoint());
  ASSERT_FALSE(bound);
  EXPECT_THAT(bound.error().message, HasSubstr("Address already in use"));
}

TEST(HttpServer, shares_a_port_between_loops) {
  LoopGroup group(2);
  std::array<std::atomic<int>, 2> answered{};
  std::vector<std::unique_ptr<HttpServer>> servers;
  for (std::size_t i = 0; i < 2; ++i) {
    servers.push_back(std::make_unique<HttpServer>(
        group[i], ServerOptions{}, [&answered, i](Exchange& exchange) -> Task<> {
          ++answered[i];
          (void)co_await exchange.respond(200, "text/plain", "");
        }));
  }
  const Result<Endpoint> bound = servers[0]->listen({.host = "127.0.0.1"});
  ASSERT_TRUE(bound);
  ASSERT_TRUE(servers[1]->listen_like(*servers[0]));
  group.start();
  for (int i = 0; i < 64; ++i) {
    RawSocket client = RawSocket::connect(bound->port);
    client.send(kLastGet);
    EXPECT_THAT(client.receive_all(), StartsWith("HTTP/1.1 200"));
  }
  group.stop();
  group.join();
  EXPECT_EQ(answered[0] + answered[1], 64);
  EXPECT_GT(answered[0], 0);
  EXPECT_GT(answered[1], 0);
}

TEST(HttpServer, names_the_peer_even_when_it_is_gone) {
  std::promise<std::string> named;
  ServerThread server([&](Exchange& exchange) -> Task<> {
    while (!exchange.client_gone()) co_await exchange.loop().sleep(Millis(1));
    exchange.abort();
    named.set_value(exchange.peer());
  });
  RawSocket client = RawSocket::connect(server.port());
  client.send(kGet);
  client.reset();
  EXPECT_THAT(named.get_future().get(), StartsWith("127.0.0.1:"));
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(HttpServer, writes_its_own_headers_once_whatever_the_answer_adds) {
  ServerThread server([](Exchange& exchange) -> Task<> {
    const Headers headers{{"Content-Length", "99"}, {"TRANSFER-ENCODING", "chunked"},
                          {"Connection", "x"},      {"Date", "never"},
                          {"Server", "other"},      {"x-a", "b"}};
    if (exchange.head().path == "/stream") {
      exchange.start(200, headers);
      (void)co_await exchange.end("ok");
    } else {
      (void)co_await exchange.respond(200, headers, "ok");
    }
  });
  for (const bool stream : {false, true}) {
    RawSocket client = RawSocket::connect(server.port());
    client.send(std::string("GET ") + (stream ? "/stream" : "/") +
                " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    std::string answer = client.receive_all();
    for (char& c : answer) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    EXPECT_EQ(count_of(answer, "\r\ncontent-length:"), stream ? 0u : 1u) << answer;
    EXPECT_EQ(count_of(answer, "\r\ntransfer-encoding:"), stream ? 1u : 0u) << answer;
    EXPECT_EQ(count_of(answer, "\r\nconnection:"), 1u) << answer;
    EXPECT_EQ(count_of(answer, "\r\ndate:"), 1u) << answer;
    EXPECT_EQ(count_of(answer, "\r\nserver:"), 1u) << answer;
    EXPECT_EQ(count_of(answer, "\r\nx-a: b\r\n"), 1u) << answer;
    EXPECT_EQ(answer.find("never"), std::string::npos);
  }
}

TEST(HttpServer, serves_as_many_connections_as_allowed_and_counts_them) {
  std::atomic<std::int64_t> open = 0;
  ServerOptions options;
  options.open_connections = &open;
  options.max_connections = 2;
  ServerThread server(echo, std::move(options));
  const auto answers = [&](RawSocket& client) {
    client.send(kGet);
    return !client.receive_until("GET /x ").empty();
  };
  RawSocket first = RawSocket::connect(server.port());
  RawSocket second = RawSocket::connect(server.port());
  EXPECT_TRUE(answers(first));
  EXPECT_TRUE(answers(second));
  EXPECT_EQ(open, 2);
  RawSocket third = RawSocket::connect(server.port());
  EXPECT_FALSE(answers(third));
  second.close();
  EXPECT_TRUE(server.eventually([&](HttpServer& s) { return s.connections() == 1; }));
  EXPECT_EQ(open, 1);
  RawSocket fourth = RawSocket::connect(server.port());
  EXPECT_TRUE(answers(fourth));
}
}  // namespace
}  // namespace callgate::net::server_test
