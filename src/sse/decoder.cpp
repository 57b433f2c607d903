#include "sse/decoder.h"

#include <charconv>
#include <cstring>

namespace callgate {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
// Buffers that one large frame has grown beyond this are given back after it.
constexpr std::size_t kKeptCapacity = std::size_t{64} << 10;

// Assigning an empty string would keep the memory.
void release(std::string& buffer) { std::string().swap(buffer); }

void empty(std::string& buffer) {
  if (buffer.capacity() > kKeptCapacity) release(buffer);
  buffer.clear();
}

// `502 Bad Gateway`, `<html>`, `[ERROR] ...`: words, and not a piece of a JSON document.
bool is_sentence(std::string_view line) {
  const bool marked = line.front() == '[' || line.front() == '<';
  if (!marked && line.find(':') != std::string_view::npos) return false;  // a field, misspelt
  if (line.front() == '[') line.remove_prefix(1);
  const char first = line.empty() ? ' ' : line.front();
  const bool letter = (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
  const bool opens = letter || (first >= '0' && first <= '9') || first == '<';
  return opens && std::string_view("}],").find(line.back()) == std::string_view::npos;
}

bool is_known_field(std::string_view name) {
  return name == "data" || name == "event" || name == "id" || name == "retry";
}

// Whether a server can have meant this as the name of a field. JSON and prose that got to the start of a line cannot be one.
bool is_field_name(std::string_view name) {
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    if (!plain) return false;
  }
  return true;
}

bool is_open_object(std::string_view data) {
  const std::size_t last = data.find_last_not_of(" \t");
  return data.starts_with('{') && data[last] != '}';
}

// Finds the ends of the lines of one text, in order. Each byte is looked at once for each of CR and LF.
class LineEnds {
 public:
  explicit LineEnds(std::string_view text) : text_(text) {}

  // The first CR or LF at or after `at`, or the end of the text. REQUIRES: `at` does not decrease.
  std::size_t next(std::size_t at) {
    if (feed_ == kUnknown || feed_ < at) feed_ = find('\n', at, text_.size());
    return find('\r', at, feed_);
  }

 private:
  static constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);

  std::size_t find(char c, std::size_t from, std::size_t to) const {
    if (from == to) return to;
    const void* found = std::memchr(text_.data() + from, c, to - from);
    return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text_.data()) : to;
  }

  std::string_view text_;
  std::size_t feed_ = kUnknown;
};

}  // namespace

SseDecoder::SseDecoder(std::size_t max_frame) : max_frame_(max_frame) {}

void SseDecoder::push(std::string_view bytes, FrameFn on_frame) {
  if (bom_matched_ < kBom.size()) bytes = skip_bom(bytes);
  if (bytes.empty() || overflowed_) return;
  std::size_t at = after_cr_ && bytes.front() == '\n' ? 1 : 0;
  after_cr_ = false;
  LineEnds ends(bytes);
  while (at < bytes.size()) {
    const std::size_t end = ends.next(at);
    const std::string_view line = bytes.substr(at, end - at);
    if (end == bytes.size() || !line_.empty()) {
      keep(line);
      if (end < bytes.size()) take_buffered_line(on_frame);
    } else {
      take_line(line, on_frame);
    }
    if (overflowed_ || end == bytes.size()) break;
    at = end + 1;
    if (bytes[end] == '\r') {
      after_cr_ = at == bytes.size();
      if (at < bytes.size() && bytes[at] == '\n') ++at;
    }
  }
  if (held_ == Held::borrowed) {  // the bytes go, the frame goes on
    data_.assign(borrowed_);
    data_start_ = 0;
    held_ = Held::owned;
  }
}

void SseDecoder::finish(FrameFn on_frame) {
  if (overflowed_) return;
  if (bom_matched_ < kBom.size()) {
    keep(kBom.substr(0, bom_matched_));
    bom_matched_ = kBom.size();
  }
  if (!line_.empty()) take_buffered_line(on_frame);
  if (!overflowed_) deliver(on_frame);
}

// What only began like a BOM is the start of the first line.
std::string_view SseDecoder::skip_bom(std::string_view bytes) {
  while (!bytes.empty() && bom_matched_ < kBom.size()) {
    if (bytes.front() != kBom[bom_matched_]) {
      keep(kBom.substr(0, bom_matched_));
      bom_matched_ = kBom.size();
      break;
    }
    ++bom_matched_;
    bytes.remove_prefix(1);
  }
  return bytes;
}

void SseDecoder::take_buffered_line(FrameFn on_frame) {
  constexpr std::string_view kData = "data:";
  const bool has_data = line_.starts_with(kData);
  if (has_data && bare_) deliver(on_frame);
  if (has_data && held_ == Held::none) {  // the buffer becomes the data: no second copy
    data_.swap(line_);
    data_start_ = kData.size();
    if (data_.size() > data_start_ && data_[data_start_] == ' ') ++data_start_;
    held_ = Held::owned;
  } else {
    take_line(line_, on_frame);
  }
  empty(line_);
}

void SseDecoder::take_line(std::string_view line, FrameFn on_frame) {
  if (line.empty()) return deliver(on_frame);
  if (line.size() > max_frame_) return overflow();
  const std::size_t colon = line.find(':');
  if (colon == 0) {
    ++comments_;
    return;
  }
  const std::string_view name = line.substr(0, colon);
  if (!is_known_field(name) && (!is_field_name(name) || is_open_object(data()))) {
    return take_odd_line(line);
  }
  if (bare_) deliver(on_frame);
  if (colon == std::string_view::npos) {
    take_field(line, {});
  } else {
    std::string_view value = line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    take_field(line.substr(0, colon), value);
  }
}

// A line without a field: the next one of a frame's data, or a frame of its own if it may be a JSON object or the words of
// a failure.
void SseDecoder::take_odd_line(std::string_view line) {
  if (held_ == Held::none && line.front() != '{' && !is_sentence(line)) return;
  if (held_ != Held::none) return add_data(line);
  data_.assign(line);  // the line itself may be in a buffer that is used again
  data_start_ = 0;
  held_ = Held::owned;
  bare_ = true;
}

void SseDecoder::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    add_data(value);
  } else if (name == "event") {
    event_.assign(value);
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    id_.assign(value);
  } else if (name == "retry") {
    std::uint32_t ms = 0;
    const char* end = value.data() + value.size();
    const auto [stop, fault] = std::from_chars(value.data(), end, ms);
    if (fault == std::errc() && stop == end) retry_ = ms;
  }
}

void SseDecoder::add_data(std::string_view value) {
  switch (held_) {
    case Held::none:
      borrowed_ = value;
      held_ = Held::borrowed;
      return;
    case Held::borrowed:
      data_.assign(borrowed_);
      data_start_ = 0;
      held_ = Held::owned;
      break;
    case Held::owned:
      break;
  }
  if (data_.size() - data_start_ + 1 + value.size() > max_frame_) return overflow();
  data_.push_back('\n');
  data_.append(value);
}

std::string_view SseDecoder::data() const {
  switch (held_) {
    case Held::none:
      return {};
    case Held::borrowed:
      return borrowed_;
    case Held::owned:
      return std::string_view(data_).substr(data_start_);
  }
  return {};
}

void SseDecoder::deliver(FrameFn on_frame) {
  if (held_ != Held::none) on_frame({event_, data(), id_});
  held_ = Held::none;
  bare_ = false;
  data_start_ = 0;
  empty(data_);
  event_.clear();
}

void SseDecoder::keep(std::string_view unfinished_line) {
  if (line_.size() + unfinished_line.size() > max_frame_) return overflow();
  line_.append(unfinished_line);
}

void SseDecoder::overflow() {
  overflowed_ = true;
  held_ = Held::none;
  for (std::string* buffer : {&data_, &line_, &event_, &id_}) release(*buffer);
  data_start_ = 0;
}

LineDecoder::LineDecoder(std::size_t max_line) : max_line_(max_line) {}

void LineDecoder::push(std::string_view bytes, FrameFn on_frame) {
  while (!overflowed_ && !bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view line = bytes.substr(0, end);
    if (end == std::string_view::npos) {
      keep(line);
      return;
    }
    bytes.remove_prefix(end + 1);
    if (line_.empty()) {
      take_line(line, on_frame);
    } else if (keep(line)) {
      take_line(line_, on_frame);
      empty(line_);
    }
  }
}

void LineDecoder::finish(FrameFn on_frame) {
  take_line(line_, on_frame);
  empty(line_);
}

void LineDecoder::take_line(std::string_view line, FrameFn on_frame) {
  if (line.size() > max_line_) {
    overflowed_ = true;
    return;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.find_first_not_of(" \t") == std::string_view::npos) return;
  on_frame({{}, line, {}});
}

bool LineDecoder::keep(std::string_view bytes) {
  overflowed_ = line_.size() + bytes.size() > max_line_;
  if (overflowed_) {
    release(line_);
  } else {
    line_.append(bytes);
  }
  return !overflowed_;
}

}  // namespace callgate
