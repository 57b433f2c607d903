#include "access/page_rules.h"

#include <algorithm>
#include <string>

#include "access/access.h"
#include "base/glob.h"
#include "base/quoted.h"
#include "base/text.h"
#include "net/ip_literal.h"

namespace callgate::server {
namespace {

// Without the port and the brackets of IPv6: `[::1]:8080` -> `::1`
std::string_view name_of(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t close = host.find(']');
    return close == std::string_view::npos ? host : host.substr(1, close - 1);
  }
  return host.substr(0, host.find(':'));
}

enum class HostKind { name, address, loopback };

HostKind kind_of_host(std::string_view name) {
  if (const auto address = net::parse_ip(name)) {
    return net::is_loopback(*address) ? HostKind::loopback : HostKind::address;
  }
  std::string lower = to_lower(name);
  if (lower.ends_with('.')) lower.pop_back();
  const bool local = lower == "localhost" || lower.ends_with(".localhost");
  return local ? HostKind::loopback : HostKind::name;
}

// A gateway that listens on every address of the machine answers to each of them. An address cannot be pointed elsewhere.
bool is_listened_on(std::string_view name, HostKind kind, const Config& config) {
  return std::any_of(config.listen.begin(), config.listen.end(), [&](const std::string& text) {
    const auto address = parse_listen(text);
    if (!address || !address->unix_path.empty()) return false;
    if (net::equals_ignoring_case(address->host, name)) return true;
    const bool every = address->host == "0.0.0.0" || address->host == "::";
    return every && kind == HostKind::address;
  });
}

// `http://name:8080/path` as a request target names the host as well.
std::string_view host_of_target(std::string_view target) {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return {};
  const std::string_view rest = target.substr(scheme + 3);
  return rest.substr(0, rest.find_first_of("/?"));
}

std::string_view without_port(std::string_view host, std::string_view port) {
  if (host.ends_with(port)) host.remove_suffix(port.size());
  return host;
}

bool is_from_browser(const net::Headers& headers) {
  return headers.find("origin") || headers.find("sec-fetch-site") || headers.find("sec-fetch-mode");
}

bool may_call(std::string_view origin, std::string_view host, bool secure, const Config& config) {
  return is_same_origin(origin, host, secure) ||
         !allowed_origin(origin, config.cors.origins, listens_on_loopback_only(config)).empty();
}

Error foreign_page(std::string_view origin) {
  return {.code = ErrorCode::forbidden,
          .message = "pages of " + (origin.empty() ? "another site" : in_quotes(origin)) +
                     " may not call this gateway; cors.origins lists the origins that may"};
}

Error foreign_host(std::string_view host) {
  return {.code = ErrorCode::forbidden,
          .message =
              "a gateway without keys answers to the names and addresses of its own machine; "
              "add " +
              in_quotes(name_of(host)) + " to `hosts` if it is one, or configure a [[key]]"};
}

}  // namespace

bool is_same_origin(std::string_view origin, std::string_view host, bool secure) {
  const std::string_view scheme = secure ? "https://" : "http://";
  const std::string_view port = secure ? ":443" : ":80";
  if (host.empty() || origin.size() < scheme.size()) return false;
  if (!net::equals_ignoring_case(origin.substr(0, scheme.size()), scheme)) return false;
  return net::equals_ignoring_case(without_port(origin.substr(scheme.size()), port),
                                   without_port(host, port));
}

bool is_own_host(std::string_view host, const Config& config) {
  const std::string_view name = name_of(host);
  const HostKind kind = kind_of_host(name);
  if (kind == HostKind::loopback) return true;
  const bool listed =
      std::any_of(config.hosts.begin(), config.hosts.end(), [&](const std::string& pattern) {
        return glob_matches(pattern, name, Case::ignored) ||
               glob_matches(pattern, host, Case::ignored);
      });
  return listed || is_listened_on(name, kind, config);
}

std::optional<Error> check_page(const net::RequestHead& head, Arrival arrival,
                                const Config& config) {
  const auto host = head.headers.find("host");
  const std::string_view target_host = host_of_target(head.target);
  if (config.is_open() && !arrival.local) {
    // A browser always names a host; HTTP/1.0 need not.
    if (host && !is_own_host(*host, config)) return foreign_host(*host);
    if (!target_host.empty() && !is_own_host(target_host, config)) return foreign_host(target_host);
  }
  for (const net::Header header : head.headers) {
    if (!net::equals_ignoring_case(header.name, "origin")) continue;
    if (!may_call(header.value, host.value_or(""), arrival.secure, config)) {
      return foreign_page(header.value);
    }
  }
  // What a page merely embeds has no origin, but its browser says where it comes from.
  const bool foreign = head.headers.find("sec-fetch-site").value_or("") == "cross-site";
  const bool any = std::find(config.cors.origins.begin(), config.cors.origins.end(), "*") !=
                   config.cors.origins.end();
  if (foreign && !any && !head.headers.find("origin")) return foreign_page({});
  return std::nullopt;
}

bool is_json_type(std::string_view content_type) {
  constexpr std::string_view kSuffix = "+json";
  const std::string_view type = trimmed(content_type.substr(0, content_type.find(';')));
  return net::equals_ignoring_case(type, "application/json") ||
         (type.size() >= kSuffix.size() &&
          net::equals_ignoring_case(type.substr(type.size() - kSuffix.size()), kSuffix));
}

std::optional<Error> check_content_type(const net::RequestHead& head) {
  const bool has_body = head.chunked || head.content_length.value_or(0) > 0;
  if (!has_body) return std::nullopt;
  const std::string_view type = head.headers.find("content-type").value_or("");
  if (is_json_type(type) && head.headers.count("content-type") == 1) return std::nullopt;
  const bool unsaid = type.empty() || to_lower(type.substr(0, type.find(';'))) ==
                                          "application/x-www-form-urlencoded";
  if (unsaid && !is_from_browser(head.headers)) return std::nullopt;
  return Error{.code = ErrorCode::invalid_request,
               .message = "content-type: " + (type.empty() ? "missing" : in_quotes(type)) +
                          ", expected application/json",
               .upstream_code = "unsupported_media_type"};
}

}  // namespace callgate::server
