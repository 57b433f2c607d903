// Which paths a server, or a proxy before it, could resolve to another place than they name.
//
//   /orders/..%2Fadmin        nginx serves /admin
//   /orders/%252e%252e/admin  so does a proxy that decodes twice
#pragma once

#include <string_view>

namespace callgate::tool {

// True when a segment of `path` is `.` or `..` in any spelling that some server reads as such: percent-encoded any number
// of times, between slashes or backslashes, before a parameter (`..;x`), a zero byte or blanks, as an overlong or half UTF-8
// sequence, as `%uXXXX`, or with characters that Unicode calls compatible. `path` has no query. Linear in its length.
bool has_dot_segment(std::string_view path);

}  // namespace callgate::tool
