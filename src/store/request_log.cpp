#include "store/request_log.h"

#include "store/postgres.h"
#include "store/stored_request_log.h"

namespace callgate::store {

std::string masked_url(std::string_view url) {
  return is_postgres_url(url) ? shown_postgres_url(url) : std::string(url);
}

Result<std::unique_ptr<RequestLog>> make_request_log(std::string_view url,
                                                     RequestLogOptions options) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (url == "none") return std::make_unique<NullRequestLog>();
  if ((url.starts_with(kSqlite) && url.size() > kSqlite.size()) || is_postgres_url(url)) {
    auto log = StoredRequestLog::open(std::string(url), std::move(options));
    if (!log) return tl::unexpected(log.error());
    return std::move(*log);
  }
  // The URL may hold a password: only its scheme is shown.
  const std::string_view scheme = url.substr(0, url.find(':'));
  return fail(ErrorCode::invalid_request,
              "store.url: \"" + std::string(scheme) +
                  "\", expected sqlite:PATH, sqlite::memory:, postgresql://HOST/DATABASE or none",
              "store.url");
}

}  // namespace callgate::store
