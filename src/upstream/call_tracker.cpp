#include "upstream/call_tracker.h"

#include <utility>

namespace callgate::upstream {
namespace {

// How far back a piece may reach for its call. Keeps the search linear however many calls a turn has.
constexpr std::size_t kReach = 512;

constexpr std::string_view kSpace = " \t\r\n";

bool is_blank(std::string_view bytes) {
  return bytes.find_first_not_of(kSpace) == std::string_view::npos;
}

bool opens_object(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(kSpace);
  return first != std::string_view::npos && bytes[first] == '{';
}

// FNV-1a
std::uint64_t hash_on(std::uint64_t hash, std::string_view bytes) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  return hash;
}

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

void count(RepairCounts& repairs, Repair repair) { ++repairs[static_cast<std::size_t>(repair)]; }

using State = json::Scanner::State;

}  // namespace

void CallTracker::push_prose(Prose kind, std::string_view text, EventSink& sink) {
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

void CallTracker::push_call(const CallPiece& piece, bool whole, RepairCounts& repairs,
                            EventSink& sink) {
  Slot* slot = whole ? nullptr : find(piece);
  if (slot != nullptr && is_summary(*slot, piece)) {
    if (!std::exchange(slot->counted_repeat, true)) count(repairs, Repair::id_repeated);
    return;
  }
  if (slot == nullptr || !continues(*slot, piece)) {
    slot = &open(piece, slot, whole, repairs);
  } else {
    update(*slot, piece, repairs);
  }
  if (piece.arguments_object && !std::exchange(slot->counted_object, true)) {
    count(repairs, Repair::arguments_object);
  }
  take_fields(*slot, piece, sink);
  append(*slot, piece.arguments.view(), sink);
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

CallTracker::Slot* CallTracker::find(const CallPiece& piece) {
  Slot* on_index = nullptr;
  Slot* newest = nullptr;
  const std::size_t stop = slots_.size() > kReach ? slots_.size() - kReach : 0;
  for (std::size_t i = slots_.size(); i-- > stop;) {
    Slot& slot = slots_[i];
    if (slot.kind != Slot::Kind::call) continue;
    const bool other_index = piece.index && slot.index && *piece.index != *slot.index;
    if (!piece.id.empty() && slot.id == piece.id.view() && !other_index) return &slot;
    if (newest == nullptr) newest = &slot;
    if (on_index == nullptr && piece.index && slot.index == piece.index) on_index = &slot;
    if (piece.id.empty() && (on_index != nullptr || !piece.index)) break;
  }
  return piece.index ? on_index : newest;
}

// Some servers send the whole call once more at the end.
bool CallTracker::is_summary(const Slot& slot, const CallPiece& piece) const {
  const std::string_view arguments = piece.arguments.view();
  return slot.scanner.state() == State::closed && !slot.id.empty() && slot.id == piece.id.view() &&
         slot.name == piece.name.view() && slot.length == arguments.size() &&
         slot.hash == hash_on(Slot{}.hash, arguments);
}

// Whether a piece that points at this call is more of it, and not the start of another one.
bool CallTracker::continues(const Slot& slot, const CallPiece& piece) {
  const bool same_id = !piece.id.empty() && slot.id == piece.id.view();
  const bool other_id = !piece.id.empty() && !slot.id.empty() && !same_id;
  const bool named = !piece.name.empty();
  const bool other_name = named && !slot.name.empty() && slot.name != piece.name.view();
  if (slot.scanner.state() == State::closed) return continues_closed(slot, piece);
  if (other_name) return same_id;
  // Servers that mint an id for each delta repeat the name too, and give an index.
  return !(other_id && named && !piece.index);
}

bool CallTracker::continues_closed(const Slot& slot, const CallPiece& piece) {
  const bool other_id = !piece.id.empty() && !slot.id.empty() && slot.id != piece.id.view();
  const bool named = !piece.name.empty();
  if (named && slot.name != piece.name.view() && !slot.name.empty()) return false;
  if (named && other_id && !piece.index) return false;
  const bool another_value = opens_object(piece.arguments.view());
  return !(another_value && (named || other_id || slot.header_again));
}

CallTracker::Slot& CallTracker::open(const CallPiece& piece, const Slot* reused, bool whole,
                                     RepairCounts& repairs) {
  const bool continued_header = reused != nullptr && reused->header_again;
  std::string id(piece.id.empty() && continued_header ? reused->next_id : piece.id.view());
  std::string name(piece.name.empty() && continued_header ? reused->name : piece.name.view());
  if (!piece.legacy && !whole) {
    if (!piece.index) count(repairs, Repair::index_missing);
    if (piece.index && reused != nullptr) count(repairs, Repair::index_reused);
  }
  const bool taken = !id.empty() && !ids_.insert(id).second;
  if (!piece.legacy && (id.empty() || taken)) count(repairs, Repair::id_missing);
  Slot& slot = slots_.emplace_back();
  slot.index = piece.index;
  slot.id = std::move(id);
  slot.name = std::move(name);
  return slot;
}

void CallTracker::update(Slot& slot, const CallPiece& piece, RepairCounts& repairs) {
  const bool id_again = !piece.id.empty() && !slot.id.empty();
  const bool name_again = !piece.name.empty() && !slot.name.empty();
  if (slot.scanner.state() == State::closed && name_again) {
    slot.header_again = true;  // perhaps the start of another call: its arguments will tell
    slot.next_id = piece.id.view();
  } else if ((id_again || name_again) && !std::exchange(slot.counted_repeat, true)) {
    count(repairs, Repair::id_repeated);
  }
  if (slot.id.empty()) slot.id = piece.id.view();
  if (slot.name.empty()) slot.name = piece.name.view();
}

void CallTracker::append(Slot& slot, std::string_view bytes, EventSink& sink) {
  if (bytes.empty()) return;
  slot.hash = hash_on(slot.hash, bytes);
  slot.length += bytes.size();
  const std::size_t taken = slot.scanner.push(bytes);
  const bool closed = slot.scanner.state() == State::closed;
  if (closed && !is_blank(bytes.substr(taken))) slot.trailing = true;
  const bool can_leave = is_live(slot) && slot.started;
  const bool unsafe = slot.scanner.state() == State::inside && slot.scanner.unsafe_tail() > 0;
  if (can_leave && slot.held.empty() && !unsafe) {
    sink.accept(ArgumentsDelta{next_call_, bytes});
    return;
  }
  slot.held.append(bytes);
  held_back_ += bytes.size();
}

// Lets everything leave that may leave now.
void CallTracker::pump(EventSink& sink) {
  for (; live_ < slots_.size(); ++live_) {
    Slot& slot = slots_[live_];
    if (slot.kind == Slot::Kind::prose) {
      emit_prose(slot.prose, slot.held, sink);
      held_back_ -= slot.held.size();
      slot.held = {};
      continue;
    }
    if (slot.name.empty()) return;
    start(slot, sink);
    const bool inside = slot.scanner.state() == State::inside;
    emit_held(slot, inside ? slot.scanner.unsafe_tail() : 0, sink);
    const bool closed = slot.scanner.state() == State::closed;
    if (!closed || live_ + 1 == slots_.size()) return;
    close(slot, false, sink);
  }
}

void CallTracker::start(Slot& slot, EventSink& sink) {
  if (std::exchange(slot.started, true)) return;
  sink.accept(CallStarted{next_call_, slot.name, slot.id});
  emit_fields(slot, sink);
}

void CallTracker::emit_held(Slot& slot, std::size_t keep, EventSink& sink) {
  if (slot.held.size() <= keep) return;
  const std::size_t leaving = slot.held.size() - keep;
  sink.accept(ArgumentsDelta{next_call_, std::string_view(slot.held).substr(0, leaving)});
  slot.held.erase(0, leaving);
  held_back_ -= leaving;
}

void CallTracker::close(Slot& slot, bool empty_is_cut, EventSink& sink) {
  emit_held(slot, 0, sink);
  CallOutcome outcome = CallOutcome::truncated;
  if (slot.scanner.state() == State::before && !empty_is_cut) {
    sink.accept(ArgumentsDelta{next_call_, "{}"});
    outcome = CallOutcome::complete;
  } else if (slot.scanner.finish()) {
    const bool clean = !slot.trailing && !slot.scanner.saw_raw_control();
    outcome = clean ? CallOutcome::complete : CallOutcome::malformed;
  } else if (slot.scanner.state() == State::failed) {
    outcome = CallOutcome::malformed;
  }
  sink.accept(CallFinished{next_call_++, outcome});
  tally_.add(outcome);
}

void CallTracker::finish(bool cut, EventSink& sink) {
  for (; live_ < slots_.size(); ++live_) {
    Slot& slot = slots_[live_];
    if (slot.kind == Slot::Kind::prose) {
      emit_prose(slot.prose, slot.held, sink);
    } else if (slot.name.empty()) {
      // A call that never got a name cannot be made; what it said is not lost.
      if (!slot.held.empty()) emit_prose(Prose::text, slot.held, sink);
    } else {
      start(slot, sink);
      close(slot, cut && live_ + 1 == slots_.size(), sink);
    }
  }
  held_back_ = 0;
}

}  // namespace callgate::upstream
