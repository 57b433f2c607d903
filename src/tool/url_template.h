// UrlTemplate: a URL with arguments in it, such as `https://api.example.com/orders/{id}?lang={lang}`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "net/url.h"
#include "tool/arguments.h"

namespace callgate::tool {

// Bytes that are not unreserved characters of RFC 3986 become %XX.
void append_percent_encoded(std::string& out, std::string_view text);

class UrlTemplate {
 public:
  static Result<UrlTemplate> parse(std::string_view text);

  struct Place {
    net::Target target;  // without a path
    std::string path;    // with its query
  };
  // Fails when an argument is missing or would change the path's shape.
  Result<Place> expand(const std::vector<Argument>& arguments) const;

  bool uses(std::string_view argument) const;
  // The host depends on an argument.
  bool has_open_host() const { return open_host_; }

 private:
  struct Piece {
    std::string text;
    bool is_argument = false;
  };
  std::vector<Piece> pieces_;
  bool open_host_ = false;
};

}  // namespace callgate::tool
