#include "dialect/family/channels.h"

#include <algorithm>

#include "base/text.h"
#include "dialect/call_reader.h"
#include "dialect/explain.h"
#include "dialect/tool_fit.h"
#include "dialect/turn_parser.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

constexpr std::string_view kChannelTokens[] = {"<|start|>",   "<|channel|>", "<|constrain|>",
                                               "<|message|>", "<|end|>",     "<|call|>",
                                               "<|return|>"};
constexpr Prose kChannelEnds{.tail = kChannelTokens};  // of broken arguments
constexpr std::string_view kChannelTo = "to=";
// No header is longer; what is, is prose.
constexpr std::size_t kMaxChannelHeader = 1024;

// What is behind the last `to=`.
std::string_view channel_recipient(std::string_view header) {
  const std::size_t at = header.rfind(kChannelTo);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + kChannelTo.size());
  return header.substr(0, header.find_first_of(" \t\r\n<?"));
}

// Who may be addressed without being a tool.
bool is_person(std::string_view recipient) {
  constexpr std::string_view kPeople[] = {"assistant", "user", "all", "self", "system"};
  return std::find(std::begin(kPeople), std::end(kPeople), recipient) != std::end(kPeople);
}

std::string_view tool_of(std::string_view recipient) {
  constexpr std::string_view kPrefix = "functions.";
  if (recipient.starts_with(kPrefix)) return recipient.substr(kPrefix.size());
  return is_person(recipient) ? std::string_view{} : recipient;
}

// The last channel that the header names counts.
bool is_analysis(std::string_view header) {
  const auto last = [&](std::string_view word) {
    const std::size_t at = header.rfind(word);
    return at == std::string_view::npos ? 0 : at + 1;
  };
  return last("analysis") > std::max(last("commentary"), last("final"));
}

// A word of the header, such as the `json` of `<|constrain|>json`.
bool has_word(std::string_view header, std::string_view word) {
  const std::size_t at = header.rfind(word);
  if (at == std::string_view::npos || at == 0) return false;
  const std::string_view rest = header.substr(at + word.size());
  return is_space(header[at - 1]) && (rest.empty() || is_space(rest[0]));
}

// Words of a header that models write between messages, without its tokens: `commentary to=functions.f`. `open`: the last
// one may go on.
bool is_filler(std::string_view text, bool open) {
  constexpr std::string_view kWords[] = {"analysis", "commentary", "final", "assistant",
                                         kChannelTo};
  while (!is_blank(text)) {
    text.remove_prefix(text.find_first_not_of(kSpace));
    const std::size_t end = std::min(text.find_first_of(kSpace), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    const bool may_go_on = open && text.empty();
    const bool known = std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view is) {
      return word == is || (is == kChannelTo && word.starts_with(kChannelTo)) ||
             (may_go_on && is.starts_with(word));
    });
    if (!known) return false;
  }
  return true;
}

// Text at the start of a turn that may be the rest of a header: ` to=functions.f `.
bool may_be_channel_header(std::string_view text) {
  const std::size_t from = std::min(text.find_first_not_of(kSpace), text.size());
  text.remove_prefix(from);
  if (text.size() < kChannelTo.size()) return kChannelTo.starts_with(text);
  if (!text.starts_with(kChannelTo)) return false;
  const std::size_t end = text.find_first_of(kSpace);
  return end == std::string_view::npos || is_blank(text.substr(end));
}

}  // namespace

ChannelParser::ChannelParser(const DialectOptions& options)
    : tools_(options.tools),
      tokens_(kChannelTokens),
      scan_(tokens_),
      out_(options.commit, options.max_held_back, options.explain),
      arguments_(kChannelEnds),
      max_held_back_(std::max<std::size_t>(options.max_held_back, 1)),
      explain_(options.explain) {
  if (options.start == Channel::reasoning) {
    state_ = State::body;
    analysis_ = true;
  }
}

void ChannelParser::push(std::string_view text, Channel channel, EventSink& sink) {
  out_.bind(sink);
  if (out_.pass_plain(text)) return;
  if (channel != upstream_) {
    while (!scan_.idle()) take_found(scan_.finish());
    upstream_ = channel;
  }
  consume(text);
}

void ChannelParser::finish(EventSink& sink) {
  out_.bind(sink);
  while (!scan_.idle()) take_found(scan_.finish());
  switch (state_) {
    case State::lead:
      release(State::body);
      break;
    case State::header:
      // The name of a tool may have been cut, and what begins the turn may be prose.
      if (!out_.held().starts_with(kChannelTokens[0]) ||
          header_.find(kChannelTo) != std::string::npos) {
        explain("<|message|>", {.extent = Found::Extent::end});
        release(State::body);
      }
      out_.drop_held();
      break;
    case State::call_lead:
    case State::call_quote:
    case State::call_odd:
      out_.start_call(name_);
      out_.finish_call(CallOutcome::truncated);
      break;
    case State::arguments:
    case State::quoted:
      out_.finish_call(arguments_.finish(out_));
      break;
    case State::raw:
      end_raw();
      break;
    case State::between:
    case State::call_rest:
      if (!is_filler(out_.held(), false)) release(State::body);
      out_.drop_held();
      break;
    case State::body:
    case State::odd_body:
    case State::hidden:
      break;
  }
  out_.finish();
}

void ChannelParser::consume(std::string_view bytes) {
  while (!bytes.empty()) {
    if (state_ == State::arguments) {
      bytes = read_arguments(bytes);
    } else if (state_ == State::quoted) {
      bytes = read_quoted(bytes);
    } else if (state_ == State::call_lead) {
      bytes = read_call_lead(bytes);
    } else if (state_ == State::call_quote) {
      bytes = read_call_quote(bytes);
    } else {
      bytes = read_marked(bytes);
    }
  }
}

std::string_view ChannelParser::read_marked(std::string_view bytes) {
  const MarkerScan::Result found = scan_.push(bytes);
  bytes.remove_prefix(found.used);
  take_found(found);
  return bytes;
}

std::string_view ChannelParser::read_call_lead(std::string_view bytes) {
  while (!bytes.empty() && is_space(bytes[0]) && out_.held_size() < max_held_back_) {
    out_.hold(bytes.substr(0, 1));
    bytes.remove_prefix(1);
  }
  if (bytes.empty()) return bytes;
  if (bytes[0] == '"') {
    out_.hold(bytes.substr(0, 1));
    state_ = State::call_quote;
    return bytes.substr(1);
  }
  if (bytes[0] != '{') {
    state_ = State::call_odd;
    return bytes;
  }
  out_.start_call(name_);
  arguments_.begin();
  state_ = State::arguments;
  return bytes;
}

// An object in a string, or content that is not JSON.
std::string_view ChannelParser::read_call_quote(std::string_view bytes) {
  if (bytes[0] != '{') {
    out_.unhold(1);
    state_ = State::call_odd;
    take_text("\"");
    return bytes;
  }
  out_.start_call(name_);
  arguments_.begin(true);
  string_.begin();
  state_ = State::quoted;
  return bytes;
}

std::string_view ChannelParser::read_quoted(std::string_view bytes) {
  decoded_.clear();
  const std::size_t used = string_.push(bytes, decoded_);
  out_.argument_bytes(bytes.substr(0, used));
  arguments_.push(decoded_, out_);
  if (string_.closed()) end_call(arguments_.finish(out_, CallOutcome::malformed));
  return bytes.substr(used);
}

std::string_view ChannelParser::read_arguments(std::string_view bytes) {
  out_.expect_anything();
  const JsonArguments::Result result = arguments_.push(bytes, out_);
  bytes.remove_prefix(result.used);
  switch (result.state) {
    case JsonArguments::State::inside:
      break;
    case JsonArguments::State::complete:
      end_call(CallOutcome::complete);
      break;
    case JsonArguments::State::malformed:
      end_call(CallOutcome::malformed);
      break;
  }
  consume(result.replay);
  return bytes;
}

void ChannelParser::end_call(CallOutcome outcome) {
  state_ = out_.finish_call(outcome) ? State::call_rest : State::odd_body;
}

void ChannelParser::take_found(const MarkerScan::Result& found) {
  take_text(found.held);
  take_text(found.before);
  if (found.marker != MarkerSet::kNone) {
    take_token(static_cast<Token>(found.marker), tokens_.text(found.marker));
  }
}

void ChannelParser::take_text(std::string_view bytes) {
  if (bytes.empty()) return;
  switch (state_) {
    case State::lead:
      take_lead(bytes);
      break;
    case State::header:
      take_header(bytes);
      break;
    case State::between:
    case State::call_rest:
      take_between(bytes);
      break;
    case State::call_lead:
    case State::call_quote:
    case State::call_odd:
      begin_raw();
      take_text(bytes);
      break;
    case State::raw:
      take_raw(bytes);
      break;
    case State::hidden:
      drop(bytes);
      break;
    case State::body:
    case State::odd_body:
      say(bytes);
      break;
    case State::arguments:
    case State::quoted:
      break;  // tokens are not looked for inside arguments
  }
}

void ChannelParser::take_lead(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    out_.hold(bytes.substr(at, 1));
    header_.push_back(bytes[at]);
    if (may_be_channel_header(header_) && header_.size() < kMaxChannelHeader) continue;
    release(State::body);
    if (at + 1 < bytes.size()) say(bytes.substr(at + 1));
    return;
  }
}

void ChannelParser::take_header(std::string_view bytes) {
  const std::size_t room = kMaxChannelHeader - std::min(kMaxChannelHeader, header_.size());
  out_.hold(bytes);
  header_.append(bytes);
  if (bytes.size() < room) return;
  explain("<|message|>", {});
  release(State::odd_body);
}

// The content of a call is not JSON.
void ChannelParser::begin_raw() {
  if (has_word(header_, "json")) {
    explain("'{'", {});
    return release(State::odd_body);
  }
  const auto tool = std::find_if(tools_.begin(), tools_.end(),
                                 [&](const ToolSpec& each) { return each.name == name_; });
  if (tool == tools_.end()) {
    out_.drop_held();
    state_ = State::hidden;
    return;
  }
  const std::string parameter = text_parameter(*tool);
  raw_is_text_ = !parameter.empty();
  out_.start_call(name_);
  state_ = State::raw;
  if (!raw_is_text_) return;
  escaped_ = "{";
  json::append_string(escaped_, parameter);
  escaped_ += ":";
  value_.begin({}, 0, escaped_);
  out_.arguments(escaped_);
}

void ChannelParser::take_raw(std::string_view bytes) {
  out_.argument_bytes(bytes);
  if (!raw_is_text_) return out_.arguments(bytes);
  escaped_.clear();
  value_.push(bytes, escaped_);
  out_.arguments(escaped_);
}

void ChannelParser::end_raw() {
  if (raw_is_text_) {
    escaped_.clear();
    value_.end(escaped_);
    out_.arguments(escaped_ + "}");
  }
  end_call(raw_is_text_ ? CallOutcome::complete : CallOutcome::malformed);
}

// White space and words of a header behind a message are structure, other text is text.
void ChannelParser::take_between(std::string_view bytes) {
  out_.hold(bytes);
  if (is_filler(out_.held(), true) && out_.held_size() < max_held_back_) return;
  if (state_ == State::between) analysis_ = false;
  release(State::body);
}

// Words that were held back between messages are a header without its opener, filler, or text.
void ChannelParser::leave_between(Token token) {
  if (is_blank(out_.held())) return;
  if (!is_filler(out_.held(), false)) {
    if (state_ == State::between) analysis_ = false;
    return release(State::body);
  }
  if (token != Token::message && token != Token::constrain) return;
  header_ = std::string(" ").append(out_.held());
  state_ = State::header;
}

void ChannelParser::take_token(Token token, std::string_view text) {
  // What only began like the rest of a header is text.
  const bool half = !is_blank(header_) && header_.find(kChannelTo) == std::string::npos;
  if (state_ == State::lead && half) release(State::body);
  if (state_ == State::between || state_ == State::call_rest) leave_between(token);
  switch (state_) {
    case State::lead:
    case State::header:
      take_header_token(token, text);
      return;
    case State::call_odd:
      if (token == Token::message || token == Token::constrain) {
        release(State::odd_body);
        say(text);
        return;
      }
      out_.start_call(name_);
      out_.arguments("{}");
      end_call(CallOutcome::complete);
      break;
    case State::raw:
    case State::hidden:
      if (token == Token::message || token == Token::constrain) return take_text(text);
      if (state_ == State::raw) end_raw();
      break;
    case State::between:
    case State::call_rest:
    case State::body:
    case State::odd_body:
    case State::call_lead:
    case State::call_quote:
    case State::arguments:
    case State::quoted:
      break;
  }
  switch (token) {
    case Token::start:
    case Token::channel:
      open_header(text);
      break;
    case Token::constrain:
    case Token::message:
      say(text);
      break;
    case Token::end:
    case Token::call:
    case Token::finish:
      end_message(text);
      break;
  }
}

void ChannelParser::take_header_token(Token token, std::string_view text) {
  switch (token) {
    case Token::start:
      if (state_ == State::lead && is_blank(header_)) {
        out_.drop_held();
        state_ = State::body;
      }
      if (state_ == State::lead) release(State::body);
      if (state_ == State::body) out_.begin_stretch(upstream_, Lead::turn);
      out_.hold(text);
      header_.clear();
      state_ = State::header;
      break;
    case Token::channel:
    case Token::constrain:
      out_.hold(text);
      header_.push_back(' ');
      state_ = State::header;
      break;
    case Token::message:
      open_body(text);
      break;
    case Token::end:
    case Token::call:
    case Token::finish:
      if (state_ == State::lead) {
        release(State::body);
        end_message(text);
        return;
      }
      end_header(token, text);
      break;
  }
}

// A header without a message is noise, but for that of a call.
void ChannelParser::end_header(Token token, std::string_view text) {
  const std::string name(tool_of(channel_recipient(header_)));
  if (token == Token::call && !name.empty()) {
    out_.start_call(name);
    out_.arguments("{}");
    end_call(CallOutcome::complete);
  }
  drop(text);
  state_ = State::between;
}

void ChannelParser::open_header(std::string_view text) {
  out_.drop_held();
  out_.begin_stretch(upstream_, Lead::turn);
  out_.hold(text);
  header_.clear();
  state_ = State::header;
}

void ChannelParser::open_body(std::string_view text) {
  out_.hold(text);
  name_ = tool_of(channel_recipient(header_));
  analysis_ = is_analysis(header_);
  state_ = name_.empty() ? State::body : State::call_lead;
  if (name_.empty()) out_.drop_held();
}

void ChannelParser::end_message(std::string_view text) {
  if (state_ == State::odd_body) {
    say(text);
  } else {
    drop(text);
  }
  state_ = State::between;
}

void ChannelParser::drop(std::string_view text) {
  out_.hold(text);
  out_.drop_held();
}

// What is held is the beginning of a message, and leaves as text.
void ChannelParser::explain(std::string_view expected, const Found& found) {
  if (explain_ == nullptr) return;
  const std::string reason = expectation(expected, found);
  explain_->stayed_text(
      {.begin = out_.position() - out_.held_size(), .end = out_.position(), .reason = reason});
}

// What is held was not the header of a call: it leaves as it was written.
void ChannelParser::release(State next) {
  const std::string held(out_.held());
  out_.unhold(held.size());
  state_ = next;
  say(held);
}

void ChannelParser::say(std::string_view bytes) {
  const bool reasoning = analysis_ && state_ == State::body;
  out_.verbatim(reasoning ? Channel::reasoning : upstream_, bytes);
}

}  // namespace callgate::dialect
