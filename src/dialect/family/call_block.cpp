#include "dialect/family/call_block.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "dialect/family/call_object.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxPutOff = 1024;  // bytes that the parser has not read

}  // namespace

void CallBlock::begin(std::unique_ptr<AuditedParser> parser) {
  parser_ = std::move(parser);
  verdict_ = Verdict::open;
  committed_ = false;
  refusing_ = false;
  call_open_ = false;
  bytes_.clear();
  read_ = 0;
  may_put_off_ = 0;
  dropped_ = 0;
  calls_end_ = 0;
  argument_bytes_ = 0;
  text_from_ = 0;
  text_to_ = 0;
  refused_bytes_ = 0;
  calls_.clear();
}

void CallBlock::push(std::string_view bytes, EventSink& sink) {
  sink_ = &sink;
  if (committed_ && call_open_ && !refusing_) forget_bytes();
  bytes_.append(bytes);
  feed();
}

void CallBlock::feed() {
  const std::size_t from = std::exchange(read_, bytes_.size());
  if (from < bytes_.size()) {
    parser_->push(std::string_view(bytes_).substr(from), Channel::text, *this);
  }
  const bool waits = call_open_ && !committed_ && !refusing_ && verdict_ == Verdict::open;
  const std::size_t room = limit_ - std::min(limit_, bytes_.size());
  may_put_off_ = waits ? std::min(kMaxPutOff, room) : 0;
}

void CallBlock::forget_bytes() {
  dropped_ += bytes_.size();
  bytes_.clear();
  read_ = 0;
}

void CallBlock::finish(EventSink& sink) {
  sink_ = &sink;
  feed();
  parser_->finish(*this);
}

void CallBlock::accept(const Event& event) {
  if (verdict_ != Verdict::open) return;
  std::visit(Overloaded{
                 [&](const TextDelta&) { take_prose(); },
                 [&](const ReasoningDelta&) { take_prose(); },
                 [&](const RefusalDelta&) { take_prose(); },
                 [&](const CallStarted& e) { keep(e); },
                 [&](const ArgumentsDelta& e) { keep(e); },
                 [&](const CallFinished& e) { keep(e); },
                 [&](const FieldReported&) {},
                 [&](const UsageReported&) {},
                 [&](const TurnFinished&) {},
             },
             event);
}

// Before calls that left, the markers after them are structure; in a quotation they are quoted.
void CallBlock::take_prose() {
  verdict_ = calls_end_ == 0 ? Verdict::no_call : Verdict::quoted;
  if (!committed_) {
    text_to_ = calls_end_;
    return;
  }
  const Audit& audit = parser_->audit();
  text_from_ = static_cast<std::size_t>(audit.arguments + audit.marker) - dropped_;
  text_to_ = text_from_;
}

void CallBlock::keep(const CallStarted& event) {
  call_open_ = true;
  refusing_ = !may_be_called(tools_, event.name);
  if (refusing_) refused_name_ = event.name;
  if (!committed_) {
    calls_.start(event);
  } else if (!refusing_) {
    sink_->accept(CallStarted{next_, event.name, event.native_id});
  }
}

void CallBlock::keep(const ArgumentsDelta& event) {
  if (refusing_) return;
  if (committed_) {
    sink_->accept(ArgumentsDelta{next_, event.bytes});
  } else {
    calls_.add(event);
  }
}

void CallBlock::keep(const CallFinished& event) {
  call_open_ = false;
  const Audit& audit = parser_->audit();
  const auto end = static_cast<std::size_t>(audit.sum());
  if (refusing_) {
    verdict_ = Verdict::refused;
    text_from_ = committed_ && calls_end_ > dropped_ ? calls_end_ - dropped_ : 0;
    text_to_ = end - dropped_;
    return;
  }
  calls_end_ = end;
  argument_bytes_ = audit.arguments;
  if (committed_) {
    sink_->accept(CallFinished{next_++, event.outcome});
  } else {
    calls_.finish(event);
  }
}

std::string CallBlock::drop_refused() {
  const std::size_t from = committed_ && calls_end_ > dropped_ ? calls_end_ - dropped_ : 0;
  std::string text = bytes_.substr(from);
  refused_bytes_ += text.size();
  forget_bytes();
  return text;
}

void CallBlock::commit(CallIndex first, EventSink& sink) {
  CALLGATE_CHECK(verdict_ == Verdict::open && has_calls());
  next_ = calls_.release(first, sink);
  committed_ = true;
  may_put_off_ = 0;
}

Audit CallBlock::audit() const {
  if (!committed_) return {};
  if (verdict_ == Verdict::open) return parser_->audit();
  return {.arguments = argument_bytes_,
          .marker = dropped_ + text_from_ - argument_bytes_ - refused_bytes_};
}

}  // namespace callgate::dialect
