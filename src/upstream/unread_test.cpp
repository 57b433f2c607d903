#include "upstream/unread.h"

#include <gtest/gtest.h>

namespace callgate::upstream::unread_test {
namespace {

TEST(Unread, knows_the_words_of_a_failure) {
  for (const std::string_view line : {"Internal Server Error",
                                      "internal server error",
                                      "502 Bad Gateway",
                                      "503 Service Unavailable.",
                                      "HTTP/1.1 504 Gateway Time-out",
                                      "429 Too Many Requests",
                                      "[ERROR] overloaded",
                                      "ERROR",
                                      "Error: out of memory",
                                      "error in stream",
                                      "\"Overloaded\"",
                                      "Traceback (most recent call last)",
                                      "<html><body>x</body></html>",
                                      "<!DOCTYPE html>",
                                      "upstream error",
                                      "Exception",
                                      "no healthy upstream",
                                      "stream timeout",
                                      "upstream connect error or disconnect/reset before headers",
                                      "rate limit exceeded",
                                      "context deadline exceeded",
                                      "CUDA out of memory. Tried to allocate 2 GiB",
                                      "Timeout"}) {
    EXPECT_TRUE(names_failure(line)) << line;
  }
}

TEST(Unread, takes_other_words_for_noise) {
  for (const std::string_view line :
       {"", " ", "[]", "ping", "keep-alive", "errors: 0", "errorless", "no error", "OK", "200 OK",
        "503", "5xx Bad Gateway", "Bad Gateway to heaven", "<htmlx>", "service", "[1,2]",
        "timeout: 30", "upstream connected", "rate limits: 5"}) {
    EXPECT_FALSE(names_failure(line)) << line;
  }
}

}  // namespace
}  // namespace callgate::upstream::unread_test
