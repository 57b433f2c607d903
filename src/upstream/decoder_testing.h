// What the tests of decoders share: one choice whose events are checked and kept.
#pragma once

#include <cstdint>

#include "chat/event_grammar.h"
#include "chat/event_log.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

class LoggedChoice final : public ChoiceSinks {
 public:
  EventSink& choice(std::uint32_t) override { return checked_; }
  std::uint32_t count() const override { return 1; }
  const EventLog& log() const { return log_; }

 private:
  EventLog log_;
  CheckedSink checked_{log_};
};

}  // namespace callgate::upstream
