#include "dialect/family/tag_attributes.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxAttributesTag = 4096;

void skip_attribute_space(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
}

// The character of a numeric entity's body such as #65 or #x41, or 0.
char32_t numeric_entity(std::string_view body) {
  const bool hex = body.starts_with("#x") || body.starts_with("#X");
  body.remove_prefix(std::min<std::size_t>(hex ? 2 : 1, body.size()));
  if (body.empty() || body.size() > 8) return 0;
  char32_t code_point = 0;
  for (const char c : body) {
    const char lower = static_cast<char>(c | 0x20);
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(hex && lower >= 'a' && lower <= 'f')) return 0;
    const int value = digit ? c - '0' : lower - 'a' + 10;
    code_point = code_point * (hex ? 16 : 10) + static_cast<char32_t>(value);
  }
  const bool valid = code_point <= 0x10FFFF && !(code_point >= 0xD800 && code_point < 0xE000);
  return valid ? code_point : 0;
}

bool append_entity(std::string& out, std::string_view body) {
  struct Entity {
    std::string_view name;
    char value;
  };
  constexpr std::array kEntities = {Entity{"amp", '&'}, Entity{"lt", '<'}, Entity{"gt", '>'},
                                    Entity{"quot", '"'}, Entity{"apos", '\''}};
  for (const Entity& entity : kEntities) {
    if (body != entity.name) continue;
    out.push_back(entity.value);
    return true;
  }
  if (!body.starts_with('#')) return false;
  const char32_t code_point = numeric_entity(body);
  if (code_point != 0) utf8::append_code_point(out, code_point);
  return code_point != 0;
}

}  // namespace

void AttributeScan::begin(std::string_view end) {
  end_ = end;
  matched_ = 0;
  quote_ = 0;
  text_.clear();
}

AttributeScan::State AttributeScan::push(char c) {
  if (quote_ != 0) {
    text_.push_back(c);
    if (c == quote_) quote_ = 0;
  } else if (c == end_[matched_]) {
    if (++matched_ == end_.size()) return State::closed;
  } else if (matched_ > 0 || c == '<') {
    return State::failed;
  } else {
    text_.push_back(c);
    if (c == '"' || c == '\'') quote_ = c;
  }
  return text_.size() < kMaxAttributesTag ? State::open : State::failed;
}

bool take_attribute(std::string_view& text, std::string_view& key, std::string_view& value) {
  skip_attribute_space(text);
  const std::size_t end = text.find_first_of("= \t\r\n\"'");
  if (end == 0 || end == std::string_view::npos) return false;
  std::string_view rest = text.substr(end);
  skip_attribute_space(rest);
  if (!rest.starts_with('=')) return false;
  rest.remove_prefix(1);
  skip_attribute_space(rest);
  if (rest.empty()) return false;
  key = text.substr(0, end);
  const bool quoted = rest[0] == '"' || rest[0] == '\'';
  const std::size_t stop =
      quoted ? rest.find(rest[0], 1) : std::min(rest.find_first_of(kSpace), rest.size());
  if (stop == std::string_view::npos) return false;
  value = rest.substr(quoted ? 1 : 0, stop - (quoted ? 1 : 0));
  text = rest.substr(stop + (quoted ? 1 : 0));
  skip_attribute_space(text);
  return true;
}

std::optional<std::string> attribute(std::string_view text, std::string_view key) {
  std::optional<std::string> found;
  for_each_attribute(text, [&](std::string_view name, std::string value) {
    if (name == key) found = std::move(value);
  });
  return found;
}

std::string decode_entities(std::string_view text) {
  constexpr std::size_t kLongest = 12;
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&') {
      const std::size_t end = text.substr(i, kLongest).find(';');
      if (end != std::string_view::npos && append_entity(out, text.substr(i + 1, end - 1))) {
        i += end;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

}  // namespace callgate::dialect
