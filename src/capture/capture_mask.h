// What must not reach a capture file: credentials in headers, and the configured secrets wherever they occur, also
// where they were cut into pieces on the wire.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/capture_format.h"

namespace callgate::server {

inline constexpr std::string_view kMasked = "***";  // a header's value

// authorization, x-api-key, cookie, set-cookie, proxy-authorization and all names like them.
bool is_secret_header(std::string_view name);

// Writes stars over each secret in the texts, header values and bytes of the record, as it is or as JSON escapes it, and
// replaces the values of secret headers. Sizes stay what they were. A truncated capture does not end with a part of a
// secret either.
void mask_secrets(CaptureRecord& record, const std::vector<std::string>& secrets);

}  // namespace callgate::server
