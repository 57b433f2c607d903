// Asks the admin API of a running gateway, for the commands.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/secret.h"
#include "callgate/result.h"

namespace CLI {
class App;
}

namespace callgate::cli {

struct GatewayPlace {
  std::string url = "http://127.0.0.1:8080";  // with or without /v1
  Secret key;
  bool insecure = false;
};

class GatewayClient {
 public:
  // `command` is the word that names it in the gateway's log.
  static Result<std::unique_ptr<GatewayClient>> open(const GatewayPlace& place,
                                                     std::string_view command);
  virtual ~GatewayClient() = default;
  // The body of a 2xx answer. Errors are the gateway's own words, with its status.
  virtual Result<std::string> ask(std::string_view method, std::string_view path,
                                  std::string_view body) = 0;
  Result<std::string> get(std::string_view path) { return ask("GET", path, {}); }
  Result<std::string> post(std::string_view path, std::string_view body) {
    return ask("POST", path, body);
  }
};

// The options that say where the gateway is. `key` becomes the place's when the command runs.
struct GatewayArguments {
  GatewayPlace place;
  std::string key;
  bool as_json = false;
  GatewayPlace where() const;
};
void add_gateway_options(CLI::App& command, GatewayArguments& arguments);
// Prints the error and what to do about it. The exit code.
int report_refusal(std::string_view command, const Error& error);

}  // namespace callgate::cli
