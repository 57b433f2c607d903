// What must not reach a capture file: credentials in headers, and the configured secrets wherever they occur, also
// where they were cut into pieces on the wire.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/capture_format.h"
#include "server/config.h"

namespace callgate::server {

inline constexpr std::string_view kMasked = "***";  // a header's value

// The secrets of keys and upstreams, and what is long enough to be one in extra headers, of upstreams and of telemetry.
std::vector<std::string> secrets_of(const Config& config);

// A credential that a client sent but nobody configured counts as a secret when it is long enough to be one.
bool is_long_enough_for_a_secret(std::string_view text);

// authorization, x-api-key, cookie, set-cookie, proxy-authorization and all names like them.
bool is_secret_header(std::string_view name);

// Writes stars over each secret in the texts, header values and bytes of the record, as it is or as JSON escapes it, and
// replaces the values of secret headers. Sizes stay what they were. A truncated capture does not end with a part of a
// secret either.
void mask_secrets(CaptureRecord& record, const std::vector<std::string>& secrets);

}  // namespace callgate::server
