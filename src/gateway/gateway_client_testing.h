// For tests: requests of any method to a TestGateway, and bytes that no client of ours would send.
#pragma once

#include <string>
#include <string_view>
#include <thread>

#include "gateway/gateway_testing.h"

namespace callgate::server {

// A whole exchange. `path` may have a query.
inline TestAnswer fetch(TestGateway& gateway, std::string_view method, std::string_view path,
                        const HeaderPairs& headers = {}, std::string_view body = {}) {
  TestAnswer answer;
  const auto run = [&]() -> net::Task<> {
    net::ClientExchange exchange(gateway.client(), gateway.target());
    net::ClientRequest asked{.method = method, .path = path, .headers = {}, .body = body};
    for (const auto& [name, value] : headers) asked.headers.add(name, value);
    const auto sent = co_await exchange.send(asked);
    if (!sent) co_return;
    answer.status = exchange.status();
    for (const net::Header header : exchange.headers()) {
      answer.headers.emplace_back(header.name, header.value);
    }
    auto all = co_await exchange.read_all(std::size_t{16} << 20);
    if (all) answer.body = std::move(*all);
  };
  gateway.run(run());
  return answer;
}

// What comes back until the gateway closes the connection, or the client gives up.
inline std::string exchange_raw(TestGateway& gateway, const std::string& bytes) {
  std::string got;
  net::Signal done(gateway.loop());
  std::thread client([&] {
    net::RawSocket socket = net::RawSocket::connect(gateway.target().port);
    socket.send(bytes);
    got = socket.receive_all();
    gateway.loop().post([&] { done.notify(); });
  });
  const auto run = [&]() -> net::Task<> { (void)co_await done.wait(net::Millis(30'000)); };
  gateway.run(run());
  client.join();
  return got;
}

}  // namespace callgate::server
