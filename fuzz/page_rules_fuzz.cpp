// Heads of requests through the rules for pages: nothing crashes, and no name but loopback's is let in without keys.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "access/page_rules.h"
#include "base/check.h"
#include "base/masked_url.h"
#include "net/request_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace callgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)masked_url(text);
  (void)secrets_in_url(text);
  (void)server::is_json_type(text);
  static const server::Config config;
  // What is appended makes every name another's.
  std::string foreign(text.substr(0, text.find_first_of("[]:/@ ")));
  foreign += ".evil.example";
  CALLGATE_CHECK(!server::is_own_host(foreign, config));
  (void)server::is_own_host(text, config);
  (void)server::is_same_origin(text, text, (size & 1) != 0);
  const net::HttpLimits limits;
  net::RequestParser parser(limits);
  parser.push(text);
  const auto state = parser.state();
  if (state != net::RequestParser::State::body && state != net::RequestParser::State::complete) {
    return 0;
  }
  (void)server::check_page(parser.head(), {.secure = (size & 1) != 0, .local = false}, config);
  (void)server::check_content_type(parser.head());
  return 0;
}
