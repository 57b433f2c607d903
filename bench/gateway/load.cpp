// The load of bench/gateway: asks a URL many times over kept-alive connections and prints one JSON line with counts and
// times in microseconds. Of frames that say when gateway_upstream sent them it also measures how long they took.
//
//   gateway_load URL MODEL REQUESTS CONCURRENCY whole|stream [PATH BODY_FILE]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "net/client.h"
#include "net/loop.h"

namespace {

using namespace callgate;
using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}

struct Load {
  net::Target target;
  std::string path = "/chat/completions";
  std::string body;
  std::size_t requests = 0;
  std::size_t concurrency = 0;
  bool stream = false;
  std::size_t started = 0;
  std::size_t running = 0;
  std::size_t failed = 0;
  std::size_t frames = 0;
  std::size_t bytes = 0;
  std::vector<double> total_us;
  std::vector<double> first_us;
  std::vector<double> frame_us;
};

void read_frame(Load& load, std::string_view frame, Clock::time_point now) {
  constexpr std::string_view kSentAt = "\"content\":\"sent at ";
  ++load.frames;
  const std::size_t at = frame.find(kSentAt);
  if (at == std::string_view::npos) return;
  const std::string digits(frame.substr(at + kSentAt.size(), 20));
  const Clock::time_point sent{std::chrono::nanoseconds(std::strtoll(digits.c_str(), nullptr, 10))};
  load.frame_us.push_back(microseconds(now - sent));
}

// `rest` keeps what is not a whole frame yet.
void read_frames(Load& load, std::string_view bytes, std::string& rest) {
  const Clock::time_point now = Clock::now();
  rest += bytes;
  std::size_t begin = 0;
  for (std::size_t end; (end = rest.find("\n\n", begin)) != std::string::npos; begin = end + 2) {
    read_frame(load, std::string_view(rest).substr(begin, end - begin), now);
  }
  rest.erase(0, begin);
}

net::ClientRequest make_request(const Load& load) {
  net::ClientRequest request{.method = "POST", .path = load.path, .headers = {}, .body = load.body};
  request.headers.add("content-type", "application/json");
  request.headers.add("authorization", "Bearer bench");
  return request;
}

net::Task<bool> one_request(Load& load, net::HttpClient& client) {
  net::ClientExchange exchange(client, load.target);
  const net::ClientRequest request = make_request(load);
  const auto begin = Clock::now();
  if (auto sent = co_await exchange.send(request); !sent || exchange.status() != 200)
    co_return false;
  std::string rest;
  bool any = false;
  for (;;) {
    auto bytes = co_await exchange.read();
    if (!bytes) co_return false;
    if (bytes->empty()) break;
    if (!any) load.first_us.push_back(microseconds(Clock::now() - begin));
    any = true;
    load.bytes += bytes->size();
    if (load.stream) read_frames(load, *bytes, rest);
  }
  load.total_us.push_back(microseconds(Clock::now() - begin));
  co_return any;
}

net::Task<> worker(Load& load, net::HttpClient& client, net::Loop& loop) {
  while (load.started < load.requests) {
    ++load.started;
    const bool fine = co_await one_request(load, client);
    if (!fine) ++load.failed;
  }
  load.running -= 1;
  if (load.running == 0) loop.stop();
}

double percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(
        stderr,
        "usage: gateway_load URL MODEL REQUESTS CONCURRENCY whole|stream [PATH BODY_FILE]\n");
    return 2;
  }
  Load load;
  auto target = net::parse_url(argv[1]);
  if (!target) {
    std::fprintf(stderr, "%s\n", target.error().message.c_str());
    return 2;
  }
  load.target = *target;
  load.requests = std::strtoull(argv[3], nullptr, 10);
  load.concurrency = std::strtoull(argv[4], nullptr, 10);
  load.stream = std::string_view(argv[5]) == "stream";
  load.body = "{\"model\":\"" + std::string(argv[2]) +
              "\",\"stream\":" + (load.stream ? "true" : "false") +
              ",\"messages\":[{\"role\":\"system\",\"content\":\"You are "
              "helpful.\"},{\"role\":\"user\",\"content\":\"What is the weather "
              "in Paris today, and should I take an umbrella with "
              "me?\"}],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
              "\"get_weather\",\"description\":\"Current "
              "weather\",\"parameters\":{\"type\":\"object\",\"properties\":{\"city\":{\"type\":"
              "\"string\"}},\"required\":[\"city\"]}}}]}";
  if (argc > 7) {
    load.path = argv[6];
    std::ifstream file(argv[7]);
    load.body.assign(std::istreambuf_iterator<char>(file), {});
  }
  net::Loop loop;
  loop.set_fault_log([](std::string_view what) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(what.size()), what.data());
  });
  net::HttpClient client(loop, {.idle_per_target = 100'000});
  load.running = load.concurrency;
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < load.concurrency; ++i) loop.spawn(worker(load, client, loop));
  loop.run();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::printf(
      "{\"requests\":%zu,\"failed\":%zu,\"seconds\":%.3f,\"frames\":%zu,\"bytes\":%zu,\"total_"
      "p50\":%.1f,\"total_p99\":%.1f,"
      "\"first_p50\":%.1f,\"first_p99\":%.1f,\"frame_p50\":%.1f,\"frame_p99\":%.1f}\n",
      load.started, load.failed, seconds, load.frames, load.bytes, percentile(load.total_us, 0.5),
      percentile(load.total_us, 0.99), percentile(load.first_us, 0.5),
      percentile(load.first_us, 0.99), percentile(load.frame_us, 0.5),
      percentile(load.frame_us, 0.99));
  return load.failed == 0 ? 0 : 1;
}
