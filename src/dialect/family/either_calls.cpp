#include "dialect/family/either_calls.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxLead = 64;

}  // namespace

void EitherCalls::open(std::size_t opener, Output& /*out*/) {
  opener_ = opener;
  chosen_ = nullptr;
  lead_.clear();
}

void EitherCalls::choose(CallReader& reader, Output& out) {
  chosen_ = &reader;
  reader.open(opener_, out);
}

Step EitherCalls::push(std::string_view bytes, Output& out) {
  if (chosen_ != nullptr) return chosen_->push(bytes, out);
  std::size_t lead = 0;
  while (lead < bytes.size() && lead_.size() + lead < kMaxLead &&
         (is_space(bytes[lead]) || bytes[lead] == '[')) {
    ++lead;
  }
  lead_.append(bytes.substr(0, lead));
  if (lead == bytes.size()) return {.used = lead};
  choose(bytes[lead] == '{' ? *json_ : *other_, out);
  const Step first = chosen_->push(lead_, out);
  if (first.next != Step::Next::more) {
    // A reader that stops inside its lead has used all that can be no opener.
    out.hold(std::string_view(lead_).substr(first.used));
    return {.used = lead, .next = first.next, .replay = first.replay};
  }
  if (first.used < lead_.size()) {
    // It stopped at the limit, and the turn will, too.
    out.hold(std::string_view(lead_).substr(first.used));
    return {.used = lead};
  }
  Step step = chosen_->push(bytes.substr(lead), out);
  step.used += lead;
  return step;
}

void EitherCalls::finish(Output& out) {
  if (chosen_ != nullptr) {
    chosen_->finish(out);
  } else {
    out.hold(lead_);
  }
}

bool EitherCalls::overflow(Output& out) {
  if (chosen_ != nullptr) return chosen_->overflow(out);
  out.hold(lead_);
  return false;
}

}  // namespace callgate::dialect
