#include "capture/capture_mask.h"

#include <algorithm>

#include "base/text.h"
#include "capture/secret_mask.h"

namespace callgate::server {
namespace {

void mask_bytes(CaptureRecord& record, Direction direction, const SecretMask& mask) {
  const auto is_ours = [&](const CaptureLine& line) {
    return line.direction == direction && line.kind == CaptureLine::Kind::bytes;
  };
  std::string joined;
  for (const CaptureLine& line : record.lines) {
    if (is_ours(line)) joined += line.bytes;
  }
  if (!mask.apply(joined, record.truncated)) return;
  std::size_t at = 0;
  for (CaptureLine& line : record.lines) {
    if (!is_ours(line)) continue;
    line.bytes = joined.substr(at, line.bytes.size());
    at += line.bytes.size();
  }
}

void mask_head(CapturedHead& head, const SecretMask& mask) {
  mask.apply(head.path);
  for (auto& [name, value] : head.headers) {
    if (is_secret_header(name)) {
      value = kMasked;
    } else {
      mask.apply(value);
    }
  }
}

}  // namespace

bool is_secret_header(std::string_view name) {
  constexpr std::string_view kParts[] = {"auth",   "key",      "cookie",    "secret",
                                         "passwo", "credenti", "signature", "token"};
  const std::string lower = to_lower(name);
  // Counts of tokens are no token: x-ratelimit-remaining-tokens.
  if (lower.starts_with("x-ratelimit-") || lower == "access-control-allow-headers") return false;
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

void mask_secrets(CaptureRecord& record, const std::vector<std::string>& secrets) {
  const SecretMask mask(secrets);
  mask.apply(record.request_id);
  for (CaptureLine& line : record.lines) {
    mask_head(line.head, mask);
    mask.apply(line.error.message);
    mask.apply(line.error.param);
    mask.apply(line.error.type);
    mask.apply(line.error.upstream_code);
  }
  for (CapturedRound& round : record.rounds) mask.apply(round.request);
  using enum Direction;
  for (const Direction direction : {client_in, upstream_out, upstream_in, client_out}) {
    mask_bytes(record, direction, mask);
  }
}

}  // namespace callgate::server
