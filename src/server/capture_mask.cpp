#include "server/capture_mask.h"

#include <algorithm>

#include "json/writer.h"

namespace callgate::server {
namespace {

constexpr std::size_t kShortestGuess = 8;
constexpr std::size_t kShortestRest = 4;  // of a secret that the truncation cut

struct Span {
  std::size_t begin;
  std::size_t size;
};

// As it is, as JSON writers escape it, and as those do that escape slashes, too.
std::vector<std::string> spellings_of(const std::vector<std::string>& secrets) {
  std::vector<std::string> all;
  for (const std::string& secret : secrets) {
    if (secret.empty()) continue;
    std::string escaped;
    json::append_escaped(escaped, secret);
    std::string slashed;
    for (const char c : escaped) slashed.append(c == '/' ? "\\/" : std::string(1, c));
    all.push_back(secret);
    all.push_back(std::move(escaped));
    all.push_back(std::move(slashed));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Writes stars over the secrets in `text`. True: there were some.
bool mask_text(std::string& text, const std::vector<std::string>& spellings,
               bool end_is_cut = false) {
  std::vector<Span> found;
  for (const std::string& secret : spellings) {
    for (std::size_t at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + 1)) {
      found.push_back({at, secret.size()});
    }
    for (std::size_t rest = std::min(secret.size() - 1, text.size());
         end_is_cut && rest >= kShortestRest; --rest) {
      if (!text.ends_with(std::string_view(secret).substr(0, rest))) continue;
      found.push_back({text.size() - rest, rest});
      break;
    }
  }
  // Only now, since secrets may overlap.
  for (const Span& span : found) text.replace(span.begin, span.size, span.size, '*');
  return !found.empty();
}

void mask_bytes(CaptureRecord& record, Direction direction,
                const std::vector<std::string>& spellings) {
  const auto is_ours = [&](const CaptureLine& line) {
    return line.direction == direction && line.kind == CaptureLine::Kind::bytes;
  };
  std::string joined;
  for (const CaptureLine& line : record.lines) {
    if (is_ours(line)) joined += line.bytes;
  }
  if (!mask_text(joined, spellings, record.truncated)) return;
  std::size_t at = 0;
  for (CaptureLine& line : record.lines) {
    if (!is_ours(line)) continue;
    line.bytes = joined.substr(at, line.bytes.size());
    at += line.bytes.size();
  }
}

void mask_head(CapturedHead& head, const std::vector<std::string>& spellings) {
  mask_text(head.path, spellings);
  for (auto& [name, value] : head.headers) {
    if (is_secret_header(name)) {
      value = kMasked;
    } else {
      mask_text(value, spellings);
    }
  }
}

}  // namespace

bool is_long_enough_for_a_secret(std::string_view text) { return text.size() >= kShortestGuess; }

std::vector<std::string> secrets_of(const Config& config) {
  std::vector<std::string> secrets;
  // The last word of a value is the credential itself: `Bearer abc`.
  const auto add_values = [&](const std::vector<std::pair<std::string, std::string>>& headers) {
    for (const auto& [name, value] : headers) {
      const std::string credential = value.substr(value.rfind(' ') + 1);
      if (is_long_enough_for_a_secret(credential)) secrets.push_back(credential);
    }
  };
  for (const KeyConfig& key : config.keys) secrets.push_back(key.secret.reveal());
  for (const UpstreamConfig& upstream : config.upstreams) {
    if (!upstream.key.empty()) secrets.push_back(upstream.key.reveal());
    add_values(upstream.headers);
  }
  add_values(config.otlp.headers);
  return secrets;
}

bool is_secret_header(std::string_view name) {
  constexpr std::string_view kParts[] = {"auth",   "key",      "cookie",    "secret",
                                         "passwo", "credenti", "signature", "token"};
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  // Counts of tokens are no token: x-ratelimit-remaining-tokens.
  if (lower.starts_with("x-ratelimit-") || lower == "access-control-allow-headers") return false;
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

void mask_secrets(CaptureRecord& record, const std::vector<std::string>& secrets) {
  const std::vector<std::string> spellings = spellings_of(secrets);
  mask_text(record.request_id, spellings);
  for (CaptureLine& line : record.lines) {
    mask_head(line.head, spellings);
    mask_text(line.error.message, spellings);
    mask_text(line.error.param, spellings);
    mask_text(line.error.type, spellings);
    mask_text(line.error.upstream_code, spellings);
  }
  using enum Direction;
  for (const Direction direction : {client_in, upstream_out, upstream_in, client_out}) {
    mask_bytes(record, direction, spellings);
  }
}

}  // namespace callgate::server
