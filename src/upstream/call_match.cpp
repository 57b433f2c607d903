// CallTracker: which call a piece belongs to.
#include "upstream/call_tracker.h"
#include "upstream/repaired_read.h"

namespace callgate::upstream {
namespace {

using State = CallArguments::State;

bool opens_object(std::string_view bytes) { return trimmed(bytes).starts_with('{'); }

bool same_id(std::string_view slot, std::string_view piece) {
  return !piece.empty() && slot == piece;
}

bool other_id(std::string_view slot, std::string_view piece) {
  return !piece.empty() && !slot.empty() && slot != piece;
}

}  // namespace

CallTracker::Slot* CallTracker::find(const CallPiece& piece) {
  Slot* on_index = nullptr;
  Slot* newest = nullptr;
  for (std::size_t i = slots_.size(), stop = reach_from(i); i-- > stop;) {
    Slot& slot = slots_[i];
    if (slot.kind != Slot::Kind::call) continue;
    if (same_id(slot.id, piece.id.view())) {
      const bool other_index = piece.index && slot.index && *piece.index != *slot.index;
      if (!other_index || is_summary(slot, piece)) return &slot;
      const bool more = piece.name.empty() || (!slot.is_closed() && slot.name == piece.name.view());
      if (names_ && more) return &slot;
    }
    if (newest == nullptr) newest = &slot;
    if (on_index == nullptr && piece.index && slot.index == piece.index) on_index = &slot;
    if (piece.id.empty() && (on_index != nullptr || !piece.index)) break;
  }
  Slot* const usual = piece.index ? on_index : newest;
  const bool fits = usual != nullptr && (!usual->is_closed() || !piece.name.empty());
  return fits || !names_ || !piece.name.empty() ? usual : find_elsewhere(piece, usual);
}

// The call that arguments without a name belong to when the call on their index has all of its own, or there is none: the one
// that got some from this index before, one that has begun, the first that waits for some, one that has none but {}.
CallTracker::Slot* CallTracker::find_elsewhere(const CallPiece& piece, Slot* usual) {
  const std::string_view arguments = piece.arguments.view();
  if (trimmed(arguments).empty()) return usual;
  Slot* newest = nullptr;
  Slot* begun = nullptr;
  Slot* waiting = nullptr;
  for (std::size_t i = slots_.size(), stop = reach_from(i); i-- > stop;) {
    Slot& slot = slots_[i];
    if (slot.kind != Slot::Kind::call || slot.name.empty()) continue;
    if (newest == nullptr) newest = &slot;
    const State state = slot.arguments.state();
    if (state == State::inside && piece.index && slot.other_index == piece.index) return &slot;
    if (begun == nullptr && state == State::inside) begun = &slot;
    if (state == State::before) waiting = &slot;
  }
  if (usual != nullptr && usual->arguments.is_placeholder() && opens_object(arguments))
    return usual;
  if (begun != nullptr) return begun;
  if (waiting != nullptr) return waiting;
  if (usual != nullptr || newest == nullptr || !piece.id.empty()) return usual;
  const bool replaces = newest->arguments.is_placeholder() && opens_object(arguments);
  const bool surplus = arguments.find_first_not_of(" \t\r\n}]") == std::string_view::npos;
  return replaces || surplus ? newest : nullptr;
}

bool CallTracker::has_arguments(std::int64_t index) const {
  for (std::size_t i = slots_.size(), stop = reach_from(i); i-- > stop;) {
    const Slot& slot = slots_[i];
    if (slot.kind == Slot::Kind::prose || slot.index != index) continue;
    return slot.kind == Slot::Kind::repetition || slot.arguments.state() != State::before;
  }
  return false;
}

bool CallTracker::is_prefilled() const {
  if (slots_.empty() || slots_.back().kind != Slot::Kind::call) return false;
  return !slots_.back().name.empty() && slots_.back().arguments.is_placeholder();
}

// Some servers send the whole call once more at the end.
bool CallTracker::is_summary(const Slot& slot, const CallPiece& piece) {
  return slot.is_closed() && same_id(slot.id, piece.id.view()) && slot.name == piece.name.view() &&
         slot.arguments.same_value(piece.arguments.view());
}

bool CallTracker::same_name(const Slot& slot, std::string_view name) const {
  return slot.name == name || (names_ && names_->cleaned(slot.name) == names_->cleaned(name));
}

// Whether a piece that points at this call is more of it, and not the start of another one.
bool CallTracker::continues(const Slot& slot, const CallPiece& piece) const {
  if (slot.is_closed()) return continues_closed(slot, piece);
  const bool named = !piece.name.empty();
  if (named && !slot.name.empty() && !same_name(slot, piece.name.view())) {
    return same_id(slot.id, piece.id.view()) || continues_name(slot, piece);
  }
  // Servers that mint an id for each delta repeat the name as well, and give an index.
  return !(named && other_id(slot.id, piece.id.view()) && !piece.index);
}

// REQUIRES: both have names, and they differ.
bool CallTracker::continues_name(const Slot& slot, const CallPiece& piece) const {
  if (!names_ || slot.document == document_) return false;
  if (!slot.started) return !joined_name(slot, piece).empty();
  // The call is on its way already: what stood around its name goes on.
  const std::string_view name = piece.name.view();
  const bool here = piece.index && !other_id(slot.id, piece.id.view());
  const bool around = name.starts_with("<|") || slot.name.find("<|") != std::string::npos;
  return here && around && slot.arguments.state() == State::before && !names_->declares(name);
}

std::string CallTracker::joined_name(const Slot& slot, const CallPiece& piece) const {
  const bool same = same_id(slot.id, piece.id.view());
  const bool placed = piece.index || piece.legacy;
  const bool same_call = same || (placed && !other_id(slot.id, piece.id.view()));
  return names_->joined(slot.name, piece.name.view(), same_call, same);
}

bool CallTracker::continues_closed(const Slot& slot, const CallPiece& piece) {
  const bool another_id = other_id(slot.id, piece.id.view());
  const bool named = !piece.name.empty();
  if (named && slot.name != piece.name.view() && !slot.name.empty()) return false;
  if (named && another_id && !piece.index) return false;
  if (!opens_object(piece.arguments.view())) return true;
  if (slot.arguments.is_placeholder()) {
    return !(named && another_id) && !other_id(slot.id, slot.next_id);
  }
  return !(named || another_id || slot.header_again);
}

// Whether an earlier call has the same name, and nothing says that it is another call than this one. In one document, and
// where calls come whole, only the same id says that it is the same.
bool CallTracker::has_earlier(const Slot& slot, bool with_arguments) const {
  for (std::size_t i = slots_.size(), stop = reach_from(i); i-- > stop;) {
    const Slot& earlier = slots_[i];
    if (earlier.kind != Slot::Kind::call || !earlier.is_closed()) continue;
    if (&earlier == &slot || earlier.name != slot.name) continue;
    const bool listed = slot.whole || earlier.document == slot.document;
    if (listed ? !same_id(earlier.id, slot.id) : other_id(earlier.id, slot.id)) continue;
    // A server that gave the earlier call an id gives one to every call.
    const bool lacks_id = !earlier.id.empty() && slot.id.empty();
    const bool other_index = earlier.index && slot.index && *earlier.index != *slot.index;
    if (other_index && !lacks_id && !same_id(earlier.id, slot.id)) continue;
    if (!with_arguments || earlier.arguments.same_value(slot.arguments)) return true;
  }
  return false;
}

}  // namespace callgate::upstream
