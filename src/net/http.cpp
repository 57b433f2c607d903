#include "net/http.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/text.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace callgate::net {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// What most heads hold; a list of headers begins with room for it.
constexpr std::size_t kUsualHeaders = 8;
constexpr std::size_t kUsualText = 240;

constexpr bool is_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

constexpr std::array<bool, 256> kTokenBytes = [] {
  std::array<bool, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = is_token(static_cast<char>(i));
  return table;
}();

// No byte ends the loop early: nearly all texts are good.
bool are_all(std::string_view text, const std::array<bool, 256>& table) {
  bool all = true;
  for (const char c : text) all &= table[static_cast<unsigned char>(c)];
  return all;
}

constexpr std::array<bool, 256> kValueBytes = [] {
  std::array<bool, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = i == '\t' || (i >= 0x20 && i != 0x7f);
  return table;
}();

#if defined(__SSE2__)
template <class Word>
Word load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// Whether `check` holds for every block of 16 bytes; of bytes at the end, or of a short text, it sees some twice. Texts of less than
// four bytes are not for it.
template <class Check>
bool holds(std::string_view text, Check check) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (; end - at >= 16; at += 16) {
    if (!check(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)))) return false;
  }
  if (at == end) return true;
  if (text.size() >= 16) return check(_mm_loadu_si128(reinterpret_cast<const __m128i*>(end - 16)));
  if (text.size() >= 8) {
    return check(_mm_set_epi64x(load<std::int64_t>(end - 8), load<std::int64_t>(at)));
  }
  const auto first = load<std::int32_t>(at);
  const auto last = load<std::int32_t>(end - 4);
  return check(_mm_set_epi32(first, first, last, last));
}

bool has_no_control(__m128i bytes) {
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
  const __m128i tab = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'));
  const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
  return _mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(tab, control), del)) == 0;
}

// Letters, digits and dashes: nearly all names have no others.
bool is_plain_name(__m128i bytes) {
  const __m128i letter = _mm_sub_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
  const __m128i digit = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
  const __m128i good =
      _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(25)), letter),
                                _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit)),
                   _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
  return _mm_movemask_epi8(good) == 0xffff;
}
#endif

bool is_header_name(std::string_view text) {
#if defined(__SSE2__)
  if (text.size() >= 4 && holds(text, is_plain_name)) return true;
#endif
  return !text.empty() && are_all(text, kTokenBytes);
}

bool is_header_value(std::string_view text) {
#if defined(__SSE2__)
  if (text.size() >= 4) return holds(text, has_no_control);
#endif
  return are_all(text, kValueBytes);
}

}  // namespace

Headers::Headers(std::initializer_list<Header> headers) {
  for (const Header& header : headers) add(header.name, header.value);
}

void Headers::add(std::string_view name, std::string_view value) {
  if (entries_.capacity() == 0) {
    reserve_entries();
    text_.reserve(kUsualText);
  }
  mark(name);
  const auto at = static_cast<std::uint32_t>(text_.size());
  const auto name_size = static_cast<std::uint32_t>(name.size());
  entries_.push_back({at, name_size, at + name_size, static_cast<std::uint32_t>(value.size())});
  text_.append(name).append(value);
}

void Headers::reserve_entries() { entries_.reserve(kUsualHeaders); }

void Headers::clear() {
  text_.clear();
  entries_.clear();
  marks_ = 0;
}

Header Headers::operator[](std::size_t index) const {
  const Entry& entry = entries_[index];
  return {{text_.data() + entry.name, entry.name_size},
          {text_.data() + entry.value, entry.value_size}};
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  if ((marks_ & mark_of(name)) == 0) return std::nullopt;
  for (const Entry& entry : entries_) {
    if (has_name(entry, name)) return {{text_.data() + entry.value, entry.value_size}};
  }
  return std::nullopt;
}

std::size_t Headers::count(std::string_view name) const {
  if ((marks_ & mark_of(name)) == 0) return 0;
  std::size_t found = 0;
  for (const Entry& entry : entries_) found += has_name(entry, name);
  return found;
}

// Most names differ in length or in their first letter.
bool Headers::has_name(const Entry& entry, std::string_view name) const {
  if (entry.name_size != name.size()) return false;
  const char* const text = text_.data() + entry.name;
  if (name.empty() || lower(*text) != lower(name.front())) return name.empty();
  return equals_ignoring_case({text, entry.name_size}, name);
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  if (a == b) return true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

bool has_token(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (equals_ignoring_case(trimmed_value(list.substr(0, comma)), token)) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

bool is_sendable(const Header& header) {
  return is_header_name(header.name) && is_header_value(header.value);
}

std::string_view reason_phrase(int status) {
  struct Row {
    int status;
    std::string_view phrase;
  };
  static constexpr Row kRows[] = {{200, "OK"},
                                  {201, "Created"},
                                  {202, "Accepted"},
                                  {204, "No Content"},
                                  {301, "Moved Permanently"},
                                  {302, "Found"},
                                  {304, "Not Modified"},
                                  {307, "Temporary Redirect"},
                                  {308, "Permanent Redirect"},
                                  {400, "Bad Request"},
                                  {401, "Unauthorized"},
                                  {403, "Forbidden"},
                                  {404, "Not Found"},
                                  {405, "Method Not Allowed"},
                                  {408, "Request Timeout"},
                                  {409, "Conflict"},
                                  {410, "Gone"},
                                  {413, "Payload Too Large"},
                                  {414, "URI Too Long"},
                                  {415, "Unsupported Media Type"},
                                  {417, "Expectation Failed"},
                                  {422, "Unprocessable Content"},
                                  {426, "Upgrade Required"},
                                  {429, "Too Many Requests"},
                                  {431, "Request Header Fields Too Large"},
                                  {499, "Client Closed Request"},
                                  {500, "Internal Server Error"},
                                  {501, "Not Implemented"},
                                  {502, "Bad Gateway"},
                                  {503, "Service Unavailable"},
                                  {504, "Gateway Timeout"},
                                  {505, "HTTP Version Not Supported"},
                                  {529, "Overloaded"}};
  for (const Row& row : kRows) {
    if (row.status == status) return row.phrase;
  }
  return "Unknown";
}

std::string http_date(std::int64_t seconds) {
  static constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t time = seconds;
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  std::array<char, 64> text;
  const int size = std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                                 kDays[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                                 kMonths[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900,
                                 utc.tm_hour, utc.tm_min, utc.tm_sec);
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace callgate::net
