#include "dialect/family/content_blocks.h"

#include <algorithm>
#include <iterator>

#include "dialect/call_reader.h"

namespace callgate::dialect {
namespace {

constexpr std::string_view kBlockCall = "<|content_invoke_tool_json|>";
constexpr std::string_view kBlockTokens[] = {
    "<|message_model|>",       "<|content_thinking|>",
    "<|content_text|>",        "<|content_invoke_tool_text|>",
    "<|content_tool_error|>",  kBlockCall,
    "<|end_message|>",         "<|content_model_end_sampling|>",
    "<|endoftext|>",           "<|message_user|>",
    "<|message_system|>",      "<|message_tool|>",
    "<|content_xml|>",         "<|content_image|>",
    "<|content_audio_input|>", "<|audio_end|>"};
constexpr Prose kBlockEnds{.tail = kBlockTokens};  // of a broken call
constexpr CallKeys kKeys{};
// Nobody names a tool with more than this; what is longer is text.
constexpr std::size_t kMaxBlockHeader = 256;

bool is_block_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("_-.:/").find(c) != std::string_view::npos;
}

}  // namespace

ContentBlocks::Token ContentBlocks::meaning(std::size_t marker) {
  constexpr Token kMeanings[] = {Token::message, Token::reasoning, Token::text,
                                 Token::text,    Token::text,      Token::call,
                                 Token::end,     Token::end,       Token::end};
  return marker < std::size(kMeanings) ? kMeanings[marker] : Token::other;
}

ContentBlocks::ContentBlocks(const DialectOptions& options)
    : tokens_(kBlockTokens),
      scan_(tokens_),
      out_(options.commit, options.max_held_back, options.explain),
      object_(kKeys, options.tools, kBlockEnds),
      max_held_back_(std::max<std::size_t>(options.max_held_back, 1)),
      doubts_(out_, options.explain) {
  if (options.start == Channel::text) return;
  state_ = State::body;
  reasoning_ = true;
}

void ContentBlocks::push(std::string_view text, Channel channel, EventSink& sink) {
  out_.bind(sink);
  if (out_.pass_plain(text)) return;
  if (channel != upstream_) {
    while (!scan_.idle()) take_found(scan_.finish());
    upstream_ = channel;
  }
  consume(text);
}

void ContentBlocks::finish(EventSink& sink) {
  out_.bind(sink);
  while (!scan_.idle()) take_found(scan_.finish());
  switch (state_) {
    case State::header:
      leave_header();
      break;
    case State::call_lead:
      doubts_.report("'{'", {.extent = Found::Extent::end});
      reject_call();
      break;
    case State::call:
      object_.finish(out_);
      if (out_.calls() != calls_before_) break;
      doubts_.report("the rest of the call", {.extent = Found::Extent::end});
      reject_call();
      break;
    case State::call_rest:
    case State::between:
      out_.drop_held();
      break;
    case State::body:
      break;
  }
  out_.finish();
}

void ContentBlocks::consume(std::string_view bytes) {
  while (!bytes.empty()) {
    if (state_ == State::call) {
      bytes = read_call(bytes);
    } else if (state_ == State::call_lead) {
      bytes = read_call_lead(bytes);
    } else {
      bytes = read_marked(bytes);
    }
  }
}

std::string_view ContentBlocks::read_marked(std::string_view bytes) {
  const MarkerScan::Result found = scan_.push(bytes);
  bytes.remove_prefix(found.used);
  take_found(found);
  return bytes;
}

void ContentBlocks::take_found(const MarkerScan::Result& found) {
  take_text(found.held);
  take_text(found.before);
  if (found.marker == MarkerSet::kNone) return;
  take_token(meaning(found.marker), tokens_.text(found.marker));
  consume(found.replay);
}

std::string_view ContentBlocks::read_call_lead(std::string_view bytes) {
  while (!bytes.empty() && is_space(bytes[0]) && out_.held_size() < max_held_back_) {
    out_.hold(bytes.substr(0, 1));
    bytes.remove_prefix(1);
  }
  if (bytes.empty()) return bytes;
  if (bytes[0] != '{') {
    doubts_.report("'{'", Found::rest(bytes));
    reject_call();
    return bytes;
  }
  out_.hold(bytes.substr(0, 1));
  object_.begin(Opener::Names::any);
  calls_before_ = out_.calls();
  state_ = State::call;
  return bytes.substr(1);
}

std::string_view ContentBlocks::read_call(std::string_view bytes) {
  out_.expect_anything();
  const std::size_t room =
      out_.call_open() ? bytes.size() : max_held_back_ - std::min(max_held_back_, out_.held_size());
  Step step = object_.push(bytes.substr(0, room), out_);
  bytes.remove_prefix(step.used);
  const bool full = !out_.call_open() && out_.held_size() >= max_held_back_;
  if (step.next == Step::Next::more && full && !object_.overflow(out_)) {
    step.next = Step::Next::rejected;
    out_.expected(kTooLong, {});
  }
  if (step.next == Step::Next::more) return bytes;
  if (step.next == Step::Next::closed) {
    state_ = State::call_rest;
  } else {
    if (out_.calls() == calls_before_) doubts_.report("a call", {});
    reject_call();
  }
  consume(step.replay);
  return bytes;
}

void ContentBlocks::take_text(std::string_view bytes) {
  if (bytes.empty()) return;
  switch (state_) {
    case State::header:
      take_header(bytes);
      break;
    case State::call_rest:
    case State::between:
      take_between(bytes);
      break;
    case State::body:
      say(bytes);
      break;
    case State::call_lead:
    case State::call:
      break;  // tokens are not looked for there
  }
}

void ContentBlocks::take_header(std::string_view bytes) {
  const auto end = std::find_if_not(bytes.begin(), bytes.end(), is_block_name_byte);
  const std::size_t room = kMaxBlockHeader - header_.size();
  const std::size_t name = std::min(room, static_cast<std::size_t>(end - bytes.begin()));
  out_.hold(bytes.substr(0, name));
  header_.append(bytes.substr(0, name));
  if (name == bytes.size()) return;
  leave_header();
  say(bytes.substr(name));
}

// White space behind a message is structure, other text is text.
void ContentBlocks::take_between(std::string_view bytes) {
  out_.hold(bytes);
  const bool blank = std::all_of(bytes.begin(), bytes.end(), is_space);
  if (blank && out_.held_size() < max_held_back_) return;
  const std::string held(out_.held());
  out_.unhold(held.size());
  reasoning_ = false;
  state_ = State::body;
  say(held);
}

void ContentBlocks::take_token(Token token, std::string_view text) {
  if (state_ == State::call_rest || state_ == State::between) out_.drop_held();
  if (token == Token::message) return open_header(text);
  if (token == Token::call) {
    if (state_ != State::header) {
      opener_ = 0;
      header_.clear();
    }
    doubts_.begin();
    out_.hold(text);
    state_ = State::call_lead;
    return;
  }
  // A message that begins with a word has no content of its own.
  inside_ = false;
  if (state_ == State::header) leave_header();
  drop(text);
  if (token == Token::other) return;
  state_ = token == Token::end ? State::between : State::body;
  reasoning_ = token == Token::reasoning;
}

void ContentBlocks::open_header(std::string_view text) {
  if (state_ == State::header) {
    const bool empty = header_.empty();
    inside_ = false;
    leave_header();
    if (empty) state_ = State::between;
  }
  inside_ = state_ == State::body;
  out_.hold(text);
  opener_ = text.size();
  header_.clear();
  state_ = State::header;
}

// What is held was not the name of a tool.
void ContentBlocks::leave_header() {
  const std::string held(out_.held());
  out_.unhold(held.size());
  state_ = State::body;
  if (inside_) {
    say(held);
  } else {
    drop(std::string_view(held).substr(0, opener_));
    reasoning_ = false;
    say(std::string_view(held).substr(opener_));
  }
  opener_ = 0;
  header_.clear();
}

// What is held was not a call: its markers stay hidden.
void ContentBlocks::reject_call() {
  const std::string held(out_.held());
  out_.unhold(held.size());
  state_ = State::body;
  if (held.empty()) return;
  const std::string_view text = held;
  const std::size_t marker = opener_ + header_.size();
  drop(text.substr(0, opener_));
  say(text.substr(opener_, header_.size()));
  drop(text.substr(marker, kBlockCall.size()));
  say(text.substr(marker + kBlockCall.size()));
}

void ContentBlocks::drop(std::string_view text) {
  out_.hold(text);
  out_.drop_held();
}

void ContentBlocks::say(std::string_view bytes) {
  if (!bytes.empty()) out_.verbatim(reasoning_ ? Channel::reasoning : upstream_, bytes);
}

}  // namespace callgate::dialect
