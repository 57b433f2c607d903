// Where `callgate log` reads: the admin API of a running gateway, or a store of its own.
#pragma once

#include <memory>
#include <string>

#include "base/secret.h"
#include "callgate/result.h"

namespace callgate::cli {

struct LogPlace {
  std::string url = "http://127.0.0.1:8080";  // of the gateway, with or without /v1
  Secret key;
  std::string store;  // such as sqlite:callgate.db; not empty: it is asked instead
  bool insecure = false;
};

class LogSource {
 public:
  virtual ~LogSource() = default;
  // The JSON that answers `/v1/requests?limit=5`. Errors are the gateway's own words.
  virtual Result<std::string> ask(const std::string& path, const std::string& query) = 0;
  // The JSON that answers a POST of `body` to `/v1/requests/ID`.
  virtual Result<std::string> resolve(const std::string& path, const std::string& body) = 0;
};

Result<std::unique_ptr<LogSource>> open_log_source(const LogPlace& place);

}  // namespace callgate::cli
