// The part of a URL behind the question mark: `model=a%2Fb&text=two+words`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace callgate {

struct UrlParameter {
  std::string name;
  std::string value;  // decoded
};

// In the order given. A name without `=` has an empty value.
std::vector<UrlParameter> read_url_query(std::string_view query);

// %2F and friends; what is no such escape stays as it is.
std::string percent_decoded(std::string_view text);
// The inverse, for one value.
std::string percent_encoded(std::string_view text);

}  // namespace callgate
