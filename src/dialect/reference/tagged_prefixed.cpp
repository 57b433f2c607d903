// MiniMax-M3: every tag carries a prefix, the tag of an argument is its name, tags inside tags are members.
#include <set>
#include <string>
#include <vector>

#include "dialect/reference/tagged.h"
#include "dialect/reference/tagged_schema.h"
#include "dialect/reference/tagged_tag.h"
#include "dialect/reference/tagged_turn.h"
#include "json/writer.h"

namespace callgate::dialect::reference::tagged {
namespace {

using Found = CallRead::Found;

const std::string kPrefix = "]<]minimax[>[";
const std::string kSection = kPrefix + "<tool_call>";
const std::string kSectionClose = kPrefix + "</tool_call>";
const std::string kCall = kPrefix + "<invoke";
const std::string kCallClose = kPrefix + "</invoke>";

struct Element {
  std::string name;
  std::string_view text;
};

class Reading {
 public:
  explicit Reading(const ReferenceCase& turn)
      : text_(turn.text), tools_(turn.tools), cut_off_(turn.cut_off) {}

  CallRead read(std::size_t at) {
    if (stands_at(text_, at, kSection)) at = skip_space(text_, at + kSection.size());
    if (stands_at(text_, at, kSectionClose)) return {.found = Found::empty_section, .end = at};
    if (!stands_at(text_, at, kCall)) {
      const bool ends = kCall.starts_with(text_.substr(at));
      if (!ends && stands_at(text_, at, "]")) return {};
      return {.found = Found::text};
    }
    const Tag tag{.open = kCall, .style = Tag::Style::attribute};
    const TagRead read = read_tag(tag, text_, at + kCall.size());
    const bool odd =
        text_.substr(at).find_first_of("\n]", kPrefix.size()) != std::string_view::npos;
    if (read.state == TagRead::State::ends && odd) return {};
    if (read.state == TagRead::State::ends) return {.found = Found::text};
    if (text_.substr(at, read.end - at).find('\n') != std::string_view::npos) return {};
    if (read.name.find_first_of("<>") != std::string::npos) return {};
    if (read.state != TagRead::State::whole || read.name.empty() || read.self_closing) return {};
    name_ = read.name;
    return read_body(read.end);
  }

 private:
  CallRead call(std::string arguments, CallOutcome outcome, std::size_t end) const {
    return {.found = Found::call,
            .end = end,
            .name = name_,
            .arguments = std::move(arguments),
            .outcome = outcome};
  }

  CallRead read_body(std::size_t at) {
    const Schema schema(tools_, name_);
    std::string arguments;
    std::set<std::string, std::less<>> keys;
    for (;;) {
      at = skip_space(text_, at);
      const std::string all = arguments.empty() ? "{}" : arguments + "}";
      if (at == text_.size()) {
        if (arguments.empty()) return call("", CallOutcome::truncated, at);
        if (cut_off_ || schema.misses(keys)) return call(arguments, CallOutcome::truncated, at);
        return call(all, CallOutcome::complete, at);
      }
      if (stands_at(text_, at, kCallClose)) {
        return call(all, CallOutcome::complete, at + kCallClose.size());
      }
      if (stands_at(text_, at, kSectionClose)) return call(all, CallOutcome::complete, at);
      std::string key;
      std::size_t from = 0;
      if (!read_name(text_, at, key, from)) return {};
      if (arguments.empty() && schema.is_wrapped_by(key)) return {};
      keys.insert(key);
      arguments += arguments.empty() ? '{' : ',';
      json::append_string(arguments, key);
      arguments += ':';
      const Schema place = schema.member(key);
      const Kinds kinds = place.kinds();
      const std::string close = kPrefix + "</" + key + ">";
      const std::size_t end = find_close(text_, from, key, kinds.contains("string"));
      if (end == std::string_view::npos) {
        const std::string_view rest = text_.substr(from);
        const bool plain = kinds.contains("string") && !kinds.contains("null") &&
                           rest.find(']') == std::string_view::npos;
        if (!plain) return {};
        return call(arguments + cut(rest, kinds), CallOutcome::truncated, text_.size());
      }
      const std::string_view value = text_.substr(from, end - from);
      if (begins_argument(value, schema)) return {};
      if (kinds.contains("string")) {
        arguments += typed(value, kinds).value_or("");
      } else if (!append(arguments, value, place)) {
        return {};
      }
      at = end + close.size();
    }
  }

  // The tag of an argument in a text, whose own close tag may be missing.
  static bool begins_argument(std::string_view value, const Schema& schema) {
    const std::string open = kPrefix + "<";
    for (std::size_t at = value.find(open); at != std::string_view::npos;
         at = value.find(open, at + 1)) {
      std::string key;
      std::size_t end = 0;
      if (read_name(value, at, key, end) && !schema.member(key).says_nothing()) return true;
    }
    return false;
  }

  // `<key>` behind a prefix.
  static bool read_name(std::string_view text, std::size_t at, std::string& key, std::size_t& end) {
    if (!stands_at(text, at, kPrefix + "<")) return false;
    at += kPrefix.size() + 1;
    const std::size_t close = text.find('>', at);
    if (close == std::string_view::npos) return false;
    key = text.substr(at, close - at);
    end = close + 1;
    return !key.empty() && key.find_first_of("</ \n=\"']") == std::string::npos;
  }

  // The close tag of an element, or npos where it is not clear. In a text it is the first one outside the calls that the
  // text shows; elsewhere tags pair.
  static std::size_t find_close(std::string_view text, std::size_t at, const std::string& key,
                                bool is_text) {
    const std::string open = kPrefix + "<" + key + ">";
    const std::string close = kPrefix + "</" + key + ">";
    int depth = 1;
    for (; at < text.size(); ++at) {
      if (is_text) {
        if (stands_at(text, at, kCall)) {
          const std::string_view tag = text.substr(at + kCall.size());
          const std::size_t end = tag.find_first_of("<>\n");
          const bool good = tag.starts_with(' ') && end < tag.size() && tag[end] == '>';
          if (!good) return std::string_view::npos;
        }
        if (stands_at(text, at, kSection) || stands_at(text, at, kCall)) ++depth;
        const bool closes = stands_at(text, at, kSectionClose) || stands_at(text, at, kCallClose);
        if (closes && --depth == 0) return std::string_view::npos;
        if (depth == 1 && stands_at(text, at, close)) return at;
        continue;
      }
      if (stands_at(text, at, kSectionClose) || stands_at(text, at, kCallClose)) break;
      if (stands_at(text, at, open)) ++depth;
      if (stands_at(text, at, close) && --depth == 0) return at;
    }
    return std::string_view::npos;
  }

  static bool read_elements(std::string_view text, std::vector<Element>& elements) {
    for (std::size_t at = skip_space(text, 0); at < text.size(); at = skip_space(text, at)) {
      Element element;
      std::size_t from = 0;
      if (!read_name(text, at, element.name, from)) return false;
      const std::size_t end = find_close(text, from, element.name, false);
      if (end == std::string_view::npos) return false;
      element.text = text.substr(from, end - from);
      elements.push_back(element);
      at = end + kPrefix.size() + element.name.size() + 3;
    }
    return !elements.empty();
  }

  static bool append(std::string& out, std::string_view text, const Schema& place) {
    const Kinds kinds = place.kinds();
    const bool nests = !kinds.contains("string") &&
                       (kinds.empty() || kinds.contains("object") || kinds.contains("array"));
    std::vector<Element> elements;
    const bool tags = text.find(kPrefix) != std::string_view::npos;
    if (tags && !nests) return false;
    if (!tags) {
      const auto json = typed(text, kinds);
      if (json) out += *json;
      return json.has_value();
    }
    if (!read_elements(text, elements)) return false;
    bool items = true;
    for (const Element& element : elements) items = items && element.name == "item";
    const bool is_array =
        kinds.contains("array") ? items || !kinds.contains("object") : kinds.empty() && items;
    return is_array ? append_array(out, elements, place.element())
                    : append_object(out, elements, place);
  }

  static bool append_array(std::string& out, const std::vector<Element>& elements,
                           const Schema& each) {
    bool good = true;
    for (const Element& element : elements) {
      out += &element == elements.data() ? '[' : ',';
      good = append(out, element.text, each) && good;
    }
    out += ']';
    return good;
  }

  // Elements of one name are an array, at the place of the first.
  static bool append_object(std::string& out, const std::vector<Element>& elements,
                            const Schema& place) {
    bool good = true;
    std::vector<std::string> done;
    for (const Element& element : elements) {
      if (std::find(done.begin(), done.end(), element.name) != done.end()) continue;
      std::vector<Element> same;
      for (const Element& other : elements) {
        if (other.name == element.name) same.push_back(other);
      }
      out += done.empty() ? '{' : ',';
      json::append_string(out, element.name);
      out += ':';
      const Schema member = place.member(element.name);
      const Schema each = member.kinds().contains("array") ? member.element() : member;
      good =
          (same.size() > 1 ? append_array(out, same, each) : append(out, element.text, member)) &&
          good;
      done.push_back(element.name);
    }
    out += '}';
    return good;
  }

  std::string_view text_;
  std::span<const ToolSpec> tools_;
  bool cut_off_;
  std::string name_;
};

}  // namespace

bool read_minimax_m3(const ReferenceCase& turn, EventLog& log) {
  return read_turn(
      turn,
      {.think_open = "<mm:think>",
       .think_close = "</mm:think>",
       .openers = {kSection, kCall},
       .closers = {kSectionClose},
       .tails = {"[e~["},
       .special = true},
      [&](std::size_t at) { return Reading(turn).read(at); }, log);
}

}  // namespace callgate::dialect::reference::tagged
