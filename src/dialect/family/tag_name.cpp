#include "dialect/family/tag_name.h"

#include "dialect/call_reader.h"
#include "dialect/family/tagged_value.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxLongName = 512;

bool may_be_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("_-.:/@$").find(c) != std::string_view::npos;
}

std::string_view tag_byte(const char& c) { return {&c, 1}; }

// Without white space and quotes around it.
std::string bare(std::string_view name) {
  name = trimmed(name);
  const bool quoted = name.size() >= 2 && name.front() == name.back() &&
                      (name.front() == '"' || name.front() == '\'');
  return std::string(quoted ? name.substr(1, name.size() - 2) : name);
}

}  // namespace

void TagName::begin(const NameTag& tag) {
  tag_ = &tag;
  matched_ = 0;
  name_.clear();
  attribute_text_ = {};
  self_closing_ = false;
  if (tag.style == NameTag::Style::attribute) scan_.begin(tag.end);
}

void TagName::be(const NameTag& tag, std::string_view name) {
  begin(tag);
  name_ = name;
}

TagName::State TagName::push(char c, Output& out) {
  switch (tag_->style) {
    case NameTag::Style::equals:
      return push_equals(c, out);
    case NameTag::Style::attribute:
      return push_attribute(c, out);
    case NameTag::Style::text:
      return tag_->end.empty() ? push_bare(c, out) : push_text(c, out);
  }
  return State::bad;
}

TagName::State TagName::push_equals(char c, Output& out) {
  if (c == '<' || c == '\n' || name_.size() >= kMaxLongName) return State::bad;
  out.hold(tag_byte(c));
  if (c != '>') {
    name_.push_back(c);
    return State::open;
  }
  name_ = bare(name_);
  return State::whole;
}

TagName::State TagName::push_attribute(char c, Output& out) {
  const bool begins = scan_.text().empty() && matched_ == 0;
  if (begins && !is_space(c) && c != '/' && c != tag_->end[0]) return State::bad;
  const AttributeScan::State state = scan_.push(c);
  if (state == AttributeScan::State::failed) return State::bad;
  matched_ = scan_.matched();
  if (state == AttributeScan::State::open) {
    if (matched_ == 0) out.hold(tag_byte(c));
    return State::open;
  }
  out.hold(tag_->end);
  attribute_text_ = scan_.text();
  self_closing_ = attribute_text_.ends_with('/');
  if (self_closing_) attribute_text_.remove_suffix(1);
  name_ = bare(attribute(attribute_text_, tag_->key).value_or(""));
  return State::whole;
}

TagName::State TagName::push_text(char c, Output& out) {
  if (c == tag_->end[matched_]) {
    if (++matched_ < tag_->end.size()) return State::open;
    out.hold(tag_->end);
    name_ = std::string(trimmed(name_));
    return State::whole;
  }
  if (matched_ > 0 || c == '<' || name_.size() >= kMaxLongName) return State::bad;
  name_.push_back(c);
  out.hold(tag_byte(c));
  return State::open;
}

// Up to the next marker or white space.
TagName::State TagName::push_bare(char c, Output& out) {
  const bool skips = name_.empty() && is_space(c);
  if (!skips && !may_be_in_name(c)) {
    const bool ends = c == '<' || c == '{' || c == '(' || is_space(c);
    return !name_.empty() && ends ? State::before : State::bad;
  }
  if (name_.size() >= kMaxLongName) return State::bad;
  if (!skips) name_.push_back(c);
  out.hold(tag_byte(c));
  return State::open;
}

}  // namespace callgate::dialect
