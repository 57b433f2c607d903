#include "upstream/call_tracker.h"

#include <algorithm>
#include <utility>

namespace callgate::upstream {
namespace {

void emit_prose(Prose kind, std::string_view text, EventSink& sink) {
  switch (kind) {
    case Prose::text:
      return sink.accept(TextDelta{text});
    case Prose::reasoning:
      return sink.accept(ReasoningDelta{text});
    case Prose::refusal:
      return sink.accept(RefusalDelta{text});
  }
}

void count_once(bool& counted, RepairCounts& repairs, Repair repair) {
  if (!std::exchange(counted, true)) count(repairs, repair);
}

using State = CallArguments::State;

}  // namespace

void CallTracker::expect_disorder(std::span<const ToolSpec> tools) { names_.emplace(tools); }

void CallTracker::next_document(bool unescaped) {
  ++document_;
  unescaped_ = unescaped;
}

void CallTracker::push_prose(Prose kind, std::string_view text, EventSink& sink) {
  if (text.empty()) return;
  say(kind, prose_halves_[static_cast<std::size_t>(kind)].push(text, joined_), sink);
}

void CallTracker::say(Prose kind, std::string_view text, EventSink& sink) {
  if (text.empty()) return;
  if (live_ == slots_.size()) return emit_prose(kind, text, sink);
  const Slot& last = slots_.back();
  if (last.kind != Slot::Kind::prose || last.prose != kind) {
    Slot& slot = slots_.emplace_back();
    slot.kind = Slot::Kind::prose;
    slot.prose = kind;
  }
  slots_.back().held.append(text);
  held_back_ += text.size();
  pump(sink);
}

// Prose after a call does not continue the prose before it.
void CallTracker::end_prose(EventSink& sink) {
  for (const Prose kind : {Prose::text, Prose::reasoning, Prose::refusal}) {
    say(kind, prose_halves_[static_cast<std::size_t>(kind)].finish(), sink);
  }
}

void CallTracker::push_call(const CallPiece& piece, bool whole, RepairCounts& repairs,
                            EventSink& sink) {
  if (piece.name.empty() && piece.id.empty() && piece.arguments.empty() && piece.others.empty()) {
    return;
  }
  Slot* slot = whole ? nullptr : find(piece);
  if (slot != nullptr && is_summary(*slot, piece)) {
    return count_once(slot->counted_repeat, repairs, Repair::id_repeated);
  }
  if (slot == nullptr || !continues(*slot, piece)) {
    end_prose(sink);
    slot = &open(piece, slot, whole, repairs);
  } else {
    update(*slot, piece, repairs);
  }
  if (piece.arguments_object) {
    count_once(slot->counted_object, repairs, Repair::arguments_object);
  }
  if (piece.arguments_renamed) {
    count_once(slot->counted_place, repairs, Repair::arguments_misplaced);
  }
  take_fields(*slot, piece, sink);
  append(*slot, slot->halves.push(piece.arguments.view(), joined_), repairs, sink);
  if (slot->may_repeat && slot->is_closed()) drop_if_repeated(*slot, repairs);
  pump(sink);
}

// Members of a call that callgate does not know. Those of a call that has left come too late.
void CallTracker::take_fields(Slot& slot, const CallPiece& piece, EventSink& sink) {
  if (piece.others.empty() || (slot.started && !is_live(slot))) return;
  for (const OtherMember& other : piece.others) {
    slot.fields.emplace_back(other.name.view(), other.json);
    held_back_ += other.name.view().size() + other.json.size();
  }
  if (slot.started) emit_fields(slot, sink);
}

void CallTracker::emit_fields(Slot& slot, EventSink& sink) {
  for (const auto& [name, json] : slot.fields) {
    held_back_ -= name.size() + json.size();
    sink.accept(FieldReported{FieldReported::Scope::call, name, json, next_call_});
  }
  slot.fields.clear();
}

CallTracker::Slot& CallTracker::open(const CallPiece& piece, const Slot* reused, bool whole,
                                     RepairCounts& repairs) {
  const bool continued_header = reused != nullptr && reused->header_again;
  std::string id(piece.id.empty() && continued_header ? reused->next_id : piece.id.view());
  const std::string name(piece.name.empty() && continued_header ? reused->name : piece.name.view());
  if (!piece.legacy && !whole) {
    if (!piece.index) count(repairs, Repair::index_missing);
    if (piece.index && reused != nullptr) count(repairs, Repair::index_reused);
  }
  const bool taken = !id.empty() && !ids_.insert(id).second;
  if (!piece.legacy && (id.empty() || taken)) count(repairs, Repair::id_missing);
  Slot& slot = slots_.emplace_back();
  slot.index = piece.index;
  slot.id = std::move(id);
  slot.document = document_;
  if (!name.empty()) set_name(slot, name, repairs);
  if (whole) slot.growth = ToolNames::Growth::over;
  slot.whole = whole;
  slot.may_repeat = names_ && !name.empty() && has_earlier(slot, false);
  return slot;
}

void CallTracker::update(Slot& slot, const CallPiece& piece, RepairCounts& repairs) {
  const std::string_view name = piece.name.view();
  const bool id_again = !piece.id.empty() && !slot.id.empty();
  const bool name_again = !name.empty() && !slot.name.empty() && same_name(slot, name);
  if (slot.is_closed() && name_again) {
    slot.header_again = true;  // perhaps the start of another call: its arguments decide
    slot.next_id = piece.id.view();
  } else if (id_again || name_again) {
    count_once(slot.counted_repeat, repairs, Repair::id_repeated);
  }
  if (piece.index && slot.index && *piece.index != *slot.index) {
    slot.other_index = piece.index;
    count_once(slot.counted_place, repairs, Repair::arguments_misplaced);
  }
  if (slot.id.empty()) slot.id = piece.id.view();
  if (name.empty() || name_again) return;
  if (slot.name.empty()) return set_name(slot, name, repairs);
  if (!names_ || slot.is_closed()) return;
  count_once(slot.counted_name, repairs, Repair::name_broken);
  if (slot.started) return;
  if (const std::string joined = joined_name(slot, piece); !joined.empty()) {
    set_name(slot, joined, repairs);
  }
}

void CallTracker::set_name(Slot& slot, std::string_view name, RepairCounts& repairs) {
  slot.name = name;
  if (!names_) return;
  slot.growth = names_->growth(slot.name);
  if (names_->cleaned(slot.name) != slot.name) {
    count_once(slot.counted_name, repairs, Repair::name_broken);
  }
}

void CallTracker::append(Slot& slot, std::string_view bytes, RepairCounts& repairs,
                         EventSink& sink) {
  if (bytes.empty()) return;
  const std::size_t held = slot.arguments.held();
  if (unescaped_) {
    slot.arguments.push_unescaped(bytes, repairs);
  } else if (slot.arguments.push(bytes, slot.started && is_live(slot), repairs)) {
    return emit(bytes, sink);
  }
  held_back_ += slot.arguments.held() - held;
}

// Half a surrogate pair whose other half did not come.
void CallTracker::end_arguments(Slot& slot) {
  const std::string_view half = slot.halves.finish();
  if (half.empty()) return;
  RepairCounts repairs{};  // replaced() counts it
  const std::size_t held = slot.arguments.held();
  slot.arguments.push(half, false, repairs);
  held_back_ += slot.arguments.held() - held;
}

void CallTracker::drop_if_repeated(Slot& slot, RepairCounts& repairs) {
  slot.may_repeat = false;
  if (!has_earlier(slot, true)) return;
  slot.kind = Slot::Kind::repetition;
  held_back_ -= slot.arguments.held();
  slot.arguments.drop();
  count(repairs, Repair::call_repeated);
}

// Lets everything leave that may leave now.
void CallTracker::pump(EventSink& sink) {
  for (; live_ < slots_.size(); ++live_) {
    Slot& slot = slots_[live_];
    if (slot.kind == Slot::Kind::repetition) continue;
    if (slot.kind == Slot::Kind::prose) {
      emit_prose(slot.prose, slot.held, sink);
      held_back_ -= slot.held.size();
      slot.held = {};
      continue;
    }
    if (!has_name(slot) || slot.may_repeat) return;
    start(slot, sink);
    if (const std::string_view ready = slot.arguments.ready(); !ready.empty()) {
      emit(ready, sink);
      held_back_ -= ready.size();
      slot.arguments.remove_ready();
    }
    const bool last = live_ + 1 == slots_.size();
    if (!slot.is_closed() || (last && !slot.over)) return;
    close(slot, false, sink);
  }
}

void CallTracker::end_call(std::int64_t index, EventSink& sink) {
  for (std::size_t i = slots_.size(), stop = std::max(live_, reach_from(i)); i-- > stop;) {
    if (slots_[i].kind != Slot::Kind::call || slots_[i].index != index) continue;
    slots_[i].over = slots_[i].is_closed();
    return pump(sink);
  }
}

void CallTracker::end_newest(EventSink& sink) {
  if (live_ == slots_.size() || slots_.back().kind != Slot::Kind::call || is_prefilled()) return;
  slots_.back().over = slots_.back().is_closed();
  pump(sink);
}

// A name that may still grow is not one yet.
bool CallTracker::has_name(const Slot& slot) {
  if (slot.name.empty()) return false;
  const State state = slot.arguments.state();
  switch (slot.growth) {
    case ToolNames::Growth::over:
      return true;
    case ToolNames::Growth::until_arguments:
      return slot.started || state != State::before;
    case ToolNames::Growth::until_their_end:
      return slot.started || state == State::closed || state == State::failed;
  }
  return true;
}

void CallTracker::start(Slot& slot, EventSink& sink) {
  if (std::exchange(slot.started, true)) return;
  const std::string_view name = names_ ? names_->cleaned(slot.name) : slot.name;
  sink.accept(CallStarted{next_call_, name, slot.id});
  emit_fields(slot, sink);
}

void CallTracker::emit(std::string_view bytes, EventSink& sink) {
  sink.accept(ArgumentsDelta{next_call_, bytes});
}

void CallTracker::close(Slot& slot, bool empty_is_cut, EventSink& sink) {
  end_arguments(slot);
  const bool empty = slot.arguments.state() == State::before;
  const CallOutcome outcome =
      empty && !empty_is_cut ? CallOutcome::complete : slot.arguments.finish();
  for (const std::string_view bytes : {slot.arguments.held_back(), slot.arguments.trailing()}) {
    if (!bytes.empty()) emit(bytes, sink);
  }
  if (empty && !empty_is_cut) emit("{}", sink);
  held_back_ -= slot.arguments.held();
  slot.arguments.remove_held();
  sink.accept(CallFinished{next_call_++, outcome});
  tally_.add(outcome);
}

void CallTracker::finish(bool cut, EventSink& sink) {
  end_prose(sink);
  // What came for a call after it had left can be nobody's arguments.
  bool came_late = false;
  for (std::size_t i = 0; i < live_; ++i) {
    const CallArguments& arguments = slots_[i].arguments;
    came_late = came_late || (arguments.has_garbage() && arguments.held() > 0);
  }
  for (; live_ < slots_.size() && !tally_.unnamed; ++live_) {
    Slot& slot = slots_[live_];
    const bool nameless = slot.kind == Slot::Kind::call && slot.name.empty();
    if (slot.kind == Slot::Kind::prose) {
      emit_prose(slot.prose, slot.held, sink);
    } else if (nameless) {
      tally_.unnamed = !cut || slot.arguments.held() > 0;
    } else if (slot.kind == Slot::Kind::call) {
      start(slot, sink);
      close(slot, cut && live_ + 1 == slots_.size(), sink);
    }
  }
  tally_.unnamed = tally_.unnamed || came_late;
  held_back_ = 0;
}

std::size_t CallTracker::replaced() const {
  std::size_t sum = 0;
  for (const SurrogateJoiner& halves : prose_halves_) sum += halves.replaced();
  for (std::size_t i = 0; i < slots_.size(); ++i) sum += slots_[i].halves.replaced();
  return sum;
}

bool CallTracker::is_open() const {
  for (std::size_t i = live_; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.kind == Slot::Kind::call && slot.arguments.state() == State::inside) return true;
  }
  return false;
}

}  // namespace callgate::upstream
