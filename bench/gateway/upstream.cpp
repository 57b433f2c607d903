// The upstream of paced streams: 50 Chat frames, one every 100 ms, each of which says when it was sent, by the machine's monotonic
// clock. gateway_load measures how long they took. Streams that begin at once do not send at once: each has its own time within the pace.
//
//   gateway_upstream [CERTIFICATE KEY]      listens on a port of 127.0.0.1 that it prints; with TLS when files are given
#include <chrono>
#include <cstdio>
#include <string>

#include "net/loop.h"
#include "net/server.h"

namespace {

using namespace callgate;

constexpr int kFrames = 50;
constexpr net::Millis kPace{100};

std::string frame(std::string_view delta, std::string_view reason) {
  return "data: "
         "{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,"
         "\"model\":\"paced\",\"choices\":[{\"index\":0,\"delta\":{" +
         std::string(delta) + "},\"finish_reason\":" + std::string(reason) + "}]}\n\n";
}

net::Task<> answer(net::Exchange& exchange) {
  if (const auto body = co_await exchange.body(); !body) co_return;
  exchange.drop_body();
  net::Headers headers;
  headers.add("content-type", "text/event-stream");
  exchange.start(200, headers);
  static int streams = 0;
  co_await exchange.loop().sleep(net::Millis(++streams * 37 % kPace.count()));
  for (int i = 0; i < kFrames; ++i) {
    if (i > 0) co_await exchange.loop().sleep(kPace);
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    const std::string bytes = frame("\"content\":\"sent at " + std::to_string(ns) + " \"", "null");
    if (!co_await exchange.write(bytes)) co_return;
  }
  const std::string last = frame("", "\"stop\"") + "data: [DONE]\n\n";
  static_cast<void>(co_await exchange.end(last));
}

}  // namespace

int main(int argc, char** argv) {
  net::Loop loop;
  net::HttpServer server(loop, {}, answer);
  const auto endpoint = net::parse_endpoint("127.0.0.1:0");
  const net::TlsFiles files{argc > 2 ? argv[1] : "", argc > 2 ? argv[2] : ""};
  const auto bound = server.listen(*endpoint, argc > 2 ? &files : nullptr);
  if (!bound) {
    std::fprintf(stderr, "%s\n", bound.error().message.c_str());
    return 1;
  }
  std::printf("listening on %s:%d\n", bound->host.c_str(), static_cast<int>(bound->port));
  std::fflush(stdout);
  loop.run();
  return 0;
}
