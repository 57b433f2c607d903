// A policy: reasoning leaves in larger pieces. What arrives is held back until there are enough bytes of it, until
// something else of the turn arrives, or until the owner of the pipeline says that it waited long enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "callgate/event.h"

namespace callgate::policy {

class CoalesceReasoning final : public Stage {
 public:
  // REQUIRES: bytes > 0.
  explicit CoalesceReasoning(std::size_t bytes) : bytes_(bytes) {}

  void push(const Event& event, EventSink& next) override;
  // What is held back leaves.
  void release(EventSink& next);
  // Which piece is held back, counted from 0; nothing while none is.
  std::optional<std::uint32_t> held_back() const;

 private:
  std::size_t bytes_;
  std::string held_;
  std::uint32_t released_ = 0;
};

}  // namespace callgate::policy
