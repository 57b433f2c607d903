#include "base/url_query.h"

#include <algorithm>

namespace callgate {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '%' && i + 2 < text.size() && digit_of(text[i + 1]) >= 0 &&
                         digit_of(text[i + 2]) >= 0;
    if (escaped) {
      out.push_back(static_cast<char>(digit_of(text[i + 1]) * 16 + digit_of(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_plain(c)) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return out;
}

std::vector<UrlParameter> read_url_query(std::string_view query) {
  std::vector<UrlParameter> parameters;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::string value(pair.substr(std::min(equals + 1, pair.size())));
    std::replace(value.begin(), value.end(), '+', ' ');
    parameters.push_back({percent_decoded(pair.substr(0, equals)), percent_decoded(value)});
  }
  return parameters;
}

}  // namespace callgate
