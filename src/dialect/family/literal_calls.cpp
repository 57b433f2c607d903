#include "dialect/family/literal_calls.h"

#include "dialect/family/call_object.h"
#include "json/reader.h"

namespace callgate::dialect {
namespace {

bool is_literal_quote(char c) { return c == '"' || c == '\''; }

// The text of a JSON string without its quotes.
std::string decoded(std::string_view json) {
  const std::string quoted = std::string(1, '"').append(json).append("\"");
  json::Reader in(quoted);
  return std::string(in.string());
}

}  // namespace

void LiteralCalls::open(std::size_t opener, Output& out) {
  opener_ = &openers_[opener];
  in_list_ = opener_->text.ends_with('[');
  at_ = in_list_ ? At::element : At::lead;
  calls_before_ = out.calls();
}

Step LiteralCalls::push(std::string_view bytes, Output& out) {
  next_ = Step::Next::more;
  std::size_t i = 0;
  while (i < bytes.size() && next_ == Step::Next::more &&
         (out.call_open() || out.held_size() < limit_)) {
    switch (at_) {
      case At::key:
      case At::name:
      case At::other_text:
        i += read_text(bytes.substr(i), out);
        break;
      case At::arguments:
        i += read_arguments(bytes.substr(i), out);
        break;
      case At::lead:
      case At::element:
      case At::key_or_end:
      case At::colon:
      case At::value:
      case At::other_word:
      case At::comma_or_end:
      case At::next:
        i += read(bytes[i], out) ? 1 : 0;
        break;
    }
  }
  if (at_ == At::arguments && started_ && arguments_.streams())
    out.expect_plain(Output::Plain::value);
  return {.used = i, .next = next_};
}

// True: the byte was used. The calls may be over either way, see next_.
bool LiteralCalls::read(char c, Output& out) {
  const bool between = at_ == At::lead || at_ == At::element || at_ == At::next;
  return between ? read_between(c, out) : read_in_dict(c, out);
}

bool LiteralCalls::read_between(char c, Output& out) {
  // Where only the shape tells a call, an empty list is not one.
  const bool closes = in_list_ && c == ']' &&
                      (opener_->names == Opener::Names::any || out.calls() != calls_before_);
  if (c == '{' && at_ != At::next) {
    begin_dict();
  } else if (c == '[' && at_ == At::lead) {
    in_list_ = true;
    at_ = At::element;
  } else if (c == ',' && at_ == At::next && in_list_) {
    at_ = At::element;
  } else if (!closes && !is_space(c)) {
    next_ = at_ == At::next ? Step::Next::closed : Step::Next::rejected;
    return false;
  }
  out.hold({&c, 1});
  if (!closes) return true;
  out.drop_held();
  next_ = Step::Next::closed;
  return true;
}

void LiteralCalls::begin_dict() {
  at_ = At::key_or_end;
  started_ = false;
  arguments_begun_ = false;
  name_.clear();
}

bool LiteralCalls::read_in_dict(char c, Output& out) {
  if (at_ == At::value && !is_space(c)) return begin_value(c, out);
  if (at_ == At::other_word && c != ',' && c != '}') {
    if (std::string_view("{}[]()'\"").find(c) != std::string_view::npos) {
      return fail(out);
    }
    out.hold({&c, 1});
    return true;
  }
  if (at_ == At::other_word) at_ = At::comma_or_end;
  const bool closes = c == '}' && (at_ == At::comma_or_end || at_ == At::key_or_end);
  if (is_literal_quote(c) && at_ == At::key_or_end) {
    begin_text(At::key, c);
  } else if (c == ':' && at_ == At::colon) {
    at_ = At::value;
  } else if (c == ',' && at_ == At::comma_or_end) {
    at_ = At::key_or_end;
  } else if ((!closes && !is_space(c)) || (closes && name_.empty())) {
    return fail(out);
  }
  out.hold({&c, 1});
  if (closes) {
    start(out);
    if (!arguments_begun_) out.arguments("{}");
    end_call(CallOutcome::complete, out);
  }
  return true;
}

void LiteralCalls::begin_text(At at, char quote) {
  at_ = at;
  text_.clear();
  string_.begin(quote, QuotedString::Style::python);
}

// The first byte of a member's value.
bool LiteralCalls::begin_value(char c, Output& out) {
  switch (key_) {
    case Key::name:
      if (!is_literal_quote(c)) return fail(out);
      begin_text(At::name, c);
      break;
    case Key::arguments:
      if (c != '{' || arguments_begun_) return fail(out);
      if (!name_.empty()) start(out);
      arguments_begun_ = true;
      arguments_.begin_dict(limit_, json_);
      at_ = At::arguments;
      out.argument_bytes({&c, 1});
      return true;
    case Key::other:
      if (is_literal_quote(c)) {
        begin_text(At::other_text, c);
      } else {
        at_ = At::other_word;
        return false;
      }
      break;
  }
  out.hold({&c, 1});
  return true;
}

std::size_t LiteralCalls::read_text(std::string_view bytes, Output& out) {
  const std::size_t used = string_.push(bytes, text_);
  out.hold(bytes.substr(0, used));
  if (string_.closed() && !close_text()) fail(out);
  return used;
}

// False: it is not what a call has there.
bool LiteralCalls::close_text() {
  const std::string text = decoded(text_);
  if (at_ == At::key) {
    const bool is_name = text == "name";
    const bool is_arguments = text == "arguments" || text == "parameters";
    key_ = is_name ? Key::name : is_arguments ? Key::arguments : Key::other;
    at_ = At::colon;
    return true;
  }
  const bool is_name = at_ == At::name;
  at_ = At::comma_or_end;
  if (!is_name) return true;
  name_ = text;
  const bool counts =
      opener_->names == Opener::Names::any || tools_.empty() || is_declared(tools_, name_);
  if (!counts) name_.clear();
  return !name_.empty();
}

std::size_t LiteralCalls::read_arguments(std::string_view bytes, Output& out) {
  const std::size_t used = arguments_.push(bytes, json_);
  out.argument_bytes(bytes.substr(0, used));
  const PythonArguments::State state = arguments_.state();
  if (state == PythonArguments::State::failed) arguments_.cut(json_);
  out.arguments(json_);
  json_.clear();
  if (state == PythonArguments::State::closed) at_ = At::comma_or_end;
  if (state == PythonArguments::State::failed) {
    if (out.call_open()) end_call(CallOutcome::malformed, out);
    next_ = Step::Next::rejected;
  }
  return used;
}

// Not what a call has. With whole arguments it is one all the same.
bool LiteralCalls::fail(Output& out) {
  const bool whole = !name_.empty() && arguments_begun_;
  next_ = whole ? Step::Next::closed : Step::Next::rejected;
  if (whole) {
    start(out);
    end_call(CallOutcome::complete, out);
  }
  return false;
}

void LiteralCalls::start(Output& out) {
  if (started_) return;
  started_ = true;
  out.start_call(name_);
}

void LiteralCalls::end_call(CallOutcome outcome, Output& out) {
  at_ = At::next;
  if (!out.finish_call(outcome)) next_ = Step::Next::rejected;
}

void LiteralCalls::finish(Output& out) {
  switch (at_) {
    case At::arguments:
      if (name_.empty()) return;
      arguments_.cut(json_);
      out.arguments(json_);
      json_.clear();
      start(out);
      out.finish_call(CallOutcome::truncated);
      return;
    case At::next:
      out.drop_held();
      return;
    case At::key_or_end:
    case At::key:
    case At::colon:
    case At::value:
    case At::name:
    case At::other_text:
    case At::other_word:
    case At::comma_or_end:
      if (name_.empty() || (opener_->names == Opener::Names::declared && !arguments_begun_)) return;
      start(out);
      out.finish_call(arguments_begun_ ? CallOutcome::complete : CallOutcome::truncated);
      return;
    case At::lead:
    case At::element:
      return;
  }
}

}  // namespace callgate::dialect
