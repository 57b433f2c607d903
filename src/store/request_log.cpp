#include "store/request_log.h"

#include "base/masked_url.h"
#include "base/quoted.h"
#include "store/log/stored_request_log.h"
#include "store/postgres.h"

namespace callgate::store {

std::string masked_url(std::string_view url) {
  return is_postgres_url(url) ? shown_postgres_url(url) : callgate::masked_url(url);
}

Result<void> check_url(std::string_view url) {
  constexpr std::string_view kSqlite = "sqlite:";
  const bool is_sqlite = url.starts_with(kSqlite) && url.size() > kSqlite.size();
  if (url == "none" || is_sqlite || is_postgres_url(url)) return {};
  return fail(ErrorCode::invalid_request,
              "store.url: " + in_quotes(callgate::masked_url(url)) +
                  ", expected sqlite:PATH, sqlite::memory:, postgresql://HOST/DATABASE or none",
              "store.url");
}

Result<std::unique_ptr<RequestLog>> make_request_log(std::string_view url,
                                                     RequestLogOptions options) {
  if (auto known = check_url(url); !known) return tl::unexpected(known.error());
  if (url == "none") return std::make_unique<NullRequestLog>();
  auto log = StoredRequestLog::open(std::string(url), std::move(options));
  if (!log) return tl::unexpected(log.error());
  return std::move(*log);
}

}  // namespace callgate::store
