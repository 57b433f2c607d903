#include "base/masked_url.h"

#include <algorithm>

#include "base/text.h"

namespace callgate {
namespace {

constexpr std::string_view kMask = "***";

// Where a user name would begin: after `//`, else after `scheme:`.
std::size_t user_start(std::string_view url) {
  const std::size_t slashes = url.find("//");
  if (slashes != std::string_view::npos) return slashes + 2;
  const std::size_t colon = url.find(':');
  return colon == std::string_view::npos ? 0 : colon + 1;
}

bool names_a_secret(std::string_view name) {
  constexpr std::string_view kWords[] = {"key",  "token", "secret", "pass", "pwd",
                                         "auth", "sig",   "cred",   "code", "session"};
  const std::string lower = to_lower(name);
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// {argument} of a template is filled in later.
bool is_placeholder(std::string_view value) {
  return value.starts_with('{') && value.ends_with('}');
}

// Calls `found(text)` for each stretch that may be secret, in order.
template <class F>
void each_secret(std::string_view url, const F& found) {
  const std::size_t start = user_start(url);
  std::size_t question = std::min(url.find('?'), url.size());
  // A password may hold anything that should have been encoded: the last @ before the query ends it.
  const std::size_t at = url.substr(0, question).rfind('@');
  if (at != std::string_view::npos && at > start) found(url.substr(start, at - start));
  while (question < url.size()) {
    const std::size_t name = question + 1;
    const std::size_t end = std::min(url.find_first_of("&;#", name), url.size());
    const std::size_t equals = std::min(url.find('=', name), end);
    if (equals < end && equals + 1 < end) {
      const std::string_view value = url.substr(equals + 1, end - equals - 1);
      const bool shown = !names_a_secret(url.substr(name, equals - name)) || is_placeholder(value);
      if (!shown) found(value);
    }
    question = end;
  }
}

bool is_long_option(std::string_view argument) {
  return argument.size() > 2 && argument.starts_with("--") &&
         std::all_of(argument.begin() + 2, argument.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

}  // namespace

std::string masked_url(std::string_view url) {
  std::string out;
  std::size_t copied = 0;
  each_secret(url, [&](std::string_view secret) {
    const auto at = static_cast<std::size_t>(secret.data() - url.data());
    out.append(url.substr(copied, at - copied)).append(kMask);
    copied = at + secret.size();
  });
  return out.append(url.substr(copied));
}

std::vector<std::string> secrets_in_url(std::string_view url) {
  std::vector<std::string> secrets;
  each_secret(url, [&](std::string_view secret) {
    secrets.emplace_back(secret);
    const std::size_t colon = secret.find(':');
    if (colon != std::string_view::npos) secrets.emplace_back(secret.substr(colon + 1));
  });
  return secrets;
}

std::vector<std::string> masked_command(const std::vector<std::string>& command) {
  std::vector<std::string> shown;
  for (const std::string& argument : command) {
    const std::string_view option = std::string_view(argument).substr(0, argument.find('='));
    if (shown.empty()) {
      shown.push_back(argument);
    } else if (!is_long_option(option)) {
      shown.emplace_back(kMask);
    } else {
      shown.push_back(option.size() == argument.size() ? argument : std::string(option) + "=***");
    }
  }
  return shown;
}

}  // namespace callgate
