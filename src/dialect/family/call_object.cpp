#include "dialect/family/call_object.h"

#include <algorithm>

#include "dialect/family/tagged_value.h"
#include "dialect/tool_fit.h"
#include "dialect/tool_schema.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

using Keys = std::span<const std::string_view>;
constexpr std::string_view kUsualNames[] = {"name", "tool_name", "function_name"};
constexpr std::string_view kUsualArguments[] = {"arguments", "parameters", "args", "input"};
constexpr Keys kNameKeys = kUsualNames;
constexpr Keys kArgumentKeys = kUsualArguments;
// The same, unless the tool has such a parameter.
constexpr std::string_view kOtherArgumentKeys[] = {"params", "kwargs"};
// Members that calls have besides; others are not skipped where only the shape tells a call.
constexpr std::string_view kQuietKeys[] = {"type", "id", "index", "call_id", "tool_call_id"};
// A member beside the arguments is held back until the end of the call, but no more than this.
constexpr std::size_t kMaxMember = std::size_t{1} << 20;

bool contains(Keys keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

bool is_declared(std::span<const ToolSpec> tools, std::string_view name) {
  return std::any_of(tools.begin(), tools.end(),
                     [&](const ToolSpec& tool) { return tool.name == name; });
}

void CallObject::begin(Opener::Names names) {
  names_ = names;
  state_ = State::key_or_end;
  nested_ = false;
  closed_ = false;
  started_ = false;
  arguments_begun_ = false;
  arguments_ended_ = false;
  id_known_ = false;
  brace_kept_ = false;
  has_members_ = false;
  parameters_read_ = false;
  members_.clear();
  outcome_ = CallOutcome::complete;
  name_.clear();
  id_.clear();
}

CallObject::Key CallObject::key_of(std::string_view text) const {
  if (contains(keys_.id, text)) return Key::id;
  if (contains(keys_.name.empty() ? kNameKeys : keys_.name, text)) return Key::name;
  if (contains(keys_.arguments.empty() ? kArgumentKeys : keys_.arguments, text)) {
    return Key::arguments;
  }
  return text == "function" ? Key::function : Key::other;
}

// What may be a member of a call. Where only the shape tells one, a name has to be known that it is a parameter of, or
// arguments behind which the shape is told.
bool CallObject::is_known_key() {
  if (names_ == Opener::Names::any || key_ != Key::other || contains(kQuietKeys, text_))
    return true;
  return !name_.empty() && (arguments_ended_ || is_parameter(text_));
}

bool CallObject::is_parameter(std::string_view key) {
  if (name_.empty()) return false;
  if (!parameters_read_) {
    parameters_read_ = true;
    parameters_.clear();
    for (const ToolSpec& tool : tools_) {
      if (tool.name != name_) continue;
      for (Parameter& each : parameters_of(tool)) parameters_.push_back(std::move(each.name));
    }
  }
  return std::find(parameters_.begin(), parameters_.end(), key) != parameters_.end();
}

Step CallObject::push(std::string_view bytes, Output& out) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::string_view rest = bytes.substr(at);
    switch (state_) {
      case State::arguments: {
        Step step = push_arguments(rest, out);
        step.used += at;
        if (step.next != Step::Next::more) return step;
        at = step.used;
        break;
      }
      case State::key:
      case State::name:
      case State::id_string:
      case State::arguments_string:
        at += push_text(rest, out);
        if (string_.closed() && !text_closed(out)) return fail(at, Found::word(text_), out);
        break;
      case State::id_other:
      case State::arguments_null:
      case State::skipped: {
        const std::size_t used = push_skipped(rest, out);
        at += used;
        if (scan_.state() == json::Scanner::State::failed)
          return fail(at, Found::rest(bytes.substr(at)), out);
        break;
      }
      case State::key_or_end:
      case State::colon:
      case State::value:
      case State::comma_or_end:
        if (!step(bytes[at], out)) return fail(at, Found::rest(bytes.substr(at)), out);
        ++at;
        if (closed_) return end(at, out);
        break;
    }
  }
  return {.used = at};
}

// Used as long as possible without leaving the fast path: most bytes of a call are arguments.
Step CallObject::push_arguments(std::string_view bytes, Output& out) {
  const JsonArguments::Result result = arguments_.push(bytes, out);
  if (!has_members_) {
    const std::size_t first = bytes.find_first_not_of(" \t\r\n");
    has_members_ = first < result.used && bytes[first] != '}';
  }
  if (result.state == JsonArguments::State::inside) return {.used = result.used};
  arguments_ended_ = true;
  if (result.state == JsonArguments::State::malformed) {
    outcome_ = CallOutcome::malformed;
    brace_kept_ = false;
  }
  state_ = State::comma_or_end;
  if (result.replay.empty()) return {.used = result.used};
  Step step = fail(result.used, Found::word(result.replay), out);
  step.replay = result.replay;
  return step;
}

std::size_t CallObject::push_text(std::string_view bytes, Output& out) {
  if (state_ != State::arguments_string) {
    const std::size_t used = string_.push(bytes, text_);
    out.hold(bytes.substr(0, used));
    return used;
  }
  decoded_.clear();
  const std::size_t used = string_.push(bytes, decoded_);
  out.argument_bytes(bytes.substr(0, used));
  arguments_.push(decoded_, out);
  return used;
}

// The string is whole.
bool CallObject::text_closed(Output& out) {
  switch (state_) {
    case State::key:
      state_ = State::colon;
      if (keys_.shape == CallKeys::Shape::name_is_key) return take_name_as_key();
      key_ = key_of(text_);
      if (key_ == Key::other && keys_.arguments.empty() && contains(kOtherArgumentKeys, text_) &&
          !is_parameter(text_)) {
        key_ = Key::arguments;
      }
      member_key_ = text_;
      if (is_known_key()) return true;
      out.expected("a member of a call, such as \"name\"", Found::word(text_));
      return false;
    case State::name:
      if (name_.empty()) name_ = declared_name(tools_, text_);
      state_ = State::comma_or_end;
      if (name_.empty()) return false;
      if (names_ == Opener::Names::declared && !may_be_called(tools_, name_)) {
        out.expected_declared(name_);
        name_.clear();
        return false;
      }
      break;
    case State::id_string:
      id_ = text_;
      id_known_ = true;
      state_ = State::comma_or_end;
      break;
    case State::arguments_string:
      end_argument_string(out);
      break;
    case State::key_or_end:
    case State::colon:
    case State::value:
    case State::id_other:
    case State::arguments:
    case State::arguments_null:
    case State::skipped:
    case State::comma_or_end:
      break;
  }
  if (may_start()) start(out);
  return true;
}

bool CallObject::take_name_as_key() {
  key_ = Key::arguments;
  if (!name_.empty()) return false;
  name_ = text_;
  return !name_.empty();
}

void CallObject::end_argument_string(Output& out) {
  state_ = State::comma_or_end;
  arguments_ended_ = true;
  outcome_ = arguments_.finish(out, CallOutcome::malformed);
  if (arguments_.is_blank()) {
    outcome_ = CallOutcome::complete;
    out.arguments("{}");
  }
}

std::size_t CallObject::push_skipped(std::string_view bytes, Output& out) {
  const std::size_t used = scan_.push(bytes);
  const std::string_view raw = bytes.substr(0, used);
  out.hold(raw);
  if (state_ == State::id_other) id_.append(raw);
  if (state_ == State::skipped && member_json_.size() <= kMaxMember) member_json_.append(raw);
  if (scan_.state() != json::Scanner::State::closed) return used;
  if (state_ == State::skipped) keep_member();
  if (state_ == State::id_other) {
    if (id_ == "null") id_.clear();
    id_known_ = true;
  }
  if (state_ == State::arguments_null) {
    arguments_ended_ = true;
    out.arguments("{}");
  }
  state_ = State::comma_or_end;
  if (may_start()) start(out);
  return used;
}

bool CallObject::step(char c, Output& out) {
  const bool space = is_space(c);
  switch (state_) {
    case State::key_or_end:
    case State::comma_or_end:
      if (c == '"' && state_ == State::key_or_end) {
        state_ = State::key;
        text_.clear();
        string_.begin();
      } else if (c == ',' && state_ == State::comma_or_end) {
        state_ = State::key_or_end;
      } else if (c == '}') {
        closed_ = !nested_;
        nested_ = false;
        state_ = State::comma_or_end;
        if (closed_ && name_.empty()) return false;
      } else if (!space) {
        return false;
      }
      break;
    case State::colon:
      if (c == ':') {
        state_ = State::value;
      } else if (!space) {
        return false;
      }
      break;
    case State::value:
      if (!space) return step_value(c, out);
      break;
    case State::key:
    case State::name:
    case State::id_string:
    case State::id_other:
    case State::arguments:
    case State::arguments_string:
    case State::arguments_null:
    case State::skipped:
      return false;
  }
  out.hold({&c, 1});
  return true;
}

// The first byte of a value.
bool CallObject::step_value(char c, Output& out) {
  const std::string_view byte(&c, 1);
  const bool text = c == '"';
  text_.clear();
  if (text) string_.begin();
  if (key_ == Key::function && c == '{' && !nested_) {
    nested_ = true;
    state_ = State::key_or_end;
    out.hold(byte);
    return true;
  }
  switch (key_) {
    case Key::name:
    case Key::function:
      state_ = State::name;
      if (!text) return false;
      out.hold(byte);
      return true;
    case Key::id:
      id_.assign(text ? std::string_view{} : byte);
      state_ = text ? State::id_string : State::id_other;
      break;
    case Key::arguments: {
      // A parameter of this name is more likely than arguments that are not an object.
      const bool member = c != '{' && member_key_ != "arguments" && is_parameter(member_key_);
      if (!arguments_begun_ && !member) return begin_arguments(c, out);
      state_ = State::skipped;
      break;
    }
    case Key::other:
      state_ = State::skipped;
      break;
  }
  scan_.reset();
  if (state_ != State::id_string && scan_.push(byte) == 0) return false;
  member_json_ = byte;
  out.hold(byte);
  return true;
}

// A member beside the arguments is whole.
void CallObject::keep_member() {
  if (member_json_.size() > kMaxMember || keys_.shape != CallKeys::Shape::members) return;
  const bool quiet = contains(kQuietKeys, member_key_);
  // Behind the name it is known already; a member that no tool asks for is not kept while arguments stream.
  if (arguments_begun_ && !name_.empty() && !is_parameter(member_key_)) return;
  if (quiet && !name_.empty() && !is_parameter(member_key_)) return;
  members_.push_back({member_key_, member_json_});
}

void CallObject::append_members(std::string& json, bool first) {
  for (const Member& member : members_) {
    const bool wanted =
        arguments_begun_ || contains(kQuietKeys, member.key) ? is_parameter(member.key) : true;
    if (!wanted) continue;
    if (!first) json += ", ";
    first = false;
    json::append_string(json, member.key);
    json += ": ";
    append_clean_json(json, member.json);
  }
}

// The members beside the arguments that belong to them, and the brace.
void CallObject::close_arguments(Output& out) {
  if (arguments_begun_ && !brace_kept_) return;
  std::string json(arguments_begun_ ? "" : "{");
  append_members(json, !has_members_);
  json += "}";
  out.arguments(json);
  brace_kept_ = false;
}

bool CallObject::begin_arguments(char c, Output& out) {
  const std::string_view byte(&c, 1);
  arguments_begun_ = true;
  if (c == 'n') {
    state_ = State::arguments_null;
    scan_.reset();
    scan_.push(byte);
    out.hold(byte);
    return true;
  }
  if (c == '"') {
    out.hold(byte);
    if (may_start()) start(out);
    state_ = State::arguments_string;
    arguments_.begin(true);
    return true;
  }
  if (c != '{' && c != '[' && c != '-' && c != 't' && c != 'f' && (c < '0' || c > '9')) {
    arguments_begun_ = false;
    return false;
  }
  if (may_start()) start(out);
  state_ = State::arguments;
  brace_kept_ = c == '{';
  if (brace_kept_) {
    arguments_.begin_open();
  } else {
    arguments_.begin();
  }
  arguments_.push(byte, out);
  return true;
}

bool CallObject::may_start() const {
  return !name_.empty() && arguments_begun_ && state_ != State::arguments_null &&
         (keys_.id.empty() || id_known_);
}

void CallObject::start(Output& out) {
  if (started_) return;
  started_ = true;
  out.start_call(name_, id_known_ ? std::string_view(id_) : std::string_view{},
                 is_guess() ? Commit::whole_call : Commit::eager);
}

// Only the shape tells a call, and nobody said which tools there are.
bool CallObject::is_guess() const { return names_ == Opener::Names::declared && tools_.empty(); }

Step CallObject::end(std::size_t used, Output& out) {
  if (is_guess() && !arguments_begun_) outcome_ = CallOutcome::malformed;
  start(out);
  close_arguments(out);
  const bool left = out.finish_call(outcome_);
  return {.used = used, .next = left ? Step::Next::closed : Step::Next::rejected};
}

// Not JSON, or not a call. With whole arguments it is one all the same.
Step CallObject::fail(std::size_t used, const Found& found, Output& out) {
  if (!name_.empty() && arguments_ended_) return end(used, out);
  out.expected(wanted(), found);
  return {.used = used, .next = Step::Next::rejected};
}

std::string_view CallObject::wanted() const {
  if (closed_) return "a member \"name\"";
  switch (state_) {
    case State::key_or_end:
      return "'\"'";
    case State::key:
    case State::colon:
      return "':'";
    case State::value:
      return "a value";
    case State::name:
      return "'\"' and the name of a tool";
    case State::id_string:
    case State::id_other:
    case State::arguments:
    case State::arguments_string:
    case State::arguments_null:
    case State::skipped:
      return "valid JSON";
    case State::comma_or_end:
      return name_.empty() ? "the name of a tool" : "',' or '}'";
  }
  return {};
}

void CallObject::finish(Output& out) {
  if (name_.empty()) return;
  std::string members("{");
  if (!arguments_begun_) append_members(members, true);
  const bool flat = members.size() > 1;
  if (names_ == Opener::Names::declared && !arguments_begun_ && !flat) return;
  if (state_ == State::arguments || state_ == State::arguments_string) {
    outcome_ = arguments_.finish(out);
  } else if (!arguments_ended_) {
    outcome_ = CallOutcome::truncated;
  }
  start(out);
  if (arguments_ended_) close_arguments(out);
  if (flat) out.arguments(members);
  out.finish_call(outcome_);
}

bool CallObject::overflow(Output& out) {
  if (name_.empty() || !arguments_begun_ || state_ == State::arguments_null) return false;
  start(out);
  return true;
}

}  // namespace callgate::dialect
