#include "cli/log_source.h"

#include <chrono>
#include <filesystem>
#include <utility>

#include "admin/log_query.h"
#include "cli/gateway_client.h"
#include "store/request_log.h"

namespace callgate::cli {
namespace {

class GatewaySource final : public LogSource {
 public:
  explicit GatewaySource(std::unique_ptr<GatewayClient> client) : client_(std::move(client)) {}

  Result<std::string> ask(const std::string& path, const std::string& query) override {
    return client_->get(query.empty() ? path : path + "?" + query);
  }
  Result<std::string> resolve(const std::string& path, const std::string& body) override {
    return client_->post(path, body);
  }

 private:
  std::unique_ptr<GatewayClient> client_;
};

class StoreSource final : public LogSource {
 public:
  explicit StoreSource(std::unique_ptr<store::RequestLog> log) : log_(std::move(log)) {}

  Result<std::string> ask(const std::string& path, const std::string& query) override {
    return server::answer_log_query(*log_, {.path = path, .query = query, .now_ms = now_ms()});
  }
  Result<std::string> resolve(const std::string& path, const std::string& body) override {
    return server::resolve_request(*log_, {.path = path, .query = {}, .now_ms = now_ms()}, body);
  }

 private:
  static std::int64_t now_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }

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
  auto client =
      GatewayClient::open({.url = place.url, .key = place.key, .insecure = place.insecure}, "log");
  if (!client) return tl::unexpected(std::move(client.error()));
  return std::make_unique<GatewaySource>(std::move(*client));
}

}  // namespace callgate::cli
