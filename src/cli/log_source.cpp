#include "cli/log_source.h"

#include <chrono>
#include <filesystem>
#include <utility>

#include "admin/log_query.h"
#include "callgate/version.h"
#include "json/reader.h"
#include "net/client.h"
#include "net/loop.h"
#include "store/request_log.h"

namespace callgate::cli {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
constexpr std::string_view kVersionPath = "/v1";

// {"error":{"message":"..."}}
std::string message_of(int status, std::string_view body) {
  std::string message;
  json::Reader in(body);
  for (std::string_view key; in.next_member(key);) {
    if (key != "error" || in.peek() != json::Kind::object) {
      in.skip();
      continue;
    }
    for (std::string_view name; in.next_member(name);) {
      if (name == "message" && in.peek() == json::Kind::string) {
        message = in.string();
      } else {
        in.skip();
      }
    }
  }
  if (!in.finish() || message.empty()) message = "this is not the answer of a gateway";
  return message + " (status " + std::to_string(status) + ")";
}

class GatewaySource final : public LogSource {
 public:
  GatewaySource(net::Target target, const LogPlace& place)
      : target_(std::move(target)), key_(place.key), client_(loop_, {.insecure = place.insecure}) {
    loop_.set_fault_log([this](std::string_view what) {
      answer_ = fail(ErrorCode::internal, std::string(what));
      loop_.stop();
    });
  }

  Result<std::string> ask(const std::string& path, const std::string& query) override {
    const std::string target = query.empty() ? path : path + "?" + query;
    answer_ = fail(ErrorCode::internal, "the gateway was not asked");
    loop_.spawn(drive(target));
    loop_.run();
    return std::move(answer_);
  }

 private:
  net::Task<> drive(const std::string& target) {
    answer_ = co_await get(target);
    loop_.stop();
  }

  net::Task<Result<std::string>> get(const std::string& target) {
    net::ClientExchange exchange(client_, target_);
    net::ClientRequest request{.method = "GET", .path = target, .headers = {}, .body = {}};
    request.headers.add("user-agent", "callgate-log/" + std::string(kVersion));
    if (!key_.empty()) {
      request.headers.add("authorization", "Bearer " + std::string(key_.reveal()));
    }
    Result<void> sent = co_await exchange.send(request);
    if (!sent) co_return tl::unexpected(std::move(sent.error()));
    Result<std::string> body = co_await exchange.read_all(kMaxBytes);
    if (!body || exchange.status() == 200) co_return body;
    Error refused{.code = ErrorCode::invalid_request,
                  .message = message_of(exchange.status(), *body),
                  .status = exchange.status()};
    co_return tl::unexpected(std::move(refused));
  }

  const net::Target target_;
  const Secret key_;
  net::Loop loop_;
  net::HttpClient client_;
  Result<std::string> answer_;
};

class StoreSource final : public LogSource {
 public:
  explicit StoreSource(std::unique_ptr<store::RequestLog> log) : log_(std::move(log)) {}

  Result<std::string> ask(const std::string& path, const std::string& query) override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return server::answer_log_query(
        *log_, {.path = path,
                .query = query,
                .now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count()});
  }

 private:
  std::unique_ptr<store::RequestLog> log_;
};

// A log that is only to be read is not made.
Result<void> check_exists(const std::string& url) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (!url.starts_with(kSqlite)) return {};
  const std::string path = url.substr(kSqlite.size());
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return {};
  return fail(ErrorCode::not_found, "--store: there is no file " + path);
}

}  // namespace

Result<std::unique_ptr<LogSource>> open_log_source(const LogPlace& place) {
  if (!place.store.empty()) {
    if (auto exists = check_exists(place.store); !exists) return tl::unexpected(exists.error());
    auto log = store::make_request_log(place.store);
    if (!log) return tl::unexpected(std::move(log.error()));
    return std::make_unique<StoreSource>(std::move(*log));
  }
  std::string url = place.url;
  while (url.ends_with('/')) url.pop_back();
  if (url.ends_with(kVersionPath)) url.resize(url.size() - kVersionPath.size());
  auto target = net::parse_url(url);
  if (!target) return tl::unexpected(std::move(target.error()));
  return std::make_unique<GatewaySource>(std::move(*target), place);
}

}  // namespace callgate::cli
