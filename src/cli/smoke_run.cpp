#include "cli/smoke_run.h"

#include <algorithm>
#include <utility>

#include "callgate/version.h"
#include "net/client.h"
#include "net/loop.h"

namespace callgate::cli {
namespace {

using Clock = std::chrono::steady_clock;
using contract::ContractProgress;
using contract::RuleVerdict;
using contract::Verdict;
using Leave = SmokeOptions::Leave;

constexpr std::size_t kMaxAnswer = std::size_t{64} << 20;
constexpr net::Millis kConnectTimeout{5'000};

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

bool is_time_to_leave(Leave leave, const ContractProgress& progress) {
  switch (leave) {
    case Leave::never:
      return false;
    case Leave::call_begun:
      return progress.calls_begun > 0;
    case Leave::call_whole:
      return progress.calls_whole > 0;
  }
  return false;
}

void note_progress(SmokeTimes& times, const ContractProgress& progress, Clock::time_point start) {
  if (progress.said && !times.first_token) times.first_token = since(start);
  if (progress.calls_begun > 0 && !times.first_call) times.first_call = since(start);
}

std::string to_text(const net::Headers& headers) {
  std::string text;
  for (const net::Header header : headers) {
    text.append(header.name).append(": ").append(header.value).append("\n");
  }
  return text;
}

class Smoke {
 public:
  Smoke(net::Loop& loop, const SmokeOptions& options, net::Target target)
      : options_(options),
        target_(std::move(target)),
        client_(loop, {.insecure = options.insecure}),
        secret_(options.key.reveal()),
        path_(contract::smoke_path(options.question)),
        body_(contract::smoke_request(options.question)),
        terms_(contract::smoke_terms(options.question)) {
    if (!secret_.empty()) terms_.secrets = {&secret_, 1};
  }

  net::Task<Result<SmokeRun>> run() {
    SmokeRun run;
    std::optional<SmokeAnswer> left;
    if (options_.leave != Leave::never) {
      Result<SmokeAnswer> answer = co_await ask(options_.leave);
      if (!answer) co_return tl::unexpected(std::move(answer.error()));
      left = std::move(*answer);
    }
    while (run.answers.size() < std::max(options_.repeat, 1u)) {
      Result<SmokeAnswer> answer = co_await ask(Leave::never);
      if (left && run.answers.empty()) run.after_leaving = judge_leaving(*left, answer);
      // A server that died of our leaving has been asked: the rule says it.
      if (!answer && left && run.answers.empty()) {
        run.answers.push_back(std::move(*left));
        break;
      }
      if (!answer) co_return tl::unexpected(std::move(answer.error()));
      run.answers.push_back(std::move(*answer));
    }
    co_return run;
  }

 private:
  net::Task<Result<SmokeAnswer>> ask(Leave leave) {
    const net::Timeouts timeouts{.connect = std::min(kConnectTimeout, options_.timeout),
                                 .tls = std::min(kConnectTimeout, options_.timeout),
                                 .first_byte = options_.timeout,
                                 .idle = options_.timeout,
                                 .total = options_.timeout};
    net::ClientExchange exchange(client_, target_, timeouts);
    net::ClientRequest request{.method = "POST", .path = path_, .headers = {}, .body = body_};
    add_headers(request.headers);
    const Clock::time_point start = Clock::now();
    Result<void> sent = co_await exchange.send(request);
    if (!sent) co_return tl::unexpected(std::move(sent.error()));
    SmokeAnswer answer;
    answer.times.first_byte = since(start);
    answer.status = exchange.status();
    const auto contract = contract::make_contract(options_.question.protocol, terms_);
    contract->accept_head(answer.status, exchange.headers().find("content-type").value_or(""),
                          to_text(exchange.headers()));
    std::string cut;
    while (cut.empty() && !answer.left) {
      Result<std::string_view> bytes = co_await exchange.read();
      if (bytes && bytes->empty()) break;
      if (!bytes) {
        cut = bytes.error().message;
        break;
      }
      answer.bytes.append(*bytes);
      contract->push(*bytes);
      note_progress(answer.times, contract->progress(), start);
      answer.left = is_time_to_leave(leave, contract->progress());
      if (answer.bytes.size() > kMaxAnswer) cut = "more than 64 MiB";
    }
    answer.times.total = since(start);
    if (answer.left) exchange.cancel();
    contract->finish(cut);
    finish(answer, *contract);
    co_return answer;
  }

  void add_headers(net::Headers& headers) const {
    headers.add("content-type", "application/json");
    headers.add("accept", options_.question.protocol == "ollama" ? "application/x-ndjson"
                                                                 : "text/event-stream");
    headers.add("user-agent", "callgate-smoke/" + std::string(kVersion));
    if (options_.question.protocol == "messages") headers.add("anthropic-version", "2023-06-01");
    if (secret_.empty()) return;
    if (options_.question.protocol == "messages") return headers.add("x-api-key", secret_);
    if (options_.question.protocol == "gemini") return headers.add("x-goog-api-key", secret_);
    headers.add("authorization", "Bearer " + std::string(secret_));
  }

  void finish(SmokeAnswer& answer, const contract::StreamContract& contract) const {
    answer.bytes = contract::mask_secrets(answer.bytes, terms_.secrets);
    answer.verdicts = contract.verdicts();
    answer.transcript = contract.transcript();
    answer.progress = contract.progress();
  }

  static RuleVerdict judge_leaving(const SmokeAnswer& left, const Result<SmokeAnswer>& next) {
    if (!left.left) return {kSurvivesDisconnect, Verdict::not_applicable, "no call to leave at"};
    std::string seen =
        "left after frame " + std::to_string(left.progress.frames) + "; the next request ";
    if (!next)
      return {kSurvivesDisconnect, Verdict::fail, seen + "failed: " + next.error().message};
    if (next->status != 200) {
      return {kSurvivesDisconnect, Verdict::fail, seen + "got " + std::to_string(next->status)};
    }
    const auto time = static_cast<std::int64_t>(next->times.total);
    return {kSurvivesDisconnect, Verdict::pass,
            seen + "was answered in " + std::to_string(time) + " ms"};
  }

  const SmokeOptions& options_;
  const net::Target target_;
  net::HttpClient client_;
  const std::string_view secret_;
  const std::string path_;
  const std::string body_;
  contract::ContractTerms terms_;
};

net::Task<> drive(net::Loop& loop, Smoke& smoke, Result<SmokeRun>& result) {
  result = co_await smoke.run();
  loop.stop();
}

}  // namespace

Result<SmokeRun> run_smoke(const SmokeOptions& options) {
  Result<net::Target> target = net::parse_url(options.url);
  if (!target) return tl::unexpected(std::move(target.error()));
  net::Loop loop;
  std::string fault;
  loop.set_fault_log([&fault, &loop](std::string_view what) {
    fault = what;
    loop.stop();
  });
  Smoke smoke(loop, options, std::move(*target));
  Result<SmokeRun> result = fail(ErrorCode::internal, "the request was not made");
  loop.spawn(drive(loop, smoke, result));
  loop.run();
  if (!fault.empty()) return fail(ErrorCode::internal, fault);
  return result;
}

}  // namespace callgate::cli
