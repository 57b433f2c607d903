#include "dialect/family/python_calls.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxPythonName = 256;
constexpr std::string_view kPythonCall = ".call";

// Tools have names that Python's functions cannot have: 9lives, ns/get, ns:get.
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) {
  return begins_name(c) || c == '.' || c == '-' || c == '/' || c == ':';
}

}  // namespace

void PythonCalls::open(std::size_t opener, Output& /*out*/) {
  opener_ = &openers_[opener];
  at_ = At::lead;
  in_list_ = opener_->text.ends_with('[');
}

Step PythonCalls::push(std::string_view bytes, Output& out) {
  next_ = Step::Next::more;
  replay_.clear();
  std::size_t i = 0;
  while (i < bytes.size() && next_ == Step::Next::more &&
         (out.call_open() || out.held_size() < limit_)) {
    if (at_ == At::arguments) {
      i += read_arguments(bytes.substr(i), out);
    } else if (read_byte(bytes[i], out)) {
      ++i;
    }
  }
  if (next_ == Step::Next::rejected) out.expected(wanted(), Found::rest(bytes.substr(i)));
  // A comma before the close marker is structure; white space behind a call may be text.
  if (next_ == Step::Next::closed && at_ == At::after_comma) out.drop_held();
  if (!json_.empty()) {
    out.arguments(json_);
    json_.clear();
  }
  if (at_ == At::arguments && arguments_.streams()) out.expect_plain(Output::Plain::value);
  return {.used = i, .next = next_, .replay = replay_};
}

bool PythonCalls::read_byte(char c, Output& out) {
  if (!read(c)) return false;
  out.hold({&c, 1});
  if (c == '(') begin_call(out);
  if (next_ == Step::Next::closed) out.drop_held();
  return true;
}

// True: the byte was used. The calls may be over either way, see next_.
bool PythonCalls::read(char c) {
  switch (at_) {
    case At::lead:
      if (c == '[' && !in_list_) return in_list_ = true;
      if (c == ']' && in_list_ && opener_->names == Opener::Names::any) {
        next_ = Step::Next::closed;
        return true;
      }
      return is_space(c) || begin_name(c) || stop(Step::Next::rejected);
    case At::name:
      if (continues_name(c) && name_.size() < kMaxPythonName) {
        name_.push_back(c);
        return true;
      }
      at_ = At::before_arguments;
      [[fallthrough]];
    case At::before_arguments:
      return c == '(' || is_space(c) || stop(Step::Next::rejected);
    case At::after_call:
      if (in_list_ && c == ']') {
        next_ = Step::Next::closed;
        return true;
      }
      if (c == ',' || c == ';') {
        at_ = At::after_comma;
        return true;
      }
      return is_space(c) || (!in_list_ && begin_name(c)) || stop(Step::Next::closed);
    case At::after_comma:
      if (in_list_ && c == ']') {
        next_ = Step::Next::closed;
        return true;
      }
      return is_space(c) || begin_name(c) ||
             stop(c == '<' ? Step::Next::closed : Step::Next::rejected);
    case At::arguments:
      break;
  }
  return true;
}

std::string_view PythonCalls::wanted() const {
  const bool named = at_ == At::name || at_ == At::before_arguments;
  return named ? "'('" : "the name of a function";
}

bool PythonCalls::stop(Step::Next next) {
  next_ = next;
  return false;
}

bool PythonCalls::begin_name(char c) {
  if (!begins_name(c)) return false;
  name_.assign(1, c);
  at_ = At::name;
  return true;
}

void PythonCalls::begin_call(Output& out) {
  constexpr std::string_view kPrefix = "functions.";
  bool declared = schemas_.may_be_called(name_);
  if (!declared && name_.starts_with(kPrefix) &&
      schemas_.may_be_called(name_.substr(kPrefix.size()))) {
    name_.erase(0, kPrefix.size());
    declared = true;
  }
  // Llama's built-in tools are called as brave_search.call(query="x"), without being declared.
  const bool built_in =
      !declared && name_.size() > kPythonCall.size() && name_.ends_with(kPythonCall);
  if (built_in) name_.resize(name_.size() - kPythonCall.size());
  if (opener_->names == Opener::Names::declared && !declared && !built_in) {
    out.expected_declared(name_);
    stop(Step::Next::rejected);
    return;
  }
  const bool guess = opener_->names == Opener::Names::declared && schemas_.are_unknown();
  out.start_call(name_, {}, guess ? Commit::whole_call : Commit::eager);
  arguments_.begin(
      schemas_.arguments_of(name_), limit_, json_,
      in_list_ ? PythonArguments::Tolerance::quotes_in_list : PythonArguments::Tolerance::quotes);
  at_ = At::arguments;
}

std::size_t PythonCalls::read_arguments(std::string_view bytes, Output& out) {
  const std::size_t used = arguments_.push(bytes, json_);
  out.argument_bytes(bytes.substr(0, used));
  if (arguments_.state() != PythonArguments::State::open) end_arguments(out);
  return used;
}

void PythonCalls::end_arguments(Output& out) {
  const std::string rest(arguments_.rest());
  out.unread_arguments(rest.size());
  const bool closed = arguments_.state() == PythonArguments::State::closed;
  if (!closed) arguments_.cut(json_);
  out.arguments(json_);
  json_.clear();
  out.finish_call(closed ? CallOutcome::complete : CallOutcome::malformed);
  at_ = At::after_call;
  if (!closed) next_ = Step::Next::rejected;
  std::size_t used = 0;
  while (used < rest.size() && next_ == Step::Next::more && read_byte(rest[used], out)) ++used;
  replay_.assign(rest, used);
}

void PythonCalls::finish(Output& out) {
  switch (at_) {
    case At::arguments:
      arguments_.settle(json_);
      if (arguments_.state() == PythonArguments::State::closed) {
        end_arguments(out);
        out.drop_held();
        break;
      }
      arguments_.cut(json_);
      out.arguments(json_);
      json_.clear();
      out.finish_call(CallOutcome::truncated);
      break;
    case At::after_call:
    case At::after_comma:
      out.drop_held();
      break;
    case At::lead:
    case At::name:
    case At::before_arguments:
      break;
  }
}

}  // namespace callgate::dialect
