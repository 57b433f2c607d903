#include "dialect/reference/tagged_call.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "dialect/reference/tagged_schema.h"
#include "json/writer.h"

namespace callgate::dialect::reference::tagged {
namespace {

std::size_t line_end_at_start(std::string_view text) {
  return text.starts_with("\r\n") ? 2 : text.starts_with('\n') ? 1 : 0;
}

using Found = CallRead::Found;

const CallRead kText{.found = Found::text};

class Reading {
 public:
  Reading(const ReferenceCase& turn, const Markers& markers)
      : text_(turn.text), tools_(turn.tools), cut_off_(turn.cut_off), markers_(markers) {}

  CallRead read(std::size_t at) {
    std::string last;
    for (;;) {
      const std::string lead = longest_at(text_, at, markers_.leads);
      if (lead.empty()) break;
      if (lead == last) return kText;
      last = lead;
      at = skip_space(text_, at + lead.size());
    }
    if (at == text_.size()) return markers_.hides_cut_tag ? CallRead{} : kText;
    if (!last.empty() && !longest_at(text_, at, markers_.section_closes).empty()) {
      return {.found = Found::empty_section, .end = at};
    }
    if (!last.empty() && text_[at] == '{') return read_json_call(at);
    if (!last.empty() && text_[at] == '[') return {};
    if (markers_.hides_cut_tag && begins_any(at, body_markers())) return {};
    if (!stands_at(text_, at, markers_.call.open)) return kText;
    if (is_bare()) {
      const std::size_t body = skip_space(text_, at + markers_.call.open.size());
      if (body < text_.size() && text_[body] == '{') return read_json_call(body);
      if (body < text_.size() && text_[body] == '[') return {};
    }
    const TagRead tag = read_tag(markers_.call, text_, at + markers_.call.open.size());
    switch (tag.state) {
      case TagRead::State::no_opinion:
        return {};
      case TagRead::State::ends:
        if (markers_.hides_cut_tag) return {};
        return kText;
      case TagRead::State::bad:
        return kText;
      case TagRead::State::whole:
        break;
    }
    if (tag.name.empty()) return kText;
    name_ = tag.name;
    if (tag.self_closing) return call("{}", CallOutcome::complete, tag.end);
    return read_body(tag.end);
  }

 private:
  CallRead call(std::string arguments, CallOutcome outcome, std::size_t end) const {
    return {.found = Found::call,
            .end = end,
            .name = name_,
            .arguments = std::move(arguments),
            .outcome = outcome};
  }
  CallRead complete(std::size_t end) const {
    return call(arguments_.empty() ? "{}" : arguments_ + "}", CallOutcome::complete, end);
  }
  CallRead truncated() const { return call(arguments_, CallOutcome::truncated, text_.size()); }
  // The turn ends, and the call's close marker did not come.
  CallRead unclosed(std::size_t end, bool cut_off) const {
    if (!cut_off && !Schema(tools_, name_).misses(keys_)) return complete(end);
    return call(arguments_, CallOutcome::truncated, end);
  }
  bool is_bare() const { return markers_.call.style == Tag::Style::bare; }
  // k=v, f(...), or the end of a key that has no beginning.
  bool is_odd_body(std::size_t at) const {
    if (!is_bare()) return false;
    if (text_[at] == '(' || stands_at(text_, at, markers_.parameter.end)) return true;
    if (begins_any(at, {markers_.parameter.end})) return true;
    const std::size_t end = text_.find_first_of("=<\n ", at);
    return end != std::string_view::npos && text_[end] == '=';
  }

  // The turn ends inside one of these.
  bool begins_any(std::size_t at, const Texts& list) const {
    return std::any_of(list.begin(), list.end(), [&](const std::string& each) {
      return each.size() > text_.size() - at && each.starts_with(text_.substr(at));
    });
  }
  Texts body_markers() const {
    Texts all = {markers_.parameter.open, markers_.call_close, markers_.value_close,
                 markers_.call.open};
    for (const Texts* list : {&markers_.fillers, &markers_.section_closes, &markers_.leads}) {
      all.insert(all.end(), list->begin(), list->end());
    }
    return all;
  }

  CallRead read_body(std::size_t at) {
    for (;;) {
      at = skip_space(text_, at);
      if (at == text_.size()) return arguments_.empty() ? truncated() : unclosed(at, cut_off_);
      const std::string filler = longest_at(text_, at, markers_.fillers);
      if (text_[at] == '{' && arguments_.empty()) return read_json_body(at);
      if (is_odd_body(at)) return {};
      if (stands_at(text_, at, markers_.parameter.open)) {
        if (CallRead end; !read_argument(at, end)) return end;
      } else if (stands_at(text_, at, markers_.call_close)) {
        return complete(at + markers_.call_close.size());
      } else if (!longest_at(text_, at, markers_.section_closes).empty()) {
        return complete(at);
      } else if (stands_at(text_, at, markers_.value_close)) {
        if (arguments_.empty()) return {};
        at += markers_.value_close.size();
      } else if (!filler.empty()) {
        at += filler.size();
      } else if (begins_any(at, {markers_.parameter.open}) ||
                 (arguments_.empty() && begins_any(at, markers_.fillers))) {
        return truncated();
      } else if (arguments_.empty() && begins_any(at, {markers_.value_close}) &&
                 !begins_any(at, {markers_.call_close})) {
        return {};
      } else if (arguments_.empty() && !begins_any(at, close_markers()) &&
                 begins_any(at, body_markers())) {
        return {};
      } else if (begins_any(at, body_markers())) {
        return unclosed(text_.size(), cut_off_);
      } else if (ends_turn(at)) {
        return unclosed(at, false);
      } else {
        const bool odd = !arguments_.empty() || !longest_at(text_, at, body_markers()).empty() ||
                         !longest_at(text_, at, markers_.tails).empty();
        return {.found = odd ? Found::no_opinion : Found::text};
      }
    }
  }

  bool ends_turn(std::size_t at) const {
    at = skip_space(text_, at);
    const std::string tail = longest_at(text_, at, markers_.tails);
    return at == text_.size() || (!tail.empty() && ends_turn(at + tail.size()));
  }

  // False: the call is over.
  bool read_argument(std::size_t& at, CallRead& end) {
    const TagRead tag = read_tag(markers_.parameter, text_, at + markers_.parameter.open.size());
    if (tag.state == TagRead::State::ends) end = truncated();
    if (tag.state != TagRead::State::whole || tag.name.empty()) return false;
    if (arguments_.empty() && Schema(tools_, name_).is_wrapped_by(tag.name)) return false;
    keys_.insert(tag.name);
    arguments_ += arguments_.empty() ? '{' : ',';
    json::append_string(arguments_, tag.name);
    arguments_ += ':';
    kinds_ = kinds_of(tag);
    if (odd_type_) return false;
    at = tag.end;
    if (!markers_.value_open.empty()) {
      at = skip_space(text_, at);
      if (!stands_at(text_, at, markers_.value_open)) return false;
      at += markers_.value_open.size();
    }
    if (tag.self_closing) return append({});
    if (stands_at(text_, at, markers_.raw_open)) return read_raw(at);
    return read_value(at, end);
  }

  Kinds kinds_of(const TagRead& tag) {
    json_ = false;
    const auto type = tag.attributes.find(markers_.type_key);
    if (type == tag.attributes.end()) return Schema(tools_, name_).member(tag.name).kinds();
    json_ = type->second == "false";
    if (type->second == "true") return {"string"};
    constexpr std::string_view kTypes[] = {"false",   "null",   "integer", "number",
                                           "boolean", "object", "array",   "string"};
    odd_type_ = std::find(std::begin(kTypes), std::end(kTypes), type->second) == std::end(kTypes);
    return {type->second};
  }

  bool append(std::string_view value) {
    const auto json = json_ ? typed_json(value) : typed(value, kinds_);
    if (json) arguments_ += *json;
    return json.has_value();
  }

  bool read_raw(std::size_t& at) {
    at += markers_.raw_open.size();
    const std::size_t close = text_.find(markers_.raw_close, at);
    if (close == std::string_view::npos) return false;
    const std::size_t behind = close + markers_.raw_close.size();
    // All that ends in the marker is data but the last one.
    std::size_t last = close;
    while (stands_at(text_, last + 1, markers_.raw_close)) ++last;
    if (last != close || !stands_at(text_, behind, markers_.value_close)) return false;
    const bool good = append(text_.substr(at, close - at));
    at = behind;
    return good && behind_value(at + markers_.value_close.size()) == Verdict::ends;
  }

  bool read_value(std::size_t& at, CallRead& end) {
    const std::size_t from = at;
    switch (find_value_end(at)) {
      case Verdict::no_opinion:
        return false;
      case Verdict::data:  // up to the end of the turn
        end = cut_value(from);
        return false;
      case Verdict::ends:
        break;
    }
    std::string_view value = text_.substr(from, at - from);
    if (markers_.newlines) {
      value.remove_prefix(line_end_at_start(value));
      if (value.ends_with("\n")) value.remove_suffix(value.ends_with("\r\n") ? 2 : 1);
    }
    return append(value);
  }

  CallRead cut_value(std::size_t from) {
    std::string_view value = text_.substr(from);
    if (markers_.newlines) value.remove_prefix(line_end_at_start(value));
    const Texts closes = close_markers();
    for (std::size_t i = value.find('<'); i != std::string_view::npos; i = value.find('<', i + 1)) {
      const std::size_t at = from + (text_.size() - from - value.size()) + i;
      if (begins_any(at, closes)) {
        value = value.substr(0, i);
        break;
      }
      if (begins_any(at, body_markers()) || begins_any(at, {markers_.raw_open})) return {};
    }
    const bool text = !json_ && (kinds_.empty() || kinds_.contains("string"));
    if (!text && value.find_first_of("\"\n\r\t\x01") != std::string_view::npos) return {};
    if (json_) {
      arguments_ += value;
    } else if (kinds_.contains("null") && kinds_.contains("string")) {
      return {};
    } else {
      arguments_ += cut(value, kinds_);
    }
    return truncated();
  }
  Texts close_markers() const {
    Texts all = markers_.section_closes;
    all.push_back(markers_.value_close);
    all.push_back(markers_.call_close);
    return all;
  }

  enum class Verdict { ends, data, no_opinion };

  // Moves `at` to the end of the value. Data: it has none.
  Verdict find_value_end(std::size_t& at) const {
    int shown = 0;
    for (; at < text_.size(); ++at) {
      if (stands_at(text_, at, markers_.value_close)) {
        const Verdict verdict = behind_value(at + markers_.value_close.size());
        if (shown == 0 && verdict != Verdict::data) return verdict;
      } else if (stands_at(text_, at, markers_.call_close) ||
                 !longest_at(text_, at, markers_.section_closes).empty()) {
        const bool call = stands_at(text_, at, markers_.call_close);
        const Verdict verdict = behind_missing(at);
        if (shown > 0 && (!call || verdict == Verdict::ends || closes_to_the_end(at))) {
          return Verdict::no_opinion;
        }
        if (shown > 0) {
          --shown;
        } else if (verdict != Verdict::data) {
          return verdict;
        }
      } else if (is_bare() && shown == 0 && closes_like_a_key(at)) {
        return Verdict::no_opinion;
      } else if (shows_call(at)) {
        ++shown;
      } else if (stands_at(text_, at, markers_.parameter.open) && shown == 0 &&
                 std::string_view(" \t\"'`([").find(text_[at - 1]) == std::string_view::npos) {
        return Verdict::no_opinion;
      }
    }
    return shown == 0 ? Verdict::data : Verdict::no_opinion;
  }

  // The close marker of a key, and what may stand behind a value.
  bool closes_like_a_key(std::size_t at) const {
    const std::string& end = markers_.parameter.end;
    if (begins_any(at, {end})) return true;
    if (!stands_at(text_, at, end)) return false;
    const std::size_t next = skip_space(text_, at + end.size());
    return next == text_.size() || text_[next] == '<';
  }

  // Only close markers follow, the last one perhaps cut.
  bool closes_to_the_end(std::size_t at, bool perhaps_cut = true) const {
    at = skip_space(text_, at);
    const std::string close = longest_at(text_, at, close_markers());
    if (at == text_.size() || (perhaps_cut && begins_any(at, close_markers())) || ends_turn(at)) {
      return true;
    }
    return !close.empty() && closes_to_the_end(at + close.size(), perhaps_cut);
  }

  // A name and the opener of an argument.
  bool shows_call(std::size_t at) const {
    if (!stands_at(text_, at, markers_.call.open)) return false;
    const TagRead tag = read_tag(markers_.call, text_, at + markers_.call.open.size());
    if (tag.state != TagRead::State::whole) return false;
    if (tag.name.find_first_of("<>\n") != std::string::npos) return false;
    at = skip_space(text_, tag.end);
    const std::string filler = longest_at(text_, at, markers_.fillers);
    if (!filler.empty()) at = skip_space(text_, at + filler.size());
    return stands_at(text_, at, markers_.parameter.open);
  }

  // What a close marker of a value is by what stands behind it. Markers that only blanks part are words of a text.
  Verdict behind_value(std::size_t from) const {
    const std::size_t at = skip_space(text_, from);
    if (at == text_.size()) return Verdict::ends;
    const std::string_view space = text_.substr(from, at - from);
    const bool apart = !space.empty() && space.find('\n') == std::string_view::npos;
    const std::string marker = longest_at(text_, at, body_markers());
    if (marker.empty()) {
      if (ends_turn(at)) return apart ? Verdict::no_opinion : Verdict::ends;
      if (!longest_at(text_, at, markers_.tails).empty()) return Verdict::no_opinion;
      if (begins_any(at, markers_.tails)) return Verdict::no_opinion;
      if (!begins_any(at, body_markers())) return Verdict::data;
      return apart ? Verdict::no_opinion : Verdict::ends;
    }
    const std::size_t behind = at + marker.size();
    if (apart && marker == markers_.parameter.open) {
      const TagRead tag = read_tag(markers_.parameter, text_, behind);
      if (tag.state != TagRead::State::whole) return Verdict::no_opinion;
      if (tag.name.find_first_of("<>\n") != std::string::npos) return Verdict::no_opinion;
      const bool known = !Schema(tools_, name_).member(tag.name).says_nothing();
      return known ? Verdict::ends : Verdict::data;
    }
    if (apart) return closes_to_the_end(at, false) ? Verdict::ends : Verdict::no_opinion;
    if (marker == markers_.call_close) return Verdict::ends;
    if (marker == markers_.parameter.open) {
      const TagRead tag = read_tag(markers_.parameter, text_, behind);
      const bool good = tag.state == TagRead::State::whole || tag.state == TagRead::State::ends;
      return good ? Verdict::ends : Verdict::no_opinion;
    }
    const bool more = marker == markers_.value_close ||
                      !longest_at(marker, 0, markers_.fillers).empty() ||
                      !longest_at(marker, 0, markers_.section_closes).empty();
    return more && behind_value(behind) == Verdict::ends ? Verdict::ends : Verdict::no_opinion;
  }

  // The same for a close marker of the call or the section inside a value.
  Verdict behind_missing(std::size_t at) const {
    for (std::string last;;) {
      Texts closes = markers_.section_closes;
      closes.push_back(markers_.call_close);
      const std::string close = longest_at(text_, at, closes);
      if (close.empty()) break;
      if (close == last) return Verdict::no_opinion;
      last = close;
      const std::size_t from = at + close.size();
      at = skip_space(text_, from);
      const std::string_view space = text_.substr(from, at - from);
      const bool apart = !space.empty() && space.find('\n') == std::string_view::npos;
      if (ends_turn(at)) return apart ? Verdict::no_opinion : Verdict::ends;
      if (apart) return Verdict::data;
      if (close != markers_.call_close) return Verdict::no_opinion;
    }
    const bool marker = !longest_at(text_, at, body_markers()).empty() ||
                        !longest_at(text_, at, markers_.tails).empty() ||
                        begins_any(at, body_markers()) || begins_any(at, markers_.tails);
    return marker ? Verdict::no_opinion : Verdict::data;
  }

  // The arguments as one JSON object.
  CallRead read_json_body(std::size_t at) {
    json::Reader in(text_.substr(at));
    const std::string body(in.raw());
    if (in.failed()) return {};
    at = skip_space(text_, at + in.offset());
    if (!stands_at(text_, at, markers_.call_close)) return {};
    return call(body, CallOutcome::complete, at + markers_.call_close.size());
  }

  CallRead read_json_call(std::size_t at) {
    json::Reader in(text_.substr(at));
    std::string arguments;
    for (std::string_view key; in.next_member(key);) {
      if (key == "name" && in.peek() == json::Kind::string) {
        name_ = in.string();
      } else if (key == "arguments" && in.peek() == json::Kind::object) {
        arguments = in.raw();
      } else {
        return {};
      }
    }
    if (in.failed() || name_.empty() || arguments.empty()) return {};
    at = skip_space(text_, at + in.offset());
    Texts closes = markers_.section_closes;
    closes.push_back(markers_.call_close);
    const std::string close = longest_at(text_, at, closes);
    if (close.empty()) return {};
    return call(arguments, CallOutcome::complete, at + close.size());
  }

  std::string_view text_;
  std::span<const ToolSpec> tools_;
  bool cut_off_;
  const Markers& markers_;
  std::set<std::string, std::less<>> keys_;
  std::string name_;
  std::string arguments_;
  Kinds kinds_;
  bool json_ = false;
  bool odd_type_ = false;
};

}  // namespace

CallRead read_tagged_call(const ReferenceCase& turn, const Markers& markers, std::size_t at) {
  return Reading(turn, markers).read(at);
}

std::string longest_at(std::string_view text, std::size_t at, const Texts& list) {
  std::string longest;
  for (const std::string& each : list) {
    if (each.size() > longest.size() && stands_at(text, at, each)) longest = each;
  }
  return longest;
}

}  // namespace callgate::dialect::reference::tagged
