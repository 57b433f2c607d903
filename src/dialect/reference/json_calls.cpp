#include "dialect/reference/json_calls.h"

#include <algorithm>

#include "dialect/reference/json_text.h"

namespace callgate::dialect::reference {
namespace {

using State = JsonEnd::State;
using What = Reading::What;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// One object from its brace on.
class CallText {
 public:
  CallText(const ReferenceCase& turn, const CallOpener& opener, const CallShape& shape,
           std::size_t at)
      : turn_(turn), text_(turn.text), opener_(opener), shape_(shape), at_(at + 1) {}

  Reading read() {
    const Stop stop = read_members(false);
    switch (stop) {
      case Stop::no_opinion:
        return {.what = What::no_opinion};
      case Stop::no_call:
        return {.what = What::no_call};
      case Stop::broken:
        if (call_.name.empty() || !has_arguments_) return {.what = What::no_call};
        return call(CallOutcome::complete);
      case Stop::cut:
        if (!call_.name.empty() && has_arguments_) return call(CallOutcome::complete);
        if (call_.name.empty() || (opener_.declared && !in_arguments_)) {
          return {.what = What::no_call, .end = text_.size()};
        }
        if (!in_arguments_ && !members_.empty()) call_.arguments = "{" + members_;
        return call(CallOutcome::truncated);
      case Stop::whole:
        break;
    }
    if (call_.name.empty()) return {.what = What::no_call};
    if (!has_arguments_) call_.arguments = "{" + members_ + "}";
    return call(CallOutcome::complete);
  }

 private:
  enum class Stop : std::uint8_t { whole, cut, broken, no_call, no_opinion };

  Reading call(CallOutcome outcome) {
    call_.outcome = outcome;
    return {.what = What::calls, .end = at_, .calls = {call_}};
  }

  Stop read_members(bool nested) {
    while (true) {
      at_ = skip_space(text_, at_);
      if (at_ == text_.size()) return Stop::cut;
      if (text_[at_] == '}') {
        ++at_;
        return Stop::whole;
      }
      if (text_[at_] != '"') return Stop::broken;
      std::string key;
      if (const Stop stop = read_string(key); stop != Stop::whole) return stop;
      if (shape_.name_is_key) {
        if (!call_.name.empty()) return Stop::no_opinion;
        if (key.empty()) return Stop::no_call;
        call_.name = key;
      }
      if (opener_.declared && !may_have(key)) {
        return has_parameters() ? Stop::no_opinion : Stop::no_call;
      }
      at_ = skip_space(text_, at_);
      if (at_ == text_.size()) return Stop::cut;
      if (text_[at_++] != ':') return back(Stop::broken);
      at_ = skip_space(text_, at_);
      if (at_ == text_.size()) return Stop::cut;
      if (const Stop stop = read_member(key, nested); stop != Stop::whole) return stop;
      at_ = skip_space(text_, at_);
      if (at_ == text_.size()) return Stop::cut;
      if (text_[at_] == ',') {
        ++at_;
        // A comma at the end is no JSON, but harmless.
        if (text_.substr(skip_space(text_, at_)).starts_with('}')) return Stop::no_opinion;
      } else if (text_[at_] != '}') {
        return Stop::broken;
      }
    }
  }

  // Where JSON may be the answer, a call has few other members, until it is known to be one.
  bool may_have(std::string_view key) const {
    const bool known = !call_.name.empty() && has_arguments_;
    return known || is_one_of(key, {"name", "tool_name", "function_name", "function", "arguments",
                                    "parameters", "args", "input", "params", "kwargs", "type", "id",
                                    "index", "call_id", "tool_call_id"});
  }

  // Its parameters may be members of the call.
  bool has_parameters() const {
    return std::any_of(turn_.tools.begin(), turn_.tools.end(), [&](const ToolSpec& tool) {
      return tool.name == call_.name &&
             tool.parameters.text.find("properties") != std::string::npos;
    });
  }

  Stop back(Stop stop) {
    --at_;
    return stop;
  }

  Stop to_stop(const JsonEnd& end) {
    at_ = end.end;
    switch (end.state) {
      case State::whole:
        return Stop::whole;
      case State::cut:
        return Stop::cut;
      case State::broken:
        return Stop::broken;
    }
    return Stop::no_opinion;
  }

  Stop read_string(std::string& text) {
    const std::size_t from = at_;
    const Stop stop = to_stop(skip_json_string(text_, at_));
    // An escape that JSON does not have.
    if (stop == Stop::broken) return Stop::no_opinion;
    if (stop == Stop::whole) text = json_string_text(text_.substr(from, at_ - from));
    return stop;
  }

  Stop read_member(const std::string& key, bool nested) {
    if (shape_.name_is_key) return read_arguments();
    if (key == shape_.id_key && !key.empty()) return read_id();
    if (is_one_of(key, {"arguments", "parameters", "args", "input", "params", "kwargs"})) {
      if (has_parameters() && key != "arguments") return Stop::no_opinion;
      return has_arguments_ || !members_.empty() ? Stop::no_opinion : read_arguments();
    }
    if (key == "function" && text_[at_] == '{' && !nested) {
      ++at_;
      return read_members(true);
    }
    if (is_one_of(key, {"name", "tool_name", "function_name", "function"})) return read_name();
    return read_other(key);
  }

  // Without arguments, the members are the arguments.
  Stop read_other(const std::string& key) {
    if (has_parameters()) return Stop::no_opinion;
    const std::size_t from = at_;
    const Stop stop = to_stop(skip_json(text_, at_));
    if (stop != Stop::whole || is_one_of(key, {"type", "id", "index", "call_id", "tool_call_id"})) {
      return stop;
    }
    if (!members_.empty()) members_ += ", ";
    members_ += json_quoted(key) + ": " + escaped_json(text_.substr(from, at_ - from));
    return stop;
  }

  Stop read_name() {
    if (!call_.name.empty()) return Stop::no_opinion;
    if (text_[at_] != '"') return Stop::no_call;
    std::string name;
    if (const Stop stop = read_string(name); stop != Stop::whole) return stop;
    if (name.empty()) return Stop::no_call;
    name = declared_name(turn_, name);
    if (opener_.declared && !may_be_called(turn_, name)) return Stop::no_call;
    call_.name = name;
    return Stop::whole;
  }

  Stop read_id() {
    const std::size_t from = at_;
    if (text_[at_] == '"') return read_string(call_.id);
    const Stop stop = to_stop(skip_json(text_, at_));
    if (stop == Stop::whole) call_.id = text_.substr(from, at_ - from);
    if (call_.id == "null") call_.id.clear();
    return stop;
  }

  Stop read_arguments() {
    const std::size_t from = at_;
    const char first = text_[at_];
    if (first == '"') return read_argument_text();
    const Stop stop = to_stop(skip_json(text_, at_));
    // Where broken arguments end is a guess.
    if (stop == Stop::broken && at_ > from) return Stop::no_opinion;
    in_arguments_ = true;
    if (first != 'n') call_.arguments = escaped_json(text_.substr(from, at_ - from));
    if (stop != Stop::whole) return stop;
    if (first == 'n') call_.arguments = "{}";
    has_arguments_ = true;
    return Stop::whole;
  }

  // JSON in a JSON string.
  Stop read_argument_text() {
    std::string text;
    const Stop stop = read_string(text);
    if (stop != Stop::whole) return Stop::no_opinion;
    if (is_blank(text)) {
      call_.arguments = text + "{}";
    } else {
      const JsonEnd end = skip_json(text, skip_space(text, 0));
      if (end.state != State::whole || !is_blank(text.substr(end.end))) return Stop::no_opinion;
      call_.arguments = escaped_json(text.substr(0, end.end));
    }
    has_arguments_ = true;
    return Stop::whole;
  }

  const ReferenceCase& turn_;
  const std::string_view text_;
  const CallOpener& opener_;
  const CallShape& shape_;
  std::size_t at_;
  LoggedCall call_;
  std::string members_;  // beside the arguments
  bool in_arguments_ = false;
  bool has_arguments_ = false;
};

// JSON that is no call, in a dialect where JSON may be the answer: all of it is prose.
Reading other_json(std::string_view text, std::size_t at) {
  const JsonEnd end = skip_json(text, at);
  return {.what = What::prose, .end = end.end};
}

std::size_t skip_fence(std::string_view text, std::size_t at) {
  const std::size_t fence = skip_space(text, at);
  // The turn may end inside the fence.
  if (std::string_view("```").starts_with(text.substr(fence))) return text.size();
  return text.substr(fence).starts_with("```") ? fence + 3 : at;
}

}  // namespace

bool read_arguments(std::string_view text, std::size_t at, LoggedCall& call, std::size_t& end) {
  const JsonEnd value = skip_json(text, at);
  if (value.state == State::broken) return false;
  call.outcome = value.state == State::whole ? CallOutcome::complete : CallOutcome::truncated;
  call.arguments = escaped_json(text.substr(at, value.end - at));
  end = value.end;
  return true;
}

Reading read_json_calls(const ReferenceCase& turn, const CallOpener& opener, std::size_t at,
                        const CallShape& shape) {
  const std::string_view text = turn.text;
  const std::size_t start = skip_space(text, at);
  std::size_t here = start;
  const bool list = text.substr(here).starts_with('[');
  if (list) here = skip_space(text, here + 1);
  Reading all{.what = What::calls, .end = here};
  while (true) {
    const bool closes = list && text.substr(here).starts_with(']');
    if (closes && opener.declared && all.calls.empty()) return other_json(text, start);
    if (closes) {
      all.end = here + 1;
      break;
    }
    Reading one{.what = What::no_call};
    if (text.substr(here).starts_with('{')) one = CallText(turn, opener, shape, here).read();
    if (one.what == What::no_opinion) return one;
    if (one.what == What::no_call) {
      if (all.calls.empty()) {
        // Undecided at the end of the turn, it is prose like any other.
        const bool undecided = here == text.size() || one.end == text.size();
        const bool json = opener.declared && (list || text.substr(here).starts_with('{'));
        return json && !undecided ? other_json(text, start) : Reading{.what = What::no_call};
      }
      // Brackets that close nothing belong to the calls when nothing else follows before their end.
      const bool surplus = here < text.size() && (text[here] == '}' || text[here] == ']');
      if (surplus && !opener.declared) return {.what = What::no_opinion};
      // What came behind the last call and is not one is prose.
      break;
    }
    all.calls.push_back(one.calls[0]);
    all.end = one.end;
    here = skip_space(text, one.end);
    const std::string_view separators = list ? "," : ",;";
    while (here < text.size() && separators.find(text[here]) != std::string_view::npos) {
      here = skip_space(text, here + 1);
    }
    if (here == text.size()) {
      all.end = here;
      break;
    }
  }
  if (opener.text.find("```") != std::string_view::npos) all.end = skip_fence(text, all.end);
  return all;
}

}  // namespace callgate::dialect::reference
