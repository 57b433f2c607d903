// RequestParser: bytes -> request heads and bodies, strictly. Needs no socket.
//   POST /v1/messages HTTP/1.1\r\n
//   Host: localhost:8080\r\n
//   Transfer-Encoding: chunked\r\n
//   \r\n
//   2\r\n{}\r\n0\r\n\r\n
// llhttp does the parsing; what it lets pass and others might read differently is refused before:
// bare CR or LF, folded lines, lengths and hosts given twice, any transfer coding but chunked.
// The outcome does not depend on how the bytes are cut.
#pragma once

#include <llhttp.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "net/http.h"

namespace callgate::net {

// Why a request is refused: the status to answer with, and words for the client.
struct RequestFault {
  int status = 0;
  std::string message;
};

class RequestParser {
 public:
  enum class State { head, body, complete, failed };

  // REQUIRES: `limits` outlives the parser.
  explicit RequestParser(const HttpLimits& limits);
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Takes bytes up to the end of the current request and gives how many were taken. Takes none when
  // complete or failed.
  std::size_t push(std::string_view bytes);

  // Turns to the next request. REQUIRES: state() == complete.
  void next();

  State state() const { return state_; }
  // True before the first byte of a request.
  bool idle() const { return state_ == State::head && head_.headers.text_.empty() && !skipped_; }
  const RequestHead& head() const { return head_; }     // REQUIRES: body or complete; but for path
  const RequestFault& fault() const { return fault_; }  // REQUIRES: failed
  // Sets head().path where the head is not whole but its first line is: with `more`, bytes that were not taken.
  void find_path(std::string_view more = {});

  // The body so far. More than the limit is a fault with status 413.
  const std::string& body() const { return body_; }
  // Lowers the limit for the current request.
  void limit_body(std::size_t bytes);
  std::size_t body_limit() const { return body_limit_; }
  void drop_body() { std::string().swap(body_); }

 private:
  friend struct RequestCallbacks;

  std::size_t push_head(std::string_view bytes);
  // Gives the end of the head within `bytes`, or npos; faults on what no line may hold.
  std::size_t scan_head(std::string_view bytes);
  void parse_head();
  void check_head();
  void check_lengths();
  void check_connection();
  void check_host();
  void check_expect();
  std::size_t push_counted(std::string_view bytes);
  std::size_t push_chunked(std::string_view bytes);
  void scan_framing(const char* from, const char* to);
  void add_body(std::string_view bytes);
  void refuse(int status, std::string message);

  const HttpLimits& limits_;
  llhttp_t parser_{};
  State state_ = State::head;
  RequestHead head_;
  RequestFault fault_;
  std::string body_;
  std::size_t body_limit_;
  std::uint64_t body_left_ = 0;

  std::size_t line_bytes_ = 0;  // of the head or chunk framing line being read
  bool after_cr_ = false;
  bool first_line_ = true;
  bool skipped_ = false;  // the one empty line that may precede a request

  const char* framing_from_ = nullptr;  // chunk framing not yet scanned, within one push
  std::size_t framing_bytes_ = 0;       // of chunk extensions and trailers
};

}  // namespace callgate::net
