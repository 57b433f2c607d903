#include "net/response_parser.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace callgate::net {

namespace {

constexpr std::size_t kInterimLimit = 16;

}  // namespace

struct ResponseCallbacks {
  static ResponseParser& self(llhttp_t* parser) {
    return *static_cast<ResponseParser*>(parser->data);
  }

  static int on_header_field(llhttp_t* llhttp, const char* at, std::size_t size) {
    ResponseParser& parser = self(llhttp);
    if (parser.state_ == ResponseParser::State::body) return trailer(parser, size);
    if (parser.headers_.entries_.empty()) parser.headers_.reserve_entries();
    parser.headers_.mark({at, size});
    const auto name = static_cast<std::uint32_t>(at - parser.headers_.text_.data());
    parser.headers_.entries_.push_back({name, static_cast<std::uint32_t>(size), 0, 0});
    return 0;
  }

  static int on_header_value(llhttp_t* llhttp, const char* at, std::size_t size) {
    ResponseParser& parser = self(llhttp);
    if (parser.state_ == ResponseParser::State::body) return trailer(parser, size);
    while (size > 0 && (at[size - 1] == ' ' || at[size - 1] == '\t')) --size;
    Headers::Entry& entry = parser.headers_.entries_.back();
    const auto end = static_cast<std::uint32_t>(at + size - parser.headers_.text_.data());
    // A folded line comes as a second span: the value reaches to its end, and is refused for it.
    if (entry.value == 0) entry.value = end - static_cast<std::uint32_t>(size);
    entry.value_size = end - entry.value;
    return 0;
  }

  static int trailer(ResponseParser& parser, std::size_t size) {
    parser.trailer_bytes_ += size;
    if (parser.trailer_bytes_ <= parser.head_bytes_) return 0;
    parser.refuse("trailers too large");
    return -1;
  }

  static int on_headers_complete(llhttp_t*) { return HPE_PAUSED; }

  static int on_body(llhttp_t* llhttp, const char* at, std::size_t size) {
    ResponseParser& parser = self(llhttp);
    if (parser.body_end_ != at) std::memmove(parser.body_end_, at, size);
    parser.body_end_ += size;
    return 0;
  }

  static int on_message_complete(llhttp_t* llhttp) {
    ResponseParser& parser = self(llhttp);
    if (parser.state_ == ResponseParser::State::body) {
      parser.state_ = ResponseParser::State::complete;
    }
    return HPE_PAUSED;
  }

  static const llhttp_settings_t& settings() {
    static const llhttp_settings_t kSettings = [] {
      llhttp_settings_t settings;
      llhttp_settings_init(&settings);
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

ResponseParser::ResponseParser(std::size_t head_bytes, std::size_t header_count, bool bodiless)
    : head_bytes_(head_bytes), header_count_(header_count), bodiless_(bodiless) {}

std::string_view ResponseParser::push(std::span<char> bytes) {
  any_bytes_ = any_bytes_ || !bytes.empty();
  while (state_ == State::head && !bytes.empty()) {
    bytes = bytes.subspan(push_head({bytes.data(), bytes.size()}));
  }
  if (bytes.empty() || state_ == State::failed) return {};
  if (state_ == State::complete) {
    surplus_ = true;
    return {};
  }
  return push_body(bytes);
}

void ResponseParser::finish() {
  if (state_ == State::body && framing_ == Framing::until_close) {
    state_ = State::complete;
  } else if (state_ != State::complete && state_ != State::failed) {
    refuse(state_ == State::body ? "the response body is truncated"
                                 : "the connection closed before the whole response head");
  }
  keep_alive_ = false;
}

std::size_t ResponseParser::push_head(std::string_view bytes) {
  const std::size_t end = head_end(bytes);
  const std::size_t taken = std::min(end, bytes.size());
  headers_.text_.append(bytes.substr(0, taken));
  if (headers_.text_.size() > head_bytes_) {
    refuse("the response head is too large");
  } else if (end != std::string_view::npos) {
    parse_head();
  }
  return taken;
}

// Where the empty line ends that ends the head; lines may end with a bare line feed.
std::size_t ResponseParser::head_end(std::string_view bytes) {
  const std::string& text = headers_.text_;
  std::size_t at = 0;
  while ((at = bytes.find('\n', at)) != std::string_view::npos) {
    const auto before = [&](std::size_t back) -> char {
      if (at >= back) return bytes[at - back];
      const std::size_t in_text = back - at;
      return text.size() >= in_text ? text[text.size() - in_text] : '\0';
    };
    if (before(1) == '\n' || (before(1) == '\r' && before(2) == '\n')) return at + 1;
    ++at;
    if (at + text.size() > head_bytes_) break;
  }
  return std::string_view::npos;
}

void ResponseParser::parse_head() {
  llhttp_init(&parser_, HTTP_RESPONSE, &ResponseCallbacks::settings());
  parser_.data = this;
  const std::string& text = headers_.text_;
  const llhttp_errno_t error = llhttp_execute(&parser_, text.data(), text.size());
  if (error != HPE_PAUSED) {
    const char* reason = llhttp_get_error_reason(&parser_);
    return refuse(reason != nullptr && *reason != '\0' ? reason : "not an HTTP response");
  }
  if (parser_.http_major != 1) return refuse("not an HTTP/1 response");
  if (headers_.size() > header_count_) return refuse("too many response headers");
  for (const Header header : headers_) {
    if (!is_sendable(header)) return refuse("a response header holds forbidden bytes");
  }
  if (status() == 101) return refuse("the upstream changed protocols unasked");
  if (status() < 200) {
    if (++interim_count_ > kInterimLimit) return refuse("too many interim responses");
    headers_.clear();
    return;
  }
  llhttp_resume(&parser_);
  check_head();
  has_head_ = state_ != State::failed;
}

void ResponseParser::check_head() {
  keep_alive_ = llhttp_should_keep_alive(&parser_) != 0 || parser_.http_minor >= 1;
  const bool says_more = headers_.find("connection").has_value();
  for (std::size_t i = 0; says_more && i < headers_.size(); ++i) {
    const Header header = headers_[i];
    if (!equals_ignoring_case(header.name, "connection")) continue;
    if (has_token(header.value, "close")) keep_alive_ = false;
    if (has_token(header.value, "keep-alive") && parser_.http_minor == 0) keep_alive_ = true;
  }
  state_ = State::body;
  const std::optional<std::string_view> coding = headers_.find("transfer-encoding");
  const std::optional<std::string_view> length = headers_.find("content-length");
  if (bodiless_ || status() == 204 || status() == 304) {
    framing_ = Framing::none;
  } else if (coding) {
    if (!equals_ignoring_case(*coding, "chunked")) return refuse("an unknown transfer coding");
    if (length) return refuse("both Content-Length and Transfer-Encoding");
    framing_ = Framing::chunked;
    return;
  } else if (length) {
    const char* end = length->data() + length->size();
    const auto [stop, error] = std::from_chars(length->data(), end, left_);
    if (error != std::errc() || stop != end) return refuse("a bad Content-Length");
    framing_ = Framing::counted;
  } else {
    framing_ = Framing::until_close;
    keep_alive_ = false;
    return;
  }
  if (left_ == 0) state_ = State::complete;
}

std::string_view ResponseParser::push_body(std::span<char> bytes) {
  switch (framing_) {
    case Framing::none:
      return {};
    case Framing::chunked:
      return push_chunked(bytes);
    case Framing::counted: {
      const std::size_t taken = std::min<std::uint64_t>(left_, bytes.size());
      left_ -= taken;
      if (left_ == 0) state_ = State::complete;
      surplus_ = taken < bytes.size();
      return {bytes.data(), taken};
    }
    case Framing::until_close:
      return {bytes.data(), bytes.size()};
  }
  return {};
}

std::string_view ResponseParser::push_chunked(std::span<char> bytes) {
  body_end_ = bytes.data();
  const llhttp_errno_t error = llhttp_execute(&parser_, bytes.data(), bytes.size());
  if (state_ == State::complete) {
    surplus_ = llhttp_get_error_pos(&parser_) != bytes.data() + bytes.size();
  } else if (error != HPE_OK && state_ != State::failed) {
    refuse(llhttp_get_error_reason(&parser_));
  }
  return {bytes.data(), static_cast<std::size_t>(body_end_ - bytes.data())};
}

void ResponseParser::refuse(std::string message) {
  state_ = State::failed;
  fault_ = std::move(message);
}

}  // namespace callgate::net
