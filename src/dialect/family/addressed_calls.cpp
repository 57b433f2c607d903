#include "dialect/family/addressed_calls.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "dialect/call_reader.h"
#include "dialect/family/tag_attributes.h"
#include "dialect/family/tagged_value.h"

namespace callgate::dialect {
namespace {

constexpr std::string_view kMessage = "<|message|>";
constexpr std::string_view kAddressInvoke = "<atem:invoke";
constexpr std::string_view kCallsClose = "</atem:function_calls>";
constexpr std::string_view kAddressTokens[] = {
    "<|start|>", kMessage,      "<|eom|>", "<|eot|>", "<atem:function_calls>",
    kCallsClose, kAddressInvoke};
constexpr std::string_view kSectionClose[] = {kCallsClose};
constexpr std::string_view kAddressTail[] = {"<|eom|>", "<|eot|>", "<|start|>"};
constexpr Opener kOpen[] = {{kAddressInvoke}};
constexpr TaggedGrammar kGrammar[] = {
    {.call = {.open = kAddressInvoke, .style = NameTag::Style::attribute},
     .call_close = "</atem:invoke>",
     .parameter = {.open = "<atem:parameter", .style = NameTag::Style::attribute},
     .value_close = "</atem:parameter>",
     .unknown = TaggedGrammar::Unknown::json,
     .section_close = kSectionClose,
     .tail = kAddressTail}};

constexpr std::string_view kRole = "assistant";
constexpr std::string_view kAddressTo = "to=";
// No header and no tag is longer; what is, is text.
constexpr std::size_t kMaxAddress = 1024;
constexpr Found kEnd{.extent = Found::Extent::end};

std::string_view addressee_of(std::string_view header) {
  const std::size_t at = header.rfind(kAddressTo);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + kAddressTo.size());
  return header.substr(0, header.find_first_of(kSpace));
}

// ` to=get_weather `, or a beginning of it.
bool may_be_address(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  if (text.size() < kAddressTo.size()) return kAddressTo.starts_with(text);
  if (!text.starts_with(kAddressTo)) return false;
  const std::size_t end = text.find_first_of(kSpace);
  return end == std::string_view::npos || is_blank(text.substr(end));
}

// `assistant to=get_weather`, or a beginning of it.
bool may_be_call_header(std::string_view text) {
  if (text.size() <= kRole.size()) return kRole.starts_with(text);
  text = text.starts_with(kRole) ? text.substr(kRole.size()) : "?";
  return is_space(text[0]) && may_be_address(text);
}

}  // namespace

AddressedCalls::Token AddressedCalls::meaning(std::size_t marker) {
  constexpr Token kMeanings[] = {Token::start,      Token::message,     Token::end,   Token::end,
                                 Token::calls_open, Token::calls_close, Token::invoke};
  return kMeanings[marker];
}

AddressedCalls::AddressedCalls(const DialectOptions& options)
    : tokens_(kAddressTokens),
      scan_(tokens_),
      out_(options.commit, options.max_held_back, options.explain),
      schemas_(options.tools),
      calls_(kGrammar, kOpen, options),
      max_held_back_(std::max<std::size_t>(options.max_held_back, 1)),
      doubts_(out_, options.explain) {
  // An address may come first all the same.
  reasoning_ = options.start == Channel::reasoning;
}

void AddressedCalls::push(std::string_view text, Channel channel, EventSink& sink) {
  out_.bind(sink);
  if (out_.pass_plain(text)) return;
  if (channel != upstream_) {
    while (!scan_.idle()) take_found(scan_.finish());
    upstream_ = channel;
  }
  consume(text);
}

void AddressedCalls::finish(EventSink& sink) {
  out_.bind(sink);
  while (!scan_.idle()) take_found(scan_.finish());
  if (state_ == State::all_tags) settle_tags();
  switch (state_) {
    case State::lead:
    case State::answer_lead:
      release(State::body);
      break;
    case State::header:
      if (inside_) give_up("<|message|>", kEnd, State::body);
      out_.drop_held();
      break;
    case State::tag:
      out_.hold(tag_);
      give_up("'>'", kEnd, State::body);
      break;
    case State::call:
      calls_.finish(out_);
      if (out_.calls() == calls_before_) give_up("the rest of the call", kEnd, State::body);
      break;
    case State::between:
    case State::call_lead:
      out_.drop_held();
      break;
    case State::body:
    case State::answer:
    case State::all_tags:
      break;
  }
  out_.finish();
}

void AddressedCalls::consume(std::string_view bytes) {
  while (!bytes.empty()) {
    if (state_ == State::call) {
      bytes = read_call(bytes);
    } else if (state_ == State::tag) {
      read_tag(bytes[0]);
      bytes.remove_prefix(1);
    } else if (state_ == State::call_lead && !header_.empty()) {
      bytes = read_tool_lead(bytes);
    } else {
      bytes = read_marked(bytes);
    }
  }
}

std::string_view AddressedCalls::read_marked(std::string_view bytes) {
  const MarkerScan::Result found = scan_.push(bytes);
  bytes.remove_prefix(found.used);
  take_found(found);
  return bytes;
}

void AddressedCalls::take_found(const MarkerScan::Result& found) {
  take_text(found.held);
  take_text(found.before);
  if (found.marker == MarkerSet::kNone) return;
  take_token(meaning(found.marker), tokens_.text(found.marker));
  consume(found.replay);
}

// A message to a tool begins: with tags, or with a brace.
std::string_view AddressedCalls::read_tool_lead(std::string_view bytes) {
  while (!bytes.empty() && is_space(bytes[0]) && out_.held_size() < max_held_back_) {
    out_.hold(bytes.substr(0, 1));
    bytes.remove_prefix(1);
  }
  if (bytes.empty()) return bytes;
  if (bytes[0] == '{') {
    doubts_.begin();
    begin_call(declared_name(std::string(addressee_of(header_))));
  }
  header_.clear();
  return bytes;
}

// A tag ends with its `>`. Models sometimes write `<|message|>` into the name, or in place of the tag's end.
void AddressedCalls::read_tag(char c) {
  tag_.push_back(c);
  const std::string_view tag = tag_;
  if (c == '>' && !tag.ends_with("|>")) return end_tag({});
  const bool opens = tag.size() > 2 && tag[tag.size() - 2] == '<' && c != '|';
  if (opens && trimmed(tag.substr(0, tag.size() - 2)).ends_with(kMessage)) {
    return end_tag(tag.substr(tag.size() - 2));
  }
  if (tag.size() < kMaxAddress && out_.held_size() + tag.size() < max_held_back_) return;
  out_.hold(tag_);
  give_up("'>'", {}, State::body);
}

// `behind` was read and stands behind the tag.
void AddressedCalls::end_tag(std::string_view behind) {
  const std::string rest(behind);
  tag_.resize(tag_.size() - rest.size());
  out_.hold(tag_);
  const std::string name = tool_name(tag_);
  if (name.empty()) {
    give_up("the name of a tool in the tag", Found::word(tag_), State::body);
  } else {
    begin_call(name);
  }
  consume(rest);
}

void AddressedCalls::begin_call(std::string_view name) {
  calls_.open_named(name, out_);
  calls_before_ = out_.calls();
  awaits_call_ = false;
  state_ = State::call;
}

// The name in ` name="get_weather">`, as the request declares it.
std::string AddressedCalls::tool_name(std::string_view tag) const {
  std::string text(tag);
  for (std::size_t at = text.find(kMessage); at != std::string::npos; at = text.find(kMessage)) {
    text.erase(at, kMessage.size());
  }
  while (text.ends_with('>') || text.ends_with('/')) text.pop_back();
  if (std::count(text.begin(), text.end(), '"') == 1) text.push_back('"');
  return declared_name(attribute(text, "name").value_or(""));
}

// `get_weather.get_weather` is `get_weather`: a tool without a namespace gets its own name as one.
std::string AddressedCalls::declared_name(std::string name) const {
  const std::size_t half = name.size() / 2;
  const bool doubled = name.size() > 2 && name == name.substr(0, half) + "." + name.substr(0, half);
  const bool single =
      doubled && !schemas_.declares(name) && schemas_.declares(name.substr(0, half));
  return single ? name.substr(0, half) : name;
}

std::string_view AddressedCalls::read_call(std::string_view bytes) {
  out_.expect_anything();
  const std::size_t room =
      out_.call_open() ? bytes.size() : max_held_back_ - std::min(max_held_back_, out_.held_size());
  Step step = calls_.push(bytes.substr(0, room), out_);
  bytes.remove_prefix(step.used);
  const bool full = !out_.call_open() && out_.held_size() >= max_held_back_;
  if (step.next == Step::Next::more && full && !calls_.overflow(out_)) {
    step.next = Step::Next::rejected;
    out_.expected(kTooLong, {});
  }
  if (step.next == Step::Next::more) return bytes;
  if (out_.calls() == calls_before_) {
    give_up("a call", {}, State::body);
  } else {
    state_ = State::call_lead;
  }
  consume(step.replay);
  return bytes;
}

void AddressedCalls::take_text(std::string_view bytes) {
  if (bytes.empty()) return;
  switch (state_) {
    case State::lead:
      take_lead(bytes);
      break;
    case State::header:
      take_header(bytes);
      break;
    case State::between:
      take_between(bytes);
      break;
    case State::call_lead:
      take_call_lead(bytes);
      break;
    case State::answer_lead:
      out_.hold(bytes);
      if (!is_blank(bytes) || out_.held_size() >= max_held_back_) release(State::answer);
      break;
    case State::all_tags:
      take_all_tags(bytes);
      break;
    case State::body:
    case State::answer:
      say(bytes);
      break;
    case State::tag:
    case State::call:
      break;  // tokens are not looked for there
  }
}

void AddressedCalls::take_lead(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    out_.hold(bytes.substr(at, 1));
    header_.push_back(bytes[at]);
    if (may_be_address(header_) && header_.size() < kMaxAddress) continue;
    release(State::body);
    say(bytes.substr(at + 1));
    return;
  }
}

// Behind a message any header is one; inside of one it has to be that of the next message.
void AddressedCalls::take_header(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    header_.push_back(bytes[at]);
    const bool fits = !inside_ || may_be_call_header(header_);
    if (!fits) out_.expected("assistant, to= and a recipient", Found::rest(bytes.substr(at)));
    out_.hold(bytes.substr(at, 1));
    if (fits && header_.size() < kMaxAddress) continue;
    give_up("<|message|>", {}, State::body);
    say(bytes.substr(at + 1));
    return;
  }
}

// White space behind a message is structure, other text is text.
void AddressedCalls::take_between(std::string_view bytes) {
  out_.hold(bytes);
  if (is_blank(bytes) && out_.held_size() < max_held_back_) return;
  reasoning_ = false;
  release(State::body);
}

void AddressedCalls::take_call_lead(std::string_view bytes) {
  const std::size_t blank = std::min(bytes.find_first_not_of(kSpace), bytes.size());
  out_.hold(bytes.substr(0, blank));
  const bool prose = blank < bytes.size();
  if (prose && awaits_call_) {
    doubts_.report("<atem:invoke or '{'", Found::rest(bytes.substr(blank)));
  }
  out_.hold(bytes.substr(blank));
  if (prose || out_.held_size() >= max_held_back_) release(State::body);
}

void AddressedCalls::take_all_tags(std::string_view bytes) {
  const std::size_t blank = std::min(bytes.find_first_not_of(kSpace), bytes.size());
  out_.hold(bytes.substr(0, blank));
  const bool prose = closed_ && blank < bytes.size();
  if (prose) out_.expected("the end of the message", Found::rest(bytes.substr(blank)));
  out_.hold(bytes.substr(blank));
  if (prose || out_.held_size() >= max_held_back_) give_up(kTooLong, {}, State::answer);
}

void AddressedCalls::take_token(Token token, std::string_view text) {
  switch (state_) {
    case State::lead:
      if (!is_blank(header_) && addressee_of(header_).empty()) release(State::body);
      if (state_ == State::lead) return take_header_token(token, text);
      return take_token(token, text);
    case State::header:
      return take_header_token(token, text);
    case State::call_lead:
      return take_call_token(token, text);
    case State::between:
      out_.drop_held();
      break;
    case State::answer_lead:
      if (token == Token::calls_open) {
        doubts_.begin();
        out_.hold(text);
        closed_ = false;
        state_ = State::all_tags;
        return;
      }
      release(State::answer);
      break;
    case State::all_tags:
      if (token == Token::end || (token == Token::start && closed_)) {
        settle_tags();
        return consume(text);
      }
      closed_ = token == Token::calls_close;
      out_.hold(text);
      if (out_.held_size() >= max_held_back_) give_up(kTooLong, {}, State::answer);
      return;
    case State::body:
    case State::answer:
    case State::tag:
    case State::call:
      break;
  }
  if (token == Token::end) {
    take_end(text);
  } else if (token == Token::start && state_ != State::answer) {
    open_header(text);
  } else if (token == Token::message && state_ == State::between) {
    header_.clear();
    open_message(text);
  } else {
    if (state_ == State::between) {
      reasoning_ = false;
      state_ = State::body;
    }
    say(text);
  }
}

void AddressedCalls::take_header_token(Token token, std::string_view text) {
  switch (token) {
    case Token::message:
      open_message(text);
      break;
    case Token::start:
      if (inside_) {
        give_up("<|message|>", Found::word(text), State::body);
      } else if (state_ == State::lead && !is_blank(header_)) {
        release(State::body);
      } else {
        out_.drop_held();
        state_ = State::between;
      }
      open_header(text);
      break;
    case Token::end:
      if (inside_) {
        give_up("<|message|>", Found::word(text), State::body);
      } else if (state_ == State::lead) {
        release(State::body);
      }
      take_end(text);
      break;
    case Token::calls_open:
    case Token::calls_close:
    case Token::invoke:
      // A server may drop the special tokens.
      if (inside_ || addressee_of(header_).empty()) {
        if (inside_) doubts_.report("<|message|>", Found::word(text));
        release(State::body);
        say(text);
      } else {
        open_message({});
        take_token(token, text);
      }
      break;
  }
}

void AddressedCalls::take_call_token(Token token, std::string_view text) {
  header_.clear();
  switch (token) {
    case Token::start:
      out_.drop_held();
      state_ = State::between;
      open_header(text);
      break;
    case Token::end:
      take_end(text);
      break;
    case Token::invoke:
      begin_tag(text);
      break;
    case Token::calls_close:
      drop(text);
      break;
    case Token::message:
    case Token::calls_open:
      out_.hold(text);
      break;
  }
}

void AddressedCalls::begin_tag(std::string_view text) {
  doubts_.begin();
  awaits_call_ = false;
  out_.hold(text);
  tag_.clear();
  state_ = State::tag;
}

void AddressedCalls::take_end(std::string_view text) {
  drop(text);
  reasoning_ = false;
  state_ = State::between;
}

void AddressedCalls::open_header(std::string_view text) {
  inside_ = state_ == State::body;
  doubts_.begin();
  out_.hold(text);
  header_.clear();
  state_ = State::header;
}

void AddressedCalls::open_message(std::string_view text) {
  drop(text);
  const std::string_view recipient = addressee_of(header_);
  reasoning_ = recipient == "self";
  const bool answers = recipient.empty() || recipient == "user" || recipient == "all";
  state_ = reasoning_ ? State::body : answers ? State::answer_lead : State::call_lead;
  awaits_call_ = state_ == State::call_lead;
}

// The message is over, and nothing but tags.
void AddressedCalls::settle_tags() {
  const std::string tags(out_.held());
  const std::size_t invoke = tags.find(kAddressInvoke);
  const std::size_t end = tags.find('>', std::min(invoke, tags.size()));
  std::string name;
  if (closed_ && end != std::string::npos) {
    const std::size_t from = invoke + kAddressInvoke.size();
    name = tool_name(std::string_view(tags).substr(from, end + 1 - from));
  }
  if (!schemas_.declares(name)) {
    if (!name.empty()) out_.expected_declared(name);
    return give_up("a call and </atem:function_calls>", {}, State::answer);
  }
  out_.unhold(tags.size());
  header_.clear();
  state_ = State::call_lead;
  consume(tags);
}

// What is held is text, for what the reader said first, or else for this.
void AddressedCalls::give_up(std::string_view expected, const Found& found, State next) {
  doubts_.report(expected, found);
  release(next);
}

// What is held is text.
void AddressedCalls::release(State next) {
  const std::string held(out_.held());
  out_.unhold(held.size());
  state_ = next;
  say(held);
}

void AddressedCalls::drop(std::string_view text) {
  out_.hold(text);
  out_.drop_held();
}

void AddressedCalls::say(std::string_view bytes) {
  if (!bytes.empty()) out_.verbatim(reasoning_ ? Channel::reasoning : upstream_, bytes);
}

}  // namespace callgate::dialect
