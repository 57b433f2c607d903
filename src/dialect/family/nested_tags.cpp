#include "dialect/family/nested_tags.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "dialect/family/tag_attributes.h"
#include "dialect/family/tagged_value.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxNesting = 64;
constexpr int kMaxUnlisted = 64;

std::size_t skip_tag_space(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kSpace, at), text.size());
}

struct OpenTag {
  std::string_view name;
  std::string_view attributes;
  std::size_t end = 0;  // behind its `>`
  bool self_closing = false;
};

// The opening tag at `at`. False: none stands there.
bool read_open_tag(std::string_view text, std::size_t at, std::string_view prefix, OpenTag& tag) {
  if (!text.substr(at).starts_with(prefix)) return false;
  at += prefix.size();
  if (at >= text.size() || text[at] != '<') return false;
  std::size_t name_end = ++at;
  while (name_end < text.size() && is_tag_name_byte(text[name_end])) ++name_end;
  tag.name = text.substr(at, name_end - at);
  if (tag.name.empty()) return false;
  AttributeScan scan;
  scan.begin(">");
  for (std::size_t i = name_end; i < text.size(); ++i) {
    const AttributeScan::State state = scan.push(text[i]);
    if (state == AttributeScan::State::failed) return false;
    if (state == AttributeScan::State::open) continue;
    tag.attributes = text.substr(name_end, i - name_end);
    tag.self_closing = tag.attributes.ends_with('/');
    if (tag.self_closing) tag.attributes.remove_suffix(1);
    tag.end = i + 1;
    std::string_view rest = tag.attributes;
    std::string_view key;
    std::string_view value;
    while (take_attribute(rest, key, value)) continue;
    return trimmed(rest).empty();
  }
  return false;
}

// What stands behind a close tag.
enum class Behind : std::uint8_t { known, other_tag, text };

Behind what_is_behind(std::string_view text, std::size_t at, const SchemaPlace& parent) {
  at = skip_tag_space(text, at);
  OpenTag next;
  if (at == text.size()) return Behind::known;
  if (!read_open_tag(text, at, {}, next)) return Behind::text;
  const bool known = parent.member_name(0).empty() || !parent.member(next.name).is_nothing();
  return known ? Behind::known : Behind::other_tag;
}

// Without a prefix the first close tag counts which is the last thing or has a tag behind it that the parent knows. If
// none does, another tag is that of a parameter which the schema does not list; to find that out all of the text is
// read, so there may be `unlisted` of them.
std::size_t find_plain_close(std::string_view text, std::size_t at, std::string_view close,
                             const SchemaPlace& parent, int& unlisted) {
  std::size_t before_other = std::string_view::npos;
  for (at = text.find(close, at); at != std::string_view::npos; at = text.find(close, at + 1)) {
    const Behind behind = what_is_behind(text, at + close.size(), parent);
    if (behind == Behind::known) return at;
    if (behind == Behind::other_tag) before_other = std::min(before_other, at);
  }
  if (unlisted == 0) return std::string_view::npos;
  --unlisted;
  return before_other;
}

// Where the close tag of an element begins, or npos.
std::size_t find_close(std::string_view text, std::size_t at, std::string_view prefix,
                       std::string_view name, const SchemaPlace& parent, int& unlisted) {
  std::string close(prefix);
  close.append("</").append(name).push_back('>');
  if (prefix.empty()) return find_plain_close(text, at, close, parent, unlisted);
  std::string open(prefix);
  open.append("<").append(name).push_back('>');
  std::size_t depth = 1;
  std::size_t next_open = text.find(open, at);
  for (at = text.find(close, at); at != std::string_view::npos; at = text.find(close, at + 1)) {
    for (; next_open < at; next_open = text.find(open, next_open + 1)) ++depth;
    if (--depth == 0) return at;
  }
  return at;
}

bool is_array(KindSet kinds, const std::vector<TagElement>& elements) {
  const bool items = std::all_of(elements.begin(), elements.end(),
                                 [](const TagElement& element) { return element.name == "item"; });
  return kinds.has(ValueKind::array) ? items || !kinds.has(ValueKind::object)
                                     : kinds.empty() && items;
}

}  // namespace

bool is_tag_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
}

bool read_elements(std::string_view text, std::string_view prefix, const SchemaPlace& parent,
                   std::vector<TagElement>& elements) {
  int unlisted = kMaxUnlisted;
  for (std::size_t at = skip_tag_space(text, 0); at < text.size(); at = skip_tag_space(text, at)) {
    OpenTag tag;
    if (!read_open_tag(text, at, prefix, tag)) return false;
    if (tag.self_closing) {
      elements.push_back({tag.name, tag.attributes, text.substr(tag.end, 0)});
      at = tag.end;
      continue;
    }
    const std::size_t close = find_close(text, tag.end, prefix, tag.name, parent, unlisted);
    if (close == std::string_view::npos) return false;
    elements.push_back({tag.name, tag.attributes, text.substr(tag.end, close - tag.end)});
    at = close + prefix.size() + tag.name.size() + 3;
  }
  return true;
}

void append_members(std::string& out, const std::vector<TagElement>& elements,
                    std::string_view prefix, const SchemaPlace& parent, std::size_t depth) {
  // The elements of each name, in the order in which the names came.
  std::vector<std::vector<const TagElement*>> groups;
  std::unordered_map<std::string_view, std::size_t> group_of;
  for (const TagElement& element : elements) {
    const auto [at, is_new] = group_of.emplace(element.name, groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(&element);
  }
  out.push_back('{');
  for (const auto& group : groups) {
    if (&group != groups.data()) out.push_back(',');
    json::append_string(out, group[0]->name);
    out.push_back(':');
    const SchemaPlace place = parent.member(group[0]->name);
    if (group.size() == 1) {
      append_element(out, group[0]->text, prefix, place, depth + 1);
      continue;
    }
    const SchemaPlace each = place.kinds().has(ValueKind::array) ? place.element() : place;
    char before = '[';
    for (const TagElement* element : group) {
      out.push_back(before);
      before = ',';
      append_element(out, element->text, prefix, each, depth + 1);
    }
    out.push_back(']');
  }
  out.push_back('}');
}

void append_raw_value(std::string& out, std::string_view text, KindSet kinds) {
  if (kinds.has(ValueKind::string) || kinds.empty()) {
    const bool null = kinds.has(ValueKind::null) && text == "null";
    if (null) {
      out += text;
    } else {
      json::append_string(out, text);
    }
    return;
  }
  append_typed(out, text, kinds);
}

void append_element(std::string& out, std::string_view text, std::string_view prefix,
                    const SchemaPlace& place, std::size_t depth) {
  const KindSet kinds = place.kinds();
  const bool nests = kinds.empty()
                         ? !prefix.empty()
                         : !kinds.has(ValueKind::string) &&
                               (kinds.has(ValueKind::object) || kinds.has(ValueKind::array));
  std::vector<TagElement> elements;
  if (!nests || depth > kMaxNesting || trimmed(text).empty() ||
      !read_elements(text, prefix, place, elements)) {
    append_raw_value(out, text, kinds);
    return;
  }
  if (!is_array(kinds, elements)) {
    append_members(out, elements, prefix, place, depth + 1);
    return;
  }
  char before = '[';
  for (const TagElement& element : elements) {
    out.push_back(before);
    before = ',';
    append_element(out, element.text, prefix, place.element(), depth + 1);
  }
  out.push_back(']');
}

}  // namespace callgate::dialect
