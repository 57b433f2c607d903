// A policy: what a client gets for arguments that are not a whole JSON value.
//   repair   {"q": "tea          ->  {"q": "tea"}     only where closing is certain, else as they are
//   raw      {"q": tea}          ->  {"raw":"{\"q\": tea}"}
// The outcome of the call stays what it was: the client can read the arguments, and is not told that they are whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "callgate/event.h"
#include "json/scanner.h"

namespace callgate::policy {

// Streams; holds back only half an escape or half a character.
class RepairArguments final : public Stage {
 public:
  // `mended` counts the calls that were changed, and outlives the stage.
  explicit RepairArguments(std::uint32_t& mended) : mended_(mended) {}

  void push(const Event& event, EventSink& next) override;

 private:
  void arguments(const ArgumentsDelta& event, EventSink& next);
  void finish(const CallFinished& event, EventSink& next);

  std::uint32_t& mended_;
  json::Scanner scanner_;
  std::string held_back_;
};

// Holds the arguments of every call back until it is finished.
class RawArguments final : public Stage {
 public:
  // Arguments of more than `max_held_back` bytes pass as they are.
  RawArguments(std::size_t max_held_back, std::uint32_t& mended)
      : max_held_back_(max_held_back), mended_(mended) {}

  void push(const Event& event, EventSink& next) override;

 private:
  void arguments(const ArgumentsDelta& event, EventSink& next);
  void finish(const CallFinished& event, EventSink& next);

  std::size_t max_held_back_;
  std::uint32_t& mended_;
  bool too_long_ = false;
  std::string held_back_;
};

}  // namespace callgate::policy
