// ResponseParser: an upstream's bytes -> status, headers and body. Needs no socket.
//   HTTP/1.1 200 OK\r\n
//   Content-Type: text/event-stream\r\n
//   Transfer-Encoding: chunked\r\n
//   \r\n
//   e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n
// Interim responses (100, 103, ...) are skipped.
#pragma once

#include <llhttp.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "net/http.h"

namespace callgate::net {

class ResponseParser {
 public:
  enum class State { head, body, complete, failed };

  // `bodiless`: the request was a HEAD.
  ResponseParser(std::size_t head_bytes, std::size_t header_count, bool bodiless);
  ResponseParser(const ResponseParser&) = delete;
  ResponseParser& operator=(const ResponseParser&) = delete;

  // Takes all bytes. The body bytes among them are moved together at the front of `bytes`; the view
  // of them is the result.
  std::string_view push(std::span<char> bytes);
  // The upstream closed the connection: completes a body that lasts until then, fails any other.
  void finish();

  State state() const { return state_; }
  bool any_bytes() const { return any_bytes_; }
  // True once the head was taken; a fault may still be found in the body.
  bool has_head() const { return has_head_; }
  int status() const { return parser_.status_code; }   // REQUIRES: has_head()
  const Headers& headers() const { return headers_; }  // REQUIRES: has_head()
  // True when the connection may carry another request. REQUIRES: complete
  bool keep_alive() const { return keep_alive_ && !surplus_; }
  const std::string& fault() const { return fault_; }  // REQUIRES: failed

 private:
  friend struct ResponseCallbacks;
  enum class Framing { none, counted, chunked, until_close };

  std::size_t push_head(std::string_view bytes);
  std::size_t head_end(std::string_view bytes);
  void parse_head();
  void check_head();
  std::string_view push_body(std::span<char> bytes);
  std::string_view push_chunked(std::span<char> bytes);
  void refuse(std::string message);

  std::size_t head_bytes_;
  std::size_t header_count_;
  bool bodiless_;
  llhttp_t parser_{};
  State state_ = State::head;
  Framing framing_ = Framing::none;
  Headers headers_;
  std::string fault_;
  std::uint64_t left_ = 0;
  std::size_t interim_count_ = 0;
  char* body_end_ = nullptr;  // within one push: where the next body byte is moved to
  bool any_bytes_ = false;
  bool has_head_ = false;
  bool keep_alive_ = false;
  bool surplus_ = false;  // bytes after the end: the connection is not to be trusted further
  std::size_t trailer_bytes_ = 0;
};

}  // namespace callgate::net
