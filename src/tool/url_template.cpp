#include "tool/url_template.h"

#include <algorithm>

#include "base/masked_url.h"
#include "base/quoted.h"
#include "tool/url_path.h"

namespace callgate::tool {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

tl::unexpected<Error> bad(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_request,
              "url " + in_quotes(masked_url(text)) + ": " + std::string(why));
}

}  // namespace

void append_percent_encoded(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    if (is_unreserved(c)) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
}

Result<UrlTemplate> UrlTemplate::parse(std::string_view text) {
  UrlTemplate result;
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || text.substr(0, scheme).find('{') < scheme) {
    return bad(text, "expected http:// or https://");
  }
  const std::size_t authority_end = text.find_first_of("/?", scheme + 3);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find('{', at), text.size());
    if (open > at) result.pieces_.push_back({std::string(text.substr(at, open - at)), false});
    if (open == text.size()) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos || close == open + 1)
      return bad(text, "expected {argument}");
    result.pieces_.push_back({std::string(text.substr(open + 1, close - open - 1)), true});
    if (open < authority_end) result.open_host_ = true;
    at = close + 1;
  }
  std::vector<Argument> samples;
  for (const Piece& piece : result.pieces_) {
    if (piece.is_argument) samples.push_back({piece.text, "1"});
  }
  if (Result<Place> sample = result.expand(samples); !sample) return tl::unexpected(sample.error());
  return result;
}

bool UrlTemplate::uses(std::string_view argument) const {
  return std::any_of(pieces_.begin(), pieces_.end(), [argument](const Piece& piece) {
    return piece.is_argument && piece.text == argument;
  });
}

Result<UrlTemplate::Place> UrlTemplate::expand(const std::vector<Argument>& arguments) const {
  std::string url;
  for (const Piece& piece : pieces_) {
    if (!piece.is_argument) {
      url.append(piece.text);
      continue;
    }
    const Argument* argument = find_argument(arguments, piece.text);
    const std::string text = argument == nullptr || argument->json == "null"
                                 ? std::string()
                                 : to_plain_text(argument->json);
    if (text.empty()) {
      return fail(ErrorCode::invalid_request,
                  piece.text + ": missing or empty, but the URL needs it", piece.text);
    }
    append_percent_encoded(url, text);
  }
  const std::size_t path_start = url.find_first_of("/?", url.find("://") + 3);
  Result<net::Target> target = net::parse_url(url.substr(0, path_start));
  if (!target) return tl::unexpected(target.error());
  Place place{.target = std::move(*target), .path = "/"};
  if (path_start != std::string::npos) {
    place.path = (url[path_start] == '?' ? "/" : "") + url.substr(path_start);
  }
  const auto forbidden = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '#';
  };
  if (std::any_of(place.path.begin(), place.path.end(), forbidden)) {
    return bad(url, "expected no space and no fragment");
  }
  // Servers resolve such segments: the request would go to a place that the template does not name.
  if (has_dot_segment(std::string_view(place.path).substr(0, place.path.find('?')))) {
    return fail(ErrorCode::invalid_request,
                "an argument has a segment \".\" or \"..\", which URLs may not hold");
  }
  return place;
}

}  // namespace callgate::tool
