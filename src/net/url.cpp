#include "net/url.h"

#include <charconv>
#include <optional>

#include "base/masked_url.h"
#include "base/quoted.h"

namespace callgate::net {

namespace {

constexpr std::string_view kUnix = "unix:";

tl::unexpected<Error> bad(std::string_view text, std::string_view expected) {
  return fail(ErrorCode::invalid_request,
              in_quotes(masked_url(text)) + ": expected " + std::string(expected));
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return port;
}

bool is_host(std::string_view host) {
  for (const char c : host) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '-' || c == '_' || c == ':' || c == '%';
    if (!fine) return false;
  }
  return !host.empty();
}

struct Authority {
  std::string_view host;
  std::optional<std::string_view> port;
};

// `host`, `host:port`, `[::1]`, `[::1]:port`.
std::optional<Authority> split_authority(std::string_view text) {
  Authority result;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    result.host = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    if (!text.empty() && text.front() != ':') return std::nullopt;
    if (!text.empty()) result.port = text.substr(1);
  } else {
    const std::size_t colon = text.find(':');
    result.host = text.substr(0, colon);
    if (result.host.find('%') != std::string_view::npos) return std::nullopt;
    if (colon != std::string_view::npos) result.port = text.substr(colon + 1);
  }
  if (!is_host(result.host)) return std::nullopt;
  return result;
}

std::string host_and_port(const std::string& host, std::uint16_t port) {
  const bool bracketed = host.find(':') != std::string::npos;
  return (bracketed ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view text) {
  constexpr std::string_view kExpected = "host:port, [v6]:port or unix:/path";
  if (text.starts_with(kUnix)) {
    // The longest path that the kernel's address structure holds.
    if (text.size() == kUnix.size() || text.size() - kUnix.size() > 107)
      return bad(text, kExpected);
    return Endpoint{.unix_path = std::string(text.substr(kUnix.size()))};
  }
  const std::optional<Authority> authority = split_authority(text);
  if (!authority || !authority->port) return bad(text, kExpected);
  const std::optional<std::uint16_t> port = parse_port(*authority->port);
  if (!port) return bad(text, "a port from 0 to 65535");
  return Endpoint{.host = std::string(authority->host), .port = *port};
}

std::string to_text(const Endpoint& endpoint) {
  if (!endpoint.unix_path.empty()) return std::string(kUnix) + endpoint.unix_path;
  return host_and_port(endpoint.host, endpoint.port);
}

Result<Target> parse_url(std::string_view text) {
  Target target;
  std::string_view rest = text;
  if (text.starts_with(kUnix)) {
    Result<Endpoint> endpoint = parse_endpoint(text);
    if (!endpoint) return tl::unexpected(endpoint.error());
    target.unix_path = std::move(endpoint->unix_path);
    target.host = "localhost";
    return target;
  }
  if (text.starts_with("https://")) {
    target.tls = true;
    target.port = 443;
    rest.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return bad(text, "a URL that begins with http://, https:// or unix:");
  }
  for (const char c : rest) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '?' || c == '#' || c == '@') {
      // The text is not repeated: it may hold a password.
      return fail(ErrorCode::invalid_request,
                  "URL: expected no user name, query, fragment or space");
    }
  }
  const std::size_t slash = rest.find('/');
  const std::optional<Authority> authority = split_authority(rest.substr(0, slash));
  if (!authority) return bad(text, "a host name or address");
  target.host = authority->host;
  if (authority->port) {
    const std::optional<std::uint16_t> port = parse_port(*authority->port);
    if (!port || *port == 0) return bad(text, "a port from 1 to 65535");
    target.port = *port;
  }
  if (slash != std::string_view::npos) target.path_prefix = rest.substr(slash);
  while (target.path_prefix.ends_with('/')) target.path_prefix.pop_back();
  return target;
}

std::string to_text(const Target& target) {
  if (!target.unix_path.empty()) return std::string(kUnix) + target.unix_path;
  return host_and_port(target.host, target.port);
}

}  // namespace callgate::net
