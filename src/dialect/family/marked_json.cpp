#include "dialect/family/marked_json.h"

#include <algorithm>
#include <string>

#include "dialect/family/fence_close.h"

namespace callgate::dialect {
namespace {

class MarkedJson final : public CallReader {
 public:
  MarkedJson(const Prose& prose, const CallKeys& keys, const DialectOptions& options)
      : prose_(prose), object_(keys, options.tools, prose) {}

  void open(std::size_t opener, Output& out) override;
  Step push(std::string_view bytes, Output& out) override;
  void finish(Output& out) override;
  bool overflow(Output& out) override { return state_ == State::object && object_.overflow(out); }

 private:
  enum class State : std::uint8_t {
    start,    // behind the marker
    element,  // in an array, before an object
    object,
    next,     // behind an object
    surplus,  // behind brackets that close nothing
    fence,    // behind all of it
    passing,  // a JSON value that is not a call leaves as prose
  };

  Step push_object(std::string_view bytes, Output& out);
  Step push_passing(std::string_view bytes, Output& out);
  Step step(char c, Output& out);
  Step step_surplus(char c, Output& out);
  bool is_surplus(char c) const { return names_ == Opener::Names::any && (c == '}' || c == ']'); }
  bool is_other_json() const;
  void begin_object();
  // Follows the JSON as such until a call starts, to know where a value that is not a call ends.
  void follow(std::string_view bytes);

  const Prose& prose_;
  CallObject object_;
  json::Scanner scan_;
  State state_ = State::start;
  Opener::Names names_ = Opener::Names::any;
  bool following_ = false;
  bool array_ = false;
  bool fenced_ = false;
  FenceClose fence_;
  std::string partial_;  // behind surplus brackets: the beginning of a close marker
  CallIndex calls_before_ = 0;
};

void MarkedJson::open(std::size_t opener, Output& out) {
  const Opener& with = prose_.call_open[opener];
  names_ = with.names;
  array_ = false;
  fenced_ = with.text.find("```") != std::string_view::npos;
  following_ = names_ == Opener::Names::declared;
  calls_before_ = out.calls();
  partial_.clear();
  state_ = State::start;
  scan_.reset();
  if (with.text.ends_with('[') || with.text.ends_with('{')) {
    const std::string_view bracket = with.text.substr(with.text.size() - 1);
    follow(bracket);
    array_ = bracket == "[";
    state_ = State::element;
    if (!array_) begin_object();
  }
}

void MarkedJson::begin_object() {
  state_ = State::object;
  object_.begin(names_);
}

void MarkedJson::follow(std::string_view bytes) {
  if (following_) scan_.push(bytes);
}

Step MarkedJson::push(std::string_view bytes, Output& out) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    Step step{.used = 1};
    switch (state_) {
      case State::object:
        step = push_object(bytes.substr(at), out);
        break;
      case State::passing:
        step = push_passing(bytes.substr(at), out);
        break;
      case State::fence:
        step = fence_.push(bytes.substr(at), out);
        break;
      case State::surplus:
        step = step_surplus(bytes[at], out);
        break;
      case State::start:
      case State::element:
      case State::next:
        step = this->step(bytes[at], out);
        break;
    }
    at += step.used;
    if (step.next == Step::Next::rejected && is_other_json()) {
      out.release_held();
      state_ = State::passing;
      continue;
    }
    if (step.next == Step::Next::closed && fenced_ && state_ == State::next &&
        step.replay.empty()) {
      state_ = State::fence;
      fence_.begin();
      continue;
    }
    if (step.next != Step::Next::more || state_ == State::next) {
      step.used = at;
      return step;
    }
  }
  return {.used = at};
}

Step MarkedJson::push_object(std::string_view bytes, Output& out) {
  Step step = object_.push(bytes, out);
  follow(bytes.substr(0, step.used));
  if (object_.has_started()) following_ = false;
  if (step.next == Step::Next::closed && step.replay.empty()) {
    state_ = State::next;
    return {.used = step.used};
  }
  return step;
}

bool MarkedJson::is_other_json() const {
  return following_ && state_ != State::passing && scan_.state() == json::Scanner::State::inside;
}

Step MarkedJson::push_passing(std::string_view bytes, Output& out) {
  const std::size_t used = scan_.push(bytes);
  out.prose(bytes.substr(0, used));
  const bool inside = scan_.state() == json::Scanner::State::inside;
  return {.used = used, .next = inside ? Step::Next::more : Step::Next::rejected};
}

Step MarkedJson::step(char c, Output& out) {
  const Step stop{.used = 0,
                  .next = state_ == State::next ? Step::Next::closed : Step::Next::rejected};
  const bool closes = array_ && c == ']' && state_ != State::start;
  const bool separates = state_ == State::next && (c == ',' || (c == ';' && !array_));
  if (closes && names_ == Opener::Names::declared && out.calls() == calls_before_) {
    out.expected("'{'", Found::rest({&c, 1}));
    return stop;
  }
  if (c == '{') {
    begin_object();
  } else if (c == '[' && state_ == State::start) {
    array_ = true;
    state_ = State::element;
  } else if (state_ == State::next && !closes && is_surplus(c)) {
    state_ = State::surplus;
  } else if (!separates && !closes && !is_space(c)) {
    if (state_ != State::next) out.expected(array_ ? "'{'" : "'{' or '['", Found::rest({&c, 1}));
    return stop;
  }
  follow({&c, 1});
  out.hold({&c, 1});
  if (!closes) return {.used = 1};
  out.drop_held();
  return {.used = 1, .next = Step::Next::closed};
}

// Models count their brackets wrong: between the call and its close marker, or the end of the turn, nothing else can be meant.
Step MarkedJson::step_surplus(char c, Output& out) {
  out.hold({&c, 1});
  if (partial_.empty() && (is_space(c) || is_surplus(c))) return {.used = 1};
  partial_.push_back(c);
  const auto begins = [&](std::string_view close) { return close.starts_with(partial_); };
  const auto close = std::find_if(prose_.call_close.begin(), prose_.call_close.end(), begins);
  const bool may_close = close != prose_.call_close.end();
  if (may_close && close->size() > partial_.size()) return {.used = 1};
  out.unhold(partial_.size());
  if (may_close) out.drop_held();
  return {.used = 1, .next = Step::Next::closed, .replay = partial_};
}

void MarkedJson::finish(Output& out) {
  if (state_ == State::object) object_.finish(out);
  const bool over = state_ == State::next || state_ == State::fence ||
                    (state_ == State::surplus && partial_.empty());
  if (over) out.drop_held();
}

}  // namespace

std::unique_ptr<CallReader> make_marked_json(const Prose& prose, const CallKeys& keys,
                                             const DialectOptions& options) {
  return std::make_unique<MarkedJson>(prose, keys, options);
}

}  // namespace callgate::dialect
