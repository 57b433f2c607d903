#include "cli/gateway_client.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <utility>

#include "callgate/version.h"
#include "json/member.h"
#include "json/reader.h"
#include "net/client.h"
#include "net/loop.h"

namespace callgate::cli {
namespace {

constexpr std::size_t kLongestAnswer = std::size_t{256} << 20;
constexpr std::string_view kApiVersion = "/v1";

// {"error":{"message":"..."}}
std::string refusal_of(int status, std::string_view body) {
  json::Reader whole(body);
  whole.skip();
  std::string message;
  if (whole.finish()) message = json::member_text(json::member_json(body, "error"), "message");
  if (message.empty()) message = "this is not the answer of a gateway";
  return message + " (status " + std::to_string(status) + ")";
}

class HttpGatewayClient final : public GatewayClient {
 public:
  HttpGatewayClient(net::Target target, const GatewayPlace& place, std::string_view command)
      : target_(std::move(target)),
        key_(place.key),
        agent_("callgate-" + std::string(command) + "/" + std::string(kVersion)),
        client_(loop_, {.insecure = place.insecure}) {
    loop_.set_fault_log([this](std::string_view what) {
      answer_ = fail(ErrorCode::internal, std::string(what));
      loop_.stop();
    });
  }

  Result<std::string> ask(std::string_view method, std::string_view path,
                          std::string_view body) override {
    net::ClientRequest request{.method = method, .path = path, .headers = {}, .body = body};
    request.headers.add("user-agent", agent_);
    if (!body.empty()) request.headers.add("content-type", "application/json");
    if (!key_.empty()) {
      request.headers.add("authorization", "Bearer " + std::string(key_.reveal()));
    }
    answer_ = fail(ErrorCode::internal, "the gateway was not asked");
    loop_.spawn(drive(request));
    loop_.run();
    return std::move(answer_);
  }

 private:
  net::Task<> drive(const net::ClientRequest& request) {
    answer_ = co_await exchange(request);
    loop_.stop();
  }

  net::Task<Result<std::string>> exchange(const net::ClientRequest& request) {
    net::ClientExchange exchange(client_, target_);
    Result<void> sent = co_await exchange.send(request);
    if (!sent) co_return tl::unexpected(std::move(sent.error()));
    Result<std::string> body = co_await exchange.read_all(kLongestAnswer);
    if (!body || exchange.status() / 100 == 2) co_return body;
    Error refused{.code = ErrorCode::invalid_request,
                  .message = refusal_of(exchange.status(), *body),
                  .status = exchange.status()};
    co_return tl::unexpected(std::move(refused));
  }

  const net::Target target_;
  const Secret key_;
  const std::string agent_;
  net::Loop loop_;
  net::HttpClient client_;
  Result<std::string> answer_;
};

}  // namespace

Result<std::unique_ptr<GatewayClient>> GatewayClient::open(const GatewayPlace& place,
                                                           std::string_view command) {
  std::string url = place.url;
  while (url.ends_with('/')) url.pop_back();
  if (url.ends_with(kApiVersion)) url.resize(url.size() - kApiVersion.size());
  auto target = net::parse_url(url);
  if (!target) return tl::unexpected(std::move(target.error()));
  return std::make_unique<HttpGatewayClient>(std::move(*target), place, command);
}

GatewayPlace GatewayArguments::where() const {
  GatewayPlace made = place;
  made.key = Secret(key);
  return made;
}

void add_gateway_options(CLI::App& command, GatewayArguments& arguments) {
  command.add_option("--url", arguments.place.url, "the gateway")
      ->envname("CALLGATE_URL")
      ->capture_default_str();
  command.add_option("--key", arguments.key, "a key with admin = true, never printed")
      ->envname("CALLGATE_KEY");
  command.add_flag("--insecure", arguments.place.insecure, "accept any certificate");
  command.add_flag("--json", arguments.as_json, "for machines: what the API answers");
}

int report_refusal(std::string_view command, const Error& error) {
  std::cerr << "callgate " << command << ": " << error.message << '\n';
  if (error.status == 401 || error.status == 403) {
    std::cerr << "Give a key with admin = true: --key KEY, or CALLGATE_KEY.\n";
  } else if (error.message.find("connect") != std::string::npos) {
    std::cerr << "Start the gateway, or correct --url.\n";
  }
  return 1;
}

}  // namespace callgate::cli
