#include "dialect/family/gemma_calls.h"

#include "dialect/family/tagged_value.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxGemmaName = 256;
constexpr std::string_view kGemmaCall = "call:";

bool is_gemma_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80 || c == '_' || c == '-' || c == '.' || c == ':' ||
         c == '/';
}

}  // namespace

void GemmaCalls::open(std::size_t /*opener*/, Output& /*out*/) {
  at_ = At::name;
  name_.clear();
  lag_.clear();
}

Step GemmaCalls::push(std::string_view bytes, Output& out) {
  step_ = {};
  std::size_t i = 0;
  while (i < bytes.size() && step_.next == Step::Next::more) {
    if (at_ == At::arguments) {
      i += read_arguments(bytes.substr(i), out);
    } else if (at_ == At::next ? read_next(bytes[i], out) : read_name(bytes[i], out)) {
      ++i;
    }
  }
  if (!json_.empty()) {
    out.arguments(json_);
    json_.clear();
  }
  if (at_ == At::arguments && arguments_.streams()) out.expect_plain(Output::Plain::value);
  step_.used = i;
  return step_;
}

// False: the byte was not used, this is not a call.
bool GemmaCalls::read_name(char c, Output& out) {
  const bool begins_arguments = c == '{';
  std::string_view name = trimmed(name_);
  if (name.starts_with(kGemmaCall)) name = trimmed(name.substr(kGemmaCall.size()));
  const bool fits = begins_arguments
                        ? !name.empty()
                        : (is_gemma_name_byte(c) || is_space(c)) && name_.size() < kMaxGemmaName;
  if (!fits || (begins_arguments && name.find_first_of(" \t\r\n") != std::string_view::npos)) {
    out.expected(
        begins_arguments ? "the name of a tool before the arguments" : "the name of a tool and '{'",
        Found::rest({&c, 1}));
    step_.next = Step::Next::rejected;
    return false;
  }
  out.hold({&c, 1});
  if (begins_arguments) {
    out.start_call(name);
    arguments_.begin(markers_, json_);
    at_ = At::arguments;
  } else {
    name_.push_back(c);
  }
  return true;
}

// White space, perhaps a comma, and `call:` again. False: the byte was not used, the block has no more calls.
bool GemmaCalls::read_next(char c, Output& out) {
  const bool separates = name_.empty() && (is_space(c) || c == ',');
  if (!separates && c != kGemmaCall[name_.size()]) {
    step_.next = Step::Next::closed;
    return false;
  }
  out.hold({&c, 1});
  if (!separates) name_.push_back(c);
  if (name_.size() == kGemmaCall.size()) at_ = At::name;
  return true;
}

std::size_t GemmaCalls::read_arguments(std::string_view bytes, Output& out) {
  const std::size_t used = arguments_.push(bytes, json_);
  const std::size_t undecided = arguments_.undecided();
  if (lag_.empty() && undecided == 0) {
    out.argument_bytes(bytes.substr(0, used));
  } else {
    lag_ += bytes.substr(0, used);
    out.argument_bytes(std::string_view(lag_).substr(0, lag_.size() - undecided));
    lag_.erase(0, lag_.size() - undecided);
  }
  switch (arguments_.state()) {
    case GemmaArguments::State::open:
      break;
    case GemmaArguments::State::failed:
      arguments_.finish(json_);
      end_call(CallOutcome::malformed, out);
      break;
    case GemmaArguments::State::closed:
      end_call(CallOutcome::complete, out);
      break;
  }
  return used;
}

void GemmaCalls::end_call(CallOutcome outcome, Output& out) {
  // What stands behind the call is a marker of its own or the beginning of one: the turn reads it again.
  const std::string_view behind = arguments_.leftover();
  for (const std::string_view text : {markers_.quote, markers_.close}) {
    if (text.starts_with(behind)) step_.replay = text.substr(0, behind.size());
  }
  out.argument_bytes(std::string_view(lag_).substr(0, lag_.size() - behind.size()));
  lag_.clear();
  out.arguments(json_);
  json_.clear();
  const bool left = out.finish_call(outcome);
  const bool closed = left && outcome == CallOutcome::complete;
  if (closed && !arguments_.read_close_marker() && step_.replay.empty()) {
    at_ = At::next;
    name_.clear();
    return;
  }
  step_.next = closed ? Step::Next::closed : Step::Next::rejected;
}

void GemmaCalls::finish(Output& out) {
  if (at_ != At::arguments) {
    out.expected("the name of a tool and '{'", {.extent = Found::Extent::end});
    return;
  }
  const bool whole = arguments_.finish(json_);
  out.argument_bytes(lag_);
  lag_.clear();
  out.arguments(json_);
  json_.clear();
  out.finish_call(whole ? CallOutcome::complete : CallOutcome::truncated);
}

}  // namespace callgate::dialect
