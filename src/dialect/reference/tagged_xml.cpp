// Calls as XML elements: the tag is a declared tool, or <use_tool> with the name inside; children are arguments.
#include <algorithm>
#include <string>
#include <vector>

#include "dialect/reference/tagged.h"
#include "dialect/reference/tagged_schema.h"
#include "dialect/reference/tagged_tag.h"
#include "dialect/reference/tagged_turn.h"
#include "dialect/reference/turn.h"
#include "json/writer.h"

namespace callgate::dialect::reference::tagged {
namespace {

using Found = CallRead::Found;

struct Element {
  std::string name;
  std::string_view text;
};
using Elements = std::vector<Element>;

// `<name>` at `at`; attributes of arguments have no meaning here.
bool read_open_tag(std::string_view text, std::size_t at, std::string& name, std::size_t& end) {
  if (!stands_at(text, at, "<")) return false;
  const std::size_t close = text.find_first_of("<>/ \n\"'", at + 1);
  if (close == std::string_view::npos || text[close] != '>') return false;
  name = text.substr(at + 1, close - at - 1);
  end = close + 1;
  return !name.empty();
}

// All of `text` as elements: an element ends at its first close tag that nothing or a tag which the parent knows follows,
// or, where there is none, at the first one that any tag follows.
bool read_elements(std::string_view text, const Schema& parent, Elements& elements) {
  const std::size_t at = skip_space(text, 0);
  if (at == text.size()) return true;
  std::string name;
  std::size_t from = 0;
  if (!read_open_tag(text, at, name, from)) return false;
  const std::string close = "</" + name + ">";
  for (const bool any_tag : {false, true}) {
    for (std::size_t end = text.find(close, from); end != std::string_view::npos;
         end = text.find(close, end + 1)) {
      const std::string_view rest = text.substr(end + close.size());
      std::string next;
      std::size_t behind = 0;
      const bool tag = read_open_tag(rest, skip_space(rest, 0), next, behind) &&
                       (any_tag || !parent.lists_members() || !parent.member(next).says_nothing());
      if (!tag && !is_blank(rest)) continue;
      elements.push_back({name, text.substr(from, end - from)});
      return read_elements(rest, parent, elements);
    }
  }
  return false;
}

bool append(std::string& out, std::string_view text, const Schema& place);

bool append_array(std::string& out, const Elements& elements, const Schema& each) {
  bool good = true;
  for (const Element& element : elements) {
    out += &element == elements.data() ? '[' : ',';
    good = append(out, element.text, each) && good;
  }
  out += ']';
  return good;
}

bool append_object(std::string& out, const Elements& elements, const Schema& place) {
  bool good = true;
  std::vector<std::string> done;
  out += '{';
  for (const Element& element : elements) {
    if (std::find(done.begin(), done.end(), element.name) != done.end()) continue;
    Elements same;
    for (const Element& other : elements) {
      if (other.name == element.name) same.push_back(other);
    }
    if (!done.empty()) out += ',';
    json::append_string(out, element.name);
    out += ':';
    const Schema member = place.member(element.name);
    const Schema each = member.kinds().contains("array") ? member.element() : member;
    good = (same.size() > 1 ? append_array(out, same, each) : append(out, element.text, member)) &&
           good;
    done.push_back(element.name);
  }
  out += '}';
  return good;
}

bool append(std::string& out, std::string_view text, const Schema& place) {
  const Kinds kinds = place.kinds();
  const bool nests =
      !kinds.contains("string") && (kinds.contains("object") || kinds.contains("array"));
  Elements elements;
  if (!nests || is_blank(text) || !read_elements(text, place, elements)) {
    const auto json = typed(text, kinds);
    if (json) out += *json;
    return json.has_value();
  }
  const bool items = std::all_of(elements.begin(), elements.end(),
                                 [](const Element& each) { return each.name == "item"; });
  const bool is_array = kinds.contains("array") && (items || !kinds.contains("object"));
  return is_array ? append_array(out, elements, place.element())
                  : append_object(out, elements, place);
}

class Reading {
 public:
  Reading(const ReferenceCase& turn, const std::vector<std::string>& openers, bool name_inside)
      : turn_(turn), openers_(openers), name_inside_(name_inside) {}

  CallRead read(std::size_t at, const std::string& opener) {
    const std::string_view text = turn_.text;
    const std::string tool = opener.substr(1);
    const Tag tag{.open = opener, .style = Tag::Style::attribute};
    const TagRead open = read_tag(tag, text, at + opener.size());
    if (open.state == TagRead::State::bad) return {.found = Found::text};
    if (open.state != TagRead::State::whole) return {};
    name_ = name_inside_ ? open.name : tool;
    attributes_ = open.attributes;
    if (open.self_closing) return call({}, open.end);
    const std::size_t body = skip_space(text, open.end);
    if (body < text.size() && text[body] != '<' && text[body] != '{') {
      return {.found = Found::text};
    }
    const std::string close = "</" + tool + ">";
    for (std::size_t end = text.find(close, body); end != std::string_view::npos;
         end = text.find(close, end + 1)) {
      const std::string_view inside = text.substr(open.end, end - open.end);
      const bool shows_call = std::any_of(
          openers_.begin(), openers_.end(),
          [&](const std::string& each) { return inside.find(each) != std::string_view::npos; });
      if (shows_call) return {};
      const CallRead read = call(inside, end + close.size());
      if (read.found == Found::call) return read;
    }
    return {};
  }

 private:
  CallRead call(std::string_view body, std::size_t end) {
    CallRead read{.end = end, .name = name_};
    if (trim(body).starts_with('{')) {
      if (name_inside_ || !is_json(body) || body.find("\"arg") != std::string_view::npos) return {};
      read.arguments = trim(body);
      read.found = Found::call;
      return read;
    }
    if (read.name.empty()) {
      body = trim(body);
      const std::size_t close = body.find("</name>");
      if (!body.starts_with("<name>") || close == std::string_view::npos) return {};
      read.name = trim(body.substr(6, close - 6));
      body.remove_prefix(close + 7);
    }
    const Schema schema(turn_.tools, read.name);
    Elements elements;
    if (read.name.empty() || !read_elements(body, schema, elements)) return {};
    const bool wrapped = elements.size() == 1 && (schema.is_wrapped_by(elements[0].name) ||
                                                  elements[0].name.starts_with("arg"));
    if (wrapped) return {};
    if (!append_object(read.arguments, elements, schema)) return {};
    read.arguments.pop_back();
    for (const auto& [key, value] : attributes_) {
      if (name_inside_ && key == "name") continue;
      if (read.arguments.size() > 1) read.arguments += ',';
      json::append_string(read.arguments, key);
      const auto json = typed(value, schema.member(key).kinds());
      if (!json) return {};
      read.arguments += ":" + *json;
    }
    read.arguments += '}';
    read.found = Found::call;
    return read;
  }

  const ReferenceCase& turn_;
  const std::vector<std::string>& openers_;
  bool name_inside_;
  std::string name_;
  std::map<std::string, std::string, std::less<>> attributes_;
};

bool read(const ReferenceCase& turn, const std::vector<std::string>& tags, bool name_inside,
          EventLog& log) {
  if (may_hold_bare_json(turn.text)) return false;
  TurnGrammar grammar{.drops_space_before_calls = true};
  for (const std::string& tag : tags) grammar.openers.push_back("<" + tag);
  const auto read_call = [&](std::size_t at) -> CallRead {
    if (follows_backtick(turn.text, at)) return {};
    std::string longest;
    for (const std::string& opener : grammar.openers) {
      if (opener.size() > longest.size() && stands_at(turn.text, at, opener)) longest = opener;
    }
    return Reading(turn, grammar.openers, name_inside).read(at, longest);
  };
  return read_turn(turn, grammar, read_call, log);
}

}  // namespace

bool read_generic_xml(const ReferenceCase& turn, EventLog& log) {
  std::vector<std::string> tags;
  for (const ToolSpec& tool : turn.tools) tags.push_back(tool.name);
  return read(turn, tags, false, log);
}

bool read_use_tool(const ReferenceCase& turn, EventLog& log) {
  return read(turn, {"use_tool"}, true, log);
}

}  // namespace callgate::dialect::reference::tagged
