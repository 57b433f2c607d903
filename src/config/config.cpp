#include "config/config.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "config/config_text.h"
#include "net/ip_literal.h"

namespace callgate::server {
namespace {

tl::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::invalid_request, std::move(message));
}

}  // namespace

const UpstreamConfig* Config::find_upstream(std::string_view name) const {
  const auto found = std::find_if(upstreams.begin(), upstreams.end(),
                                  [&](const UpstreamConfig& u) { return u.name == name; });
  return found == upstreams.end() ? nullptr : &*found;
}

const ModelConfig* Config::find_model(std::string_view name) const {
  const auto found = std::find_if(models.begin(), models.end(),
                                  [&](const ModelConfig& m) { return m.name == name; });
  return found == models.end() ? nullptr : &*found;
}

Result<PolicyOptions> to_policy(const ModelConfig& model) {
  struct Word {
    std::string_view key;
    std::string_view value;
    std::string_view expected;
  };
  const Word words[] = {
      {"stop_after_tools", model.stop_after_tools, "off, first or burst"},
      {"undeclared_tools", model.undeclared_tools, "pass, text or drop_with_note"},
      {"invalid_arguments", model.invalid_arguments, "pass, repair or raw"},
      {"reasoning", model.reasoning, "reasoning_content, reasoning, think_tags or hide"},
      {"call_id_style", model.call_id_style, "native or random"},
      {"output", model.output, "tool_calls, json, xml or xml_only"},
      {"error_after_tools", model.error_after_tools, "report or tool_calls"},
      {"split", model.split, "none or sentences"},
      {"call_delimiter", model.call_delimiter, "a text"},
  };
  PolicyOptions options;
  for (const Word& word : words) {
    if (set_policy(options, word.key, word.value)) continue;
    return wrong(std::string(word.key) + " must be " + std::string(word.expected));
  }
  for (const auto& [client, output] : model.output_by_client) {
    PolicyOptions judged;
    if (set_policy(judged, "output", output)) continue;
    return wrong("output_by_client must be tool_calls, json, xml or xml_only for \"" + client +
                 "\"");
  }
  options.suppress_tail_after_tools = model.suppress_tail_after_tools;
  options.tool_call_max = static_cast<std::uint32_t>(
      std::min<std::int64_t>(model.tool_call_max, std::numeric_limits<std::uint32_t>::max()));
  options.call_whitespace = model.call_whitespace;
  options.dedupe_calls = model.dedupe_calls;
  options.estimate_usage = model.estimate_usage;
  options.trailing_counters = model.trailing_counters;
  options.split_min_characters = static_cast<std::uint32_t>(std::min<std::int64_t>(
      model.split_min_characters, std::numeric_limits<std::uint32_t>::max()));
  constexpr std::uint64_t kUnlimitedPiece = 64 << 10;
  constexpr std::uint64_t kLargestPiece = 1 << 20;
  std::uint64_t piece = model.reasoning_coalesce_bytes.count;
  if (piece == 0 && model.reasoning_coalesce.count() > 0) piece = kUnlimitedPiece;
  options.reasoning_coalesce_bytes = static_cast<std::uint32_t>(std::min(piece, kLargestPiece));
  return options;
}

std::vector<PoolPlace> places_of(const ModelConfig& model) {
  if (!model.pool.empty()) return model.pool;
  std::vector<PoolPlace> places;
  for (const std::string& name : model.upstream) {
    places.push_back({.upstream = name, .priority = static_cast<std::int64_t>(places.size())});
  }
  return places;
}

std::vector<std::string> deprecations(const Config& config) {
  std::vector<std::string> notices;
  if (config.store.overflow == "block") {
    notices.emplace_back(
        "store.overflow = \"block\" is deprecated and means \"shed\": no request waits for the "
        "store");
  }
  if (config.store.block_for.count() != 0) {
    notices.emplace_back(
        "store.block_for is deprecated and has no effect: no request waits for the store");
  }
  return notices;
}

bool ListenAddress::is_loopback() const {
  return !unix_path.empty() || host.starts_with("127.") || host == "::1" || host == "localhost";
}

Result<ListenAddress> parse_listen(std::string_view text) {
  ListenAddress address;
  if (text.starts_with("unix:")) {
    address.unix_path = text.substr(5);
    if (address.unix_path.empty()) return wrong("listen \"unix:\": expected a path");
    return address;
  }
  const std::size_t colon = text.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const auto [end, fault] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || fault != std::errc() || end != port.data() + port.size()) {
    return wrong("listen \"" + std::string(text) + "\": expected host:port or unix:/path");
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  address.host = host.empty() ? "0.0.0.0" : std::string(host);
  return address;
}

// An address that other machines can use as it is, without a certificate that may not name it.
std::string room_address(const Config& config) {
  const bool shared = config.store.url.starts_with("postgres");
  if (!shared || config.rooms.advertise == "off") return {};
  if (!config.rooms.advertise.empty()) return config.rooms.advertise;
  if (!config.tls.cert.empty()) return {};
  for (const std::string& text : config.listen) {
    const auto address = parse_listen(text);
    if (!address || address->is_loopback() || address->port == 0) continue;
    const auto ip = net::parse_ip(address->host);
    if (!ip || address->host == "0.0.0.0" || address->host == "::") continue;
    return "http://" + text;
  }
  return {};
}

bool listens_on_loopback_only(const Config& config) {
  return std::all_of(config.listen.begin(), config.listen.end(), [](const std::string& text) {
    const auto address = parse_listen(text);
    return address && address->is_loopback();
  });
}

}  // namespace callgate::server
