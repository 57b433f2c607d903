#include "net/request_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/check.h"

namespace callgate::net {

namespace {

constexpr std::size_t npos = std::string_view::npos;
// Of a request line beside its target: method, two spaces, version.
constexpr std::size_t kRequestLineRest = 32;
// Of a chunk size line that has no extension.
constexpr std::size_t kChunkSizeDigits = 16;
constexpr std::size_t kKeptHeadBytes = 1024;

constexpr std::array<bool, 256> kHostBytes = [] {
  std::array<bool, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] =
        i > 0x20 && i != 0x7f && std::string_view("/@,\\\"<>?#").find(static_cast<char>(i)) == npos;
  }
  return table;
}();

// A target without the scheme and the host that proxies put before it.
std::string_view origin_of(std::string_view target) {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == npos) return target;
  target.remove_prefix(std::min(target.find('/', scheme + 3), target.size()));
  return target.empty() ? "/" : target;
}

std::string_view path_of(std::string_view origin) { return origin.substr(0, origin.find('?')); }

bool is_host_byte(char c) { return kHostBytes[static_cast<unsigned char>(c)]; }

}  // namespace

struct RequestCallbacks {
  static RequestParser& self(llhttp_t* parser) {
    return *static_cast<RequestParser*>(parser->data);
  }

  static std::uint32_t offset(RequestParser& parser, const char* at) {
    return static_cast<std::uint32_t>(at - parser.head_.headers.text_.data());
  }

  static int on_url(llhttp_t* llhttp, const char* at, std::size_t size) {
    self(llhttp).head_.target = {at, size};
    return 0;
  }

  static int on_header_field(llhttp_t* llhttp, const char* at, std::size_t size) {
    RequestParser& parser = self(llhttp);
    if (parser.state_ == RequestParser::State::body) return trailer(parser, size);
    parser.head_.headers.mark({at, size});
    parser.head_.headers.entries_.push_back(
        {offset(parser, at), static_cast<std::uint32_t>(size), 0, 0});
    return 0;
  }

  static int on_header_value(llhttp_t* llhttp, const char* at, std::size_t size) {
    RequestParser& parser = self(llhttp);
    if (parser.state_ == RequestParser::State::body) return trailer(parser, size);
    // llhttp leaves the spaces that end a value.
    while (size > 0 && (at[size - 1] == ' ' || at[size - 1] == '\t')) --size;
    Headers::Entry& entry = parser.head_.headers.entries_.back();
    entry.value = offset(parser, at);
    entry.value_size = static_cast<std::uint32_t>(size);
    return 0;
  }

  // Trailers are read past, within limits.
  static int trailer(RequestParser& parser, std::size_t size) {
    parser.framing_bytes_ += size;
    if (parser.framing_bytes_ <= parser.limits_.chunk_line_bytes) return 0;
    parser.refuse(400, "the trailers are too large");
    return -1;
  }

  static int on_headers_complete(llhttp_t*) { return HPE_PAUSED; }

  static int on_body(llhttp_t* llhttp, const char* at, std::size_t size) {
    RequestParser& parser = self(llhttp);
    parser.scan_framing(parser.framing_from_, at);
    parser.framing_from_ = at + size;
    parser.add_body({at, size});
    return parser.state_ == RequestParser::State::failed ? -1 : 0;
  }

  static int on_message_complete(llhttp_t* llhttp) {
    RequestParser& parser = self(llhttp);
    if (parser.state_ == RequestParser::State::body) {
      parser.state_ = RequestParser::State::complete;
    }
    return HPE_PAUSED;
  }

  static const llhttp_settings_t& settings() {
    static const llhttp_settings_t kSettings = [] {
      llhttp_settings_t settings;
      llhttp_settings_init(&settings);
      settings.on_url = on_url;
      settings.on_header_field = on_header_field;
      settings.on_header_value = on_header_value;
      settings.on_headers_complete = on_headers_complete;
      settings.on_body = on_body;
      settings.on_message_complete = on_message_complete;
      return settings;
    }();
    return kSettings;
  }
};

RequestParser::RequestParser(const HttpLimits& limits)
    : limits_(limits), body_limit_(limits.body_bytes) {}

std::size_t RequestParser::push(std::string_view bytes) {
  switch (state_) {
    case State::head: {
      const std::size_t taken = push_head(bytes);
      if (state_ != State::body) return taken;
      return taken + push(bytes.substr(taken));
    }
    case State::body:
      return head_.chunked ? push_chunked(bytes) : push_counted(bytes);
    case State::complete:
    case State::failed:
      return 0;
  }
  return 0;
}

void RequestParser::next() {
  CALLGATE_CHECK(state_ == State::complete);
  state_ = State::head;
  head_.headers.clear();
  if (head_.headers.text_.capacity() > kKeptHeadBytes) head_.headers = Headers();
  head_.method = head_.target = head_.path = head_.query = {};
  head_.content_length.reset();
  head_.chunked = head_.expects_continue = false;
  drop_body();
  body_limit_ = limits_.body_bytes;
  body_left_ = 0;
  line_bytes_ = framing_bytes_ = 0;
  after_cr_ = skipped_ = false;
  first_line_ = true;
}

std::size_t RequestParser::push_head(std::string_view bytes) {
  std::string& text = head_.headers.text_;
  std::size_t skipped = 0;
  // One empty line before a request is read past, as old clients send one after a body.
  while (text.empty() && !bytes.empty()) {
    if (skipped_ ? (after_cr_ && bytes[0] == '\n') : bytes[0] == '\r') {
      after_cr_ = !skipped_;
      skipped_ = true;
      bytes.remove_prefix(1);
      ++skipped;
      continue;
    }
    if (after_cr_ || bytes[0] < 'A' || bytes[0] > 'Z') {
      refuse(400, "the request does not begin with a method");
      return skipped;
    }
    break;
  }
  const std::size_t end = scan_head(bytes);
  if (state_ == State::failed) return find_path(bytes), skipped;
  const std::size_t taken = std::min(end, bytes.size());
  text.append(bytes.substr(0, taken));
  if (end != npos) parse_head();
  return skipped + taken;
}

std::size_t RequestParser::scan_head(std::string_view bytes) {
  const std::size_t held = head_.headers.text_.size();
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (after_cr_) {
      if (bytes[at] != '\n') return refuse(400, "a carriage return without its line feed"), npos;
      ++at;
      after_cr_ = false;
      first_line_ = false;
      if (line_bytes_ == 0) return at;
      line_bytes_ = 0;
      continue;
    }
    const bool folded = bytes[at] == ' ' || bytes[at] == '\t';
    if (line_bytes_ == 0 && folded) return refuse(400, "a header line begins with a space"), npos;
    const char* from = bytes.data() + at;
    const std::size_t left = bytes.size() - at;
    const void* cr = std::memchr(from, '\r', left);
    std::size_t size =
        cr == nullptr ? left : static_cast<std::size_t>(static_cast<const char*>(cr) - from);
    const void* lf = std::memchr(from, '\n', size);
    if (lf != nullptr) size = static_cast<std::size_t>(static_cast<const char*>(lf) - from);
    const std::size_t line_limit = limits_.target_bytes + kRequestLineRest;
    const std::size_t line_room = first_line_ ? line_limit - line_bytes_ : npos;
    const std::size_t head_room = limits_.head_bytes - std::min(limits_.head_bytes, held + at);
    if (size > std::min(line_room, head_room)) {
      if (line_room <= head_room) return refuse(414, "the request target is too long"), npos;
      return refuse(431, "the request head is too large"), npos;
    }
    if (lf != nullptr) return refuse(400, "a line feed without its carriage return"), npos;
    line_bytes_ += size;
    at += size;
    if (cr != nullptr) {
      after_cr_ = true;
      ++at;
    }
  }
  return npos;
}

void RequestParser::find_path(std::string_view more) {
  std::string& text = head_.headers.text_;
  const std::size_t line_end = text.find('\n') == npos ? more.find('\n') : npos;
  if (line_end != npos) text.append(more.substr(0, line_end + 1));
  const std::string_view line = std::string_view(text).substr(0, text.find('\n') + 1);
  const std::size_t from = line.find(' ');
  const std::size_t to = line.rfind(' ');
  if (from != to) head_.path = path_of(origin_of(line.substr(from + 1, to - from - 1)));
}

void RequestParser::parse_head() {
  llhttp_init(&parser_, HTTP_REQUEST, &RequestCallbacks::settings());
  parser_.data = this;
  const std::string& text = head_.headers.text_;
  const llhttp_errno_t error = llhttp_execute(&parser_, text.data(), text.size());
  // The two methods that llhttp treats apart: it goes on beyond the head for them.
  if (text.starts_with("PRI ")) return refuse(505, "HTTP/2 is not supported");
  if (text.starts_with("CONNECT ")) return refuse(501, "CONNECT is not supported");
  if (error == HPE_INVALID_VERSION) return refuse(505, "the HTTP version is not supported");
  if (error != HPE_PAUSED) {
    const char* reason = llhttp_get_error_reason(&parser_);
    return refuse(400, reason != nullptr && *reason != '\0' ? reason : "not an HTTP request");
  }
  llhttp_resume(&parser_);
  parser_.upgrade = 0;
  check_head();
}

void RequestParser::check_head() {
  if (parser_.http_major != 1) return refuse(505, "the HTTP version is not supported");
  if (head_.target.size() > limits_.target_bytes) {
    return refuse(414, "the request target is too long");
  }
  head_.method = llhttp_method_name(static_cast<llhttp_method_t>(parser_.method));
  head_.minor_version = parser_.http_minor;
  const std::string_view origin = origin_of(head_.target);
  if (origin[0] != '/' && origin != "*") return refuse(400, "the request target is not a path");
  head_.path = path_of(origin);
  const bool asks = head_.path.size() < origin.size();
  head_.query = asks ? origin.substr(head_.path.size() + 1) : std::string_view();
  // From here on a refusal can be said in the words of whatever answers that path.
  if (head_.headers.size() > limits_.header_count) return refuse(431, "too many headers");
  for (const Header header : head_.headers) {
    if (!is_sendable(header)) return refuse(400, "a header name or value holds forbidden bytes");
  }
  head_.keep_alive = head_.minor_version >= 1;
  check_connection();
  check_host();
  if (state_ != State::failed) check_lengths();
  if (state_ != State::failed) check_expect();
  if (state_ == State::failed) return;
  const bool empty = !head_.chunked && head_.content_length.value_or(0) == 0;
  state_ = empty ? State::complete : State::body;
}

void RequestParser::check_connection() {
  if (!head_.headers.find("connection")) return;
  for (const Header header : head_.headers) {
    if (!equals_ignoring_case(header.name, "connection")) continue;
    if (has_token(header.value, "close")) {
      head_.keep_alive = false;
      break;
    }
    if (has_token(header.value, "keep-alive")) head_.keep_alive = true;
  }
}

void RequestParser::check_host() {
  const std::size_t hosts = head_.headers.count("host");
  if (hosts > 1) return refuse(400, "more than one Host header");
  if (hosts == 0) {
    if (head_.minor_version >= 1) refuse(400, "no Host header");
    return;
  }
  const std::string_view host = *head_.headers.find("host");
  if (!std::all_of(host.begin(), host.end(), is_host_byte))
    refuse(400, "the Host header is not a host");
}

void RequestParser::check_lengths() {
  const std::size_t codings = head_.headers.count("transfer-encoding");
  const std::size_t lengths = head_.headers.count("content-length");
  if (codings > 0 && lengths > 0) {
    return refuse(400, "both Content-Length and Transfer-Encoding");
  }
  if (codings > 0) {
    if (head_.minor_version == 0) return refuse(400, "Transfer-Encoding with HTTP/1.0");
    if (codings > 1 || !equals_ignoring_case(*head_.headers.find("transfer-encoding"), "chunked")) {
      return refuse(501, "the only supported transfer coding is chunked");
    }
    head_.chunked = true;
    return;
  }
  if (lengths == 0) return;
  if (lengths > 1) return refuse(400, "more than one Content-Length");
  const std::string_view text = *head_.headers.find("content-length");
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return refuse(400, "the Content-Length is not a number");
  }
  if (length > body_limit_) return refuse(413, "the request body is too large");
  head_.content_length = length;
  body_left_ = length;
}

void RequestParser::check_expect() {
  const std::optional<std::string_view> expect = head_.headers.find("expect");
  if (!expect) return;
  if (!equals_ignoring_case(*expect, "100-continue") || head_.headers.count("expect") > 1) {
    return refuse(417, "the only supported expectation is 100-continue");
  }
  head_.expects_continue = head_.minor_version >= 1;
}

std::size_t RequestParser::push_counted(std::string_view bytes) {
  const std::size_t taken = std::min<std::uint64_t>(bytes.size(), body_left_);
  // Memory follows the bytes that came, not the length that was promised.
  if (body_.empty()) body_.reserve(std::min<std::uint64_t>(body_left_, 64 * 1024));
  // A large one that is under way gets its room at once: to grow it would need the old room beside the new one. What is not
  // written costs nothing.
  constexpr std::size_t kLarge = 1024 * 1024;
  const std::size_t whole = body_.size() + body_left_;
  if (body_.size() >= kLarge && body_.capacity() < whole) body_.reserve(whole);
  add_body(bytes.substr(0, taken));
  body_left_ -= taken;
  if (body_left_ == 0 && state_ == State::body) state_ = State::complete;
  return taken;
}

std::size_t RequestParser::push_chunked(std::string_view bytes) {
  framing_from_ = bytes.data();
  const llhttp_errno_t error = llhttp_execute(&parser_, bytes.data(), bytes.size());
  if (state_ == State::failed) return 0;
  const char* end = bytes.data() + bytes.size();
  if (error != HPE_OK) end = llhttp_get_error_pos(&parser_);
  scan_framing(framing_from_, end);
  if (state_ == State::failed) return 0;
  if (error != HPE_OK && state_ != State::complete) {
    refuse(400, llhttp_get_error_reason(&parser_));
    return 0;
  }
  return static_cast<std::size_t>(end - bytes.data());
}

void RequestParser::scan_framing(const char* from, const char* to) {
  for (; from < to && state_ != State::failed; ++from) {
    if (after_cr_ != (*from == '\n')) {
      refuse(400, "a line of the chunked body does not end with CR LF");
    } else if (*from == '\r' || *from == '\n') {
      after_cr_ = *from == '\r';
      line_bytes_ = 0;
    } else if (++line_bytes_ > kChunkSizeDigits && ++framing_bytes_ > limits_.chunk_line_bytes) {
      refuse(400, "the chunk extensions are too large");
    }
  }
}

void RequestParser::add_body(std::string_view bytes) {
  if (bytes.size() > body_limit_ - std::min(body_limit_, body_.size())) {
    return refuse(413, "the request body is too large");
  }
  body_.append(bytes);
}

void RequestParser::limit_body(std::size_t bytes) {
  body_limit_ = std::min(body_limit_, bytes);
  if (state_ == State::failed || state_ == State::head) return;
  if (body_.size() > body_limit_ || head_.content_length.value_or(0) > body_limit_) {
    refuse(413, "the request body is too large");
  }
}

void RequestParser::refuse(int status, std::string message) {
  state_ = State::failed;
  fault_ = {status, std::move(message)};
  drop_body();
}

}  // namespace callgate::net
