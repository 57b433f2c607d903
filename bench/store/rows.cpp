// What the request log alone costs: writes requests with the content of a 1 KB whole answer to a store, in batches as a busy
// gateway has them, and prints the CPU time of this process per request.
//
//   store_rows URL REQUESTS [BATCH]
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "store/request_log.h"

namespace {

using namespace callgate;

double cpu_us() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return us(used.ru_utime) + us(used.ru_stime);
}

const std::string kAsked =
    R"({"model":"whole","stream":false,"messages":[{"role":"system","content":"You are helpful."},)"
    R"({"role":"user","content":"What is the weather in Paris today, and should I take an umbrella )"
    R"(with me?"}],"tools":[{"type":"function","function":{"name":"get_weather","description":)"
    R"("Current weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},)"
    R"("required":["city"]}}}]})";

// A kilobyte of words, of which some are frequent, as in prose: text that repeats itself would compress too well.
std::string answer(IdMint& mint) {
  std::string text;
  while (text.size() < 1024) {
    const std::uint64_t word = mint.next() % 50 * (mint.next() % 50);
    IdMint letters(word);
    text += letters.mint("", 2 + word % 9);
    text += ' ';
  }
  return text;
}

void log_one(store::RequestLog& log, const std::string& said, std::string id, std::int64_t at) {
  store::RequestRecord record;
  record.id = id;
  record.received_at = at;
  record.key_name = "bench";
  record.protocol = "openai_chat";
  record.model = "whole";
  record.upstream = "mock";
  record.dialect = "auto";
  record.client_address = "127.0.0.1:51234";
  record.received = kAsked;
  log.begin(std::move(record));
  store::RequestOutcome outcome;
  outcome.id = id;
  outcome.key_name = "bench";
  outcome.http_status = 200;
  outcome.finish_reason = FinishReason::stop;
  outcome.upstream = "mock";
  outcome.usage = Usage{.prompt_tokens = 25, .completion_tokens = 150, .total_tokens = 175};
  outcome.bytes_in = 480;
  outcome.bytes_out = 1400;
  outcome.attempts = 1;
  outcome.first_byte_ms = 1;
  outcome.first_token_ms = 1;
  outcome.total_ms = 1;
  outcome.sent = kAsked;
  outcome.response =
      R"({"id":")" + id +
      R"(","object":"chat.completion","created":1760000000,"model":"whole","choices":[{"index":0,"message":)"
      R"({"role":"assistant","content":")" +
      said +
      R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":25,"completion_tokens":150,"total_tokens":175}})";
  outcome.events = R"([{"type":"text","text":")" + said +
                   R"("},{"type":"usage","prompt_tokens":25,"completion_tokens":150},)"
                   R"({"type":"finish","reason":"stop"}])";
  outcome.search =
      "What is the weather in Paris today, and should I take an umbrella with me?\n" + said;
  log.complete(std::move(outcome));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: store_rows URL REQUESTS [BATCH]\n");
    return 2;
  }
  const long requests = std::strtol(argv[2], nullptr, 10);
  const long batch = argc > 3 ? std::strtol(argv[3], nullptr, 10) : 400;
  auto log = store::make_request_log(argv[1]);
  if (!log) {
    std::fprintf(stderr, "%s\n", log.error().message.c_str());
    return 1;
  }
  IdMint mint(1);
  std::vector<std::string> answers;
  for (int i = 0; i < 1000; ++i) answers.push_back(answer(mint));
  const double before = cpu_us();
  for (long i = 0; i < requests; ++i) {
    log_one(**log, answers[static_cast<std::size_t>(i) % answers.size()],
            mint.mint_timed("req", 1'760'000'000'000 + i / 20), 1'760'000'000'000 + i / 20);
    if ((i + 1) % batch == 0) (*log)->flush(std::chrono::minutes(5));
  }
  (*log)->flush(std::chrono::minutes(5));
  std::printf("%.1f us of CPU per request\n", (cpu_us() - before) / static_cast<double>(requests));
  return (*log)->health().dropped == 0 ? 0 : 1;
}
