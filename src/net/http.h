// The words of HTTP/1.1 that both sides share: header lists, request heads, limits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callgate::net {

struct Header {
  std::string_view name;
  std::string_view value;
};

// An ordered header list in one block of text. Names compare without case.
// Views into it are valid until the next add() or clear().
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> headers);

  void add(std::string_view name, std::string_view value);
  void clear();

  std::size_t size() const { return entries_.size(); }
  Header operator[](std::size_t index) const;
  // The first value with that name; empty optional when there is none.
  std::optional<std::string_view> find(std::string_view name) const;
  std::size_t count(std::string_view name) const;

  class Iterator {
   public:
    Iterator(const Headers& headers, std::size_t index) : headers_(&headers), index_(index) {}
    Header operator*() const { return (*headers_)[index_]; }
    Iterator& operator++() { return ++index_, *this; }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Headers* headers_;
    std::size_t index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, entries_.size()}; }

 private:
  friend class RequestParser;  // their text is a whole message head as received
  friend class ResponseParser;
  friend struct RequestCallbacks;
  friend struct ResponseCallbacks;
  struct Entry {
    std::uint32_t name;
    std::uint32_t name_size;
    std::uint32_t value;
    std::uint32_t value_size;
  };
  bool has_name(const Entry& entry, std::string_view name) const;
  // Room for what most heads hold.
  void reserve_entries();
  // Notes that a header of that name is there. Whoever adds entries calls it.
  void mark(std::string_view name) { marks_ |= mark_of(name); }
  // A bit for the length and the last letter of a name: nearly all names that are asked for are not there.
  static std::uint64_t mark_of(std::string_view name) {
    if (name.empty()) return 1;
    const auto last = static_cast<unsigned char>(name.back());
    return std::uint64_t{1} << ((name.size() * 7 + (last & 0x1fu)) & 63u);
  }

  std::string text_;
  std::vector<Entry> entries_;
  std::uint64_t marks_ = 0;
};

// What a request says before its body. Sample:
//   POST /v1/chat/completions?beta=true HTTP/1.1
//   host: localhost:8080
//   content-length: 2
// Every view points into `headers`, so a head stays where it was parsed.
struct RequestHead {
  RequestHead() = default;
  RequestHead(const RequestHead&) = delete;
  RequestHead& operator=(const RequestHead&) = delete;

  std::string_view method;  // GET, POST, ...
  std::string_view target;  // as sent: /v1/chat/completions?beta=true
  std::string_view path;    // of target, before the question mark; not percent-decoded
  std::string_view query;   // of target, after the question mark
  int minor_version = 1;    // HTTP/1.x
  Headers headers;
  std::optional<std::uint64_t> content_length;  // empty: no body, or chunked
  bool chunked = false;
  bool keep_alive = true;
  bool expects_continue = false;
};

struct HttpLimits {
  std::size_t target_bytes = 8 * 1024;        // 414 beyond
  std::size_t head_bytes = 64 * 1024;         // 431 beyond
  std::size_t header_count = 128;             // 431 beyond
  std::size_t body_bytes = 32 * 1024 * 1024;  // 413 beyond
  std::size_t chunk_line_bytes = 16 * 1024;   // chunk extensions and trailers of one message
};

bool equals_ignoring_case(std::string_view a, std::string_view b);
// True when a comma-separated list such as `keep-alive, Upgrade` has the token, without case.
bool has_token(std::string_view list, std::string_view token);
// True for what may be sent as a header: a token, and a value without control bytes.
bool is_sendable(const Header& header);
// `Not Found` for 404; `Unknown` for what has no name.
std::string_view reason_phrase(int status);
// `Sun, 06 Nov 1994 08:49:37 GMT`, from seconds since 1970.
std::string http_date(std::int64_t seconds);

}  // namespace callgate::net
