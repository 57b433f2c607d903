#include "upstream/unread.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace callgate::upstream {
namespace {

// The first stand at the start of the line, the second are all of it, behind a status or not.
constexpr std::string_view kBeginnings[] = {"error",
                                            "err:",
                                            "exception",
                                            "traceback",
                                            "<html",
                                            "<!doctype",
                                            "upstream error",
                                            "upstream connect error",
                                            "no healthy upstream",
                                            "rate limit",
                                            "context deadline exceeded",
                                            "cuda error",
                                            "cuda out of memory",
                                            "out of memory"};
constexpr std::string_view kPhrases[] = {"internal server error",
                                         "bad gateway",
                                         "service unavailable",
                                         "service temporarily unavailable",
                                         "gateway timeout",
                                         "gateway time-out",
                                         "too many requests",
                                         "request timeout",
                                         "unauthorized",
                                         "forbidden",
                                         "upstream request timeout",
                                         "stream timeout",
                                         "timeout",
                                         "timed out",
                                         "request timed out",
                                         "connection reset by peer",
                                         "server error",
                                         "bad request",
                                         "not found",
                                         "overloaded"};
constexpr std::size_t kLongest = 64;  // of what is looked at

bool begins_with_word(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  const char next = text.size() > word.size() ? text[word.size()] : ' ';
  return next < 'a' || next > 'z';
}

// HTTP/1.1 502 Bad Gateway
std::string_view without_status(std::string_view line) {
  constexpr std::string_view kHttp = "http/1.1 ";
  if (line.starts_with(kHttp)) line.remove_prefix(kHttp.size());
  const bool status = line.size() > 4 && (line[0] == '4' || line[0] == '5') && line[3] == ' ' &&
                      line.substr(1, 2).find_first_not_of("0123456789") == std::string_view::npos;
  return status ? line.substr(4) : line;
}

}  // namespace

bool names_failure(std::string_view line) {
  constexpr std::string_view kAround = " \t[]()\"'*!.:";
  const std::size_t first = line.find_first_not_of(kAround);
  if (first == std::string_view::npos) return false;
  const std::string start = to_lower(line.substr(first, kLongest));
  const auto begins = [&](std::string_view word) { return begins_with_word(start, word); };
  if (std::any_of(std::begin(kBeginnings), std::end(kBeginnings), begins)) return true;
  std::string_view words = without_status(start);
  words = words.substr(0, words.find_last_not_of(kAround) + 1);
  return std::find(std::begin(kPhrases), std::end(kPhrases), words) != std::end(kPhrases);
}

}  // namespace callgate::upstream
