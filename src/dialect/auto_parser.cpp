// AutoParser: prose, reasoning, and the states of a turn.
#include "dialect/auto_parser.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace callgate::dialect {
void AutoParser::push(std::string_view text, Channel channel, EventSink& sink) {
  if (state_ == State::block && channel == channel_ && block_.put_off(text)) return;
  sink_ = &sink;
  out_.bind(sink);
  if (channel != channel_) [[unlikely]] {
    change_channel(channel);
  }
  consume(text);
}

void AutoParser::finish(EventSink& sink) {
  sink_ = &sink;
  out_.bind(sink);
  if (state_ == State::turn) {
    turn_->finish(sink);
    if (turn_->has_called()) settled_on_ = dialect_;
    return;
  }
  settle();
  while (state_ == State::look || state_ == State::block || state_ == State::close) {
    if (state_ == State::look) {
      explain_look({});
      give_up(look_.size() - name_.size());
    }
    if (state_ == State::close) close_reasoning();
    if (state_ == State::block) end_block();
    settle();
  }
  if (state_ == State::tail) out_.drop_held();
  leave_lead();
  out_.finish();
}

void AutoParser::cut_off() {
  cut_off_ = true;
  if (state_ == State::block) block_.cut_off();
  if (state_ == State::turn) turn_->cut_off();
}

void AutoParser::interrupt(EventSink& sink) {
  calls_ = TurnGate::Calls::none;
  if (state_ == State::turn) turn_->refuse();
  if (state_ == State::block && !block_.committed()) {
    sink_ = &sink;
    out_.bind(sink);
    give_up(block_.bytes().size());
  }
  finish(sink);
}

const Audit& AutoParser::audit() const {
  audit_ = out_.audit();
  const auto add = [&](const Audit& more) {
    audit_.text += more.text;
    audit_.reasoning += more.reasoning;
    audit_.arguments += more.arguments;
    audit_.marker += more.marker;
  };
  add(called_);
  if (turn_) add(turn_->audit());
  if (state_ == State::block) add(block_.audit());
  return audit_;
}

std::size_t AutoParser::held_size() const {
  switch (state_) {
    case State::look:
      return look_.size();
    case State::block:
      return block_.bytes().size();
    case State::turn:
      return turn_->held_size();
    case State::prose:
    case State::tail:
    case State::close:
    case State::json:
      return out_.held_size();
  }
  return 0;
}

// No marker spans two channels, but a call may.
void AutoParser::change_channel(Channel channel) {
  settle();
  if (state_ == State::look) {
    explain_look({});
    give_up(look_.size() - name_.size());
  }
  if (state_ == State::close) close_reasoning();
  settle();
  channel_ = channel;
  if (!channel_changed_ && state_ == State::block) {
    block_before_change_ = block_.start() + block_.bytes().size();
  }
  channel_changed_ = true;
  if (state_ == State::block || state_ == State::turn) return;
  leave_lead();
  follow_channel();
}

// A block is in the channel that it began in; what follows it is in the upstream's.
void AutoParser::follow_channel() {
  if (!std::exchange(channel_changed_, false)) return;
  if (channel_ == Channel::text) {
    reasoning_ = false;
    tagged_ = false;
  }
  if (out_.channel() != prose_channel()) out_.begin_stretch(prose_channel(), Lead::turn);
  in_refused_section_ = false;
  behind_refused_ = false;
  context_.reset();
}

// What may still become a marker does not.
void AutoParser::settle() {
  while (!scan_.idle()) take_found(scan_.finish());
}

void AutoParser::consume(std::string_view bytes) {
  while (!bytes.empty()) {
    switch (state_) {
      case State::prose:
      case State::tail:
        bytes = read_prose(bytes);
        break;
      case State::close:
        bytes = read_close(bytes);
        break;
      case State::look:
        bytes = read_look(bytes);
        break;
      case State::block:
        bytes = read_block(bytes);
        break;
      case State::json:
        bytes = read_json(bytes);
        break;
      case State::turn:
        bytes = read_turn(bytes);
        break;
    }
  }
}

std::string_view AutoParser::read_prose(std::string_view bytes) {
  const MarkerScan::Result found = scan_.push(bytes);
  bytes.remove_prefix(found.used);
  take_found(found);
  return bytes;
}

void AutoParser::take_found(const MarkerScan::Result& found) {
  take_prose(found.held);
  take_prose(found.before);
  if (found.marker == MarkerSet::kNone) return;
  take_marker(list_.watched[found.marker], list_.set.text(found.marker));
  consume(found.replay);
}

void AutoParser::take_prose(std::string_view bytes) {
  if (bytes.empty()) return;
  context_.push(bytes);
  behind_refused_ = behind_refused_ && is_blank(bytes);
  if (state_ == State::tail) {
    if (is_blank(bytes) && out_.held_size() < options_.max_held_back) {
      out_.hold(bytes);
      return;
    }
    leave_lead();
  }
  said_ = said_ || (prose_channel() == Channel::text && !is_blank(bytes));
  out_.prose(bytes);
}

// What was held back of an end token is text.
void AutoParser::leave_lead() {
  if (state_ != State::tail) return;
  state_ = State::prose;
  out_.release_held();
  said_ = said_ || prose_channel() == Channel::text;
}

void AutoParser::take_marker(const Watched& watched, std::string_view text) {
  if (watched.role != Watched::Role::tail) leave_lead();
  switch (watched.role) {
    case Watched::Role::sign:
      take_sign(list_.signs[watched.index], text);
      break;
    case Watched::Role::section_end:
      take_prose(text);
      behind_refused_ = std::exchange(in_refused_section_, false);
      break;
    case Watched::Role::reasoning_open:
      open_reasoning(text);
      break;
    case Watched::Role::reasoning_close:
      take_reasoning_close(watched.index, text);
      break;
    case Watched::Role::tail:
      context_.push(text);
      out_.hold(text);
      state_ = State::tail;
      break;
  }
}

// At the start of the turn, and doubled at the start of reasoning that the prompt opened.
void AutoParser::open_reasoning(std::string_view text) {
  const bool doubled = prose_channel() == Channel::reasoning;
  if (!out_.fresh() || (said_ && !doubled)) return take_prose(text);
  out_.hold(text);
  out_.drop_held();
  reasoning_ = true;
  tagged_ = true;
  context_.reset();
  out_.begin_stretch(Channel::reasoning, Lead::opener);
}

// Reasoning that a tag opened is closed by its partner, reasoning that the prompt opened by any closer.
void AutoParser::take_reasoning_close(std::size_t index, std::string_view text) {
  if (!reasoning_ || (tagged_ && index != 0)) return take_prose(text);
  out_.hold(text);
  if (context_.in_span()) {
    state_ = State::close;
    return;
  }
  close_reasoning();
}

std::string_view AutoParser::read_close(std::string_view bytes) {
  if (bytes[0] != '`') {
    close_reasoning();
    return bytes;
  }
  state_ = State::prose;
  context_.push(out_.held());
  out_.release_held();
  return bytes;
}

void AutoParser::close_reasoning() {
  state_ = State::prose;
  out_.drop_held();
  out_.close_stretch();
  reasoning_ = false;
  tagged_ = false;
  in_refused_section_ = false;
  behind_refused_ = false;
  context_.reset();
  out_.begin_stretch(channel_, Lead::closer);
}

}  // namespace callgate::dialect
