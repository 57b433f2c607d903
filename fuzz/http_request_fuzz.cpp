// Requests and responses are read the same however their bytes are cut.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/request_parser.h"
#include "net/response_parser.h"

namespace callgate::net {
namespace {

// Small, so that short inputs reach them.
constexpr HttpLimits kLimits{.target_bytes = 64,
                             .head_bytes = 512,
                             .header_count = 8,
                             .body_bytes = 64,
                             .chunk_line_bytes = 64};

// The cuts come from the bytes themselves, so that a crash needs nothing else to be repeated.
class Cuts {
 public:
  Cuts(std::uint32_t seed, std::uint32_t longest) : state_(seed), longest_(longest) {}
  std::size_t next() {
    state_ = state_ * 1664525 + 1013904223;
    return 1 + (state_ >> 16) % longest_;
  }

 private:
  std::uint32_t state_;
  std::uint32_t longest_;
};

void print(std::string& log, const Headers& headers) {
  for (const Header header : headers) {
    CALLGATE_CHECK(!header.name.empty());
    log.append(header.name).append("=").append(header.value).append(";");
  }
}

void print(std::string& log, const RequestParser& parser) {
  const RequestHead& head = parser.head();
  CALLGATE_CHECK(head.target.size() <= kLimits.target_bytes);
  CALLGATE_CHECK(head.headers.size() <= kLimits.header_count);
  CALLGATE_CHECK(!head.chunked || !head.content_length);
  CALLGATE_CHECK(head.minor_version == 0 || head.headers.count("host") == 1);
  CALLGATE_CHECK(parser.body().size() <= kLimits.body_bytes);
  log.append(head.method).append(" ").append(head.path).append("?").append(head.query);
  log.append(head.keep_alive ? " kept " : " closed ");
  print(log, head.headers);
  log.append(parser.body()).append("\n");
}

std::string read_requests(std::string_view bytes, Cuts cuts) {
  RequestParser parser(kLimits);
  std::string log;
  while (!bytes.empty() && parser.state() != RequestParser::State::failed) {
    const std::string piece(bytes.substr(0, cuts.next()));
    const std::size_t taken = parser.push(piece);
    CALLGATE_CHECK(taken <= piece.size());
    bytes.remove_prefix(taken);
    if (parser.state() == RequestParser::State::complete) {
      print(log, parser);
      parser.next();
    } else if (parser.state() != RequestParser::State::failed) {
      CALLGATE_CHECK(taken == piece.size());
    }
  }
  switch (parser.state()) {
    case RequestParser::State::head:
      return log + "head";
    case RequestParser::State::body:
      return log + "body " + parser.body();
    case RequestParser::State::complete:
      return log + "complete";
    case RequestParser::State::failed:
      return log + std::to_string(parser.fault().status);
  }
  return log;
}

std::string read_response(std::string_view bytes, Cuts cuts) {
  ResponseParser parser(512, 8, false);
  std::string body;
  while (!bytes.empty()) {
    std::string piece(bytes.substr(0, cuts.next()));
    bytes.remove_prefix(piece.size());
    body += parser.push(piece);
  }
  parser.finish();
  if (parser.state() != ResponseParser::State::complete) return "failed";
  std::string log = std::to_string(parser.status()) + " ";
  print(log, parser.headers());
  return log + body;
}

template <class Read>
void check(Read read, std::string_view bytes, std::uint32_t seed) {
  const std::string whole = read(bytes, Cuts(0, 1));
  CALLGATE_CHECK(read(bytes, Cuts(seed, 4)) == whole);
  CALLGATE_CHECK(read(bytes, Cuts(seed, 32)) == whole);
  CALLGATE_CHECK(read(bytes, Cuts(seed, 1 << 15)) == whole);
}

}  // namespace
}  // namespace callgate::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::uint32_t seed = 1;
  for (const char byte : bytes) seed = seed * 31 + static_cast<unsigned char>(byte);
  callgate::net::check(callgate::net::read_requests, bytes, seed);
  callgate::net::check(callgate::net::read_response, bytes, seed);
  return 0;
}
