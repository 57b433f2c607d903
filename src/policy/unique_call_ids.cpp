#include "policy/unique_call_ids.h"

namespace callgate::policy {

void UniqueCallIds::push(const Event& event, EventSink& next) {
  const auto* started = std::get_if<CallStarted>(&event);
  if (started == nullptr) return next.accept(event);
  std::string id;
  if (style_ == CallIdStyle::native) id = started->native_id;
  while (id.empty() || !used_.insert(id).second) id = mint_.mint("call_");
  next.accept(CallStarted{started->call, started->name, id, started->in_text});
}

}  // namespace callgate::policy
