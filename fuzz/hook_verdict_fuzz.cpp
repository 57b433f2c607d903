// What hooks answer about prompts and answers is foreign: what is read of it is an action with all that it needs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tool/hook_verdict.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using callgate::tool::HookMoment;
  using callgate::tool::WordVerdict;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  for (const HookMoment moment : {HookMoment::prompt, HookMoment::answer}) {
    const auto verdict = callgate::tool::read_word_verdict(json, moment);
    if (!verdict || verdict->action != WordVerdict::Action::rewrite) continue;
    if (moment == HookMoment::prompt && !verdict->messages.starts_with('[')) std::abort();
  }
  (void)callgate::tool::read_verdict(json, HookMoment::before);
  return 0;
}
