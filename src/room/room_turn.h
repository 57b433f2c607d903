// The turns of a room: one after the other, each a LoopRun whose audience is the room.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "room/room.h"
#include "room/thoughts.h"
#include "turn/audience.h"
#include "turn/loop_run.h"
#include "turn/turn_job.h"

namespace callgate::server {

class RoomTurn final : Audience {
 public:
  // REQUIRES: host and room outlive the turn.
  RoomTurn(const TurnHost& host, Room& room, RoomAsk ask);

  // What the room hears of it ends with stream_end or stream_error.
  net::Task<> run();
  // What its frames are called by.
  std::string stream() const;

 private:
  bool has_started() const override { return heard_; }
  net::Headers& headers() override { return headers_; }
  // It wants words: nothing is streamed to it.
  net::Task<Result<void>> write(std::string_view) override { co_return Result<void>(); }
  net::Task<Result<void>> end(std::string_view) override { co_return Result<void>(); }
  net::Task<Result<void>> respond(int status, std::string_view body) override;
  void hear(const Event& event) override;
  void hear(const loop::Notice& notice) override;
  void wait_for_approval(const loop::WaitForApproval& wait) override { room_.ask_approval(wait); }
  void begin_loop() override;
  void fail(const Error& error) override { failure_ = error; }
  std::optional<net::Millis> patience(std::uint64_t now) const override;
  void on_time(std::uint64_t now) override;
  std::optional<std::uint64_t> bytes_out() const override { return room_.bytes() - bytes_before_; }

  void text(std::string_view delta);
  void think(std::string_view delta);
  void send_thinking();
  void end_thinking();
  void pause_text();
  // The room hears something now.
  void say();

  const TurnHost host_;
  Room& room_;
  const std::string reply_to_;
  const std::string model_;
  const std::string request_id_;
  const bool hides_reasoning_;
  const std::shared_ptr<const Snapshot> snapshot_;  // the key lives there
  const KeyRef key_;
  LoopRun run_;
  net::Headers headers_;  // never read
  const std::uint64_t bytes_before_;
  bool begun_ = false;
  bool heard_ = false;
  bool thinking_ = false;
  Thoughts thoughts_;  // not yet sent
  std::optional<loop::LoopEnded> ended_;
  std::optional<Error> failure_;
};

// Runs what waits in the room until nothing does.
net::Task<> play_room(TurnHost host, std::shared_ptr<Room> room);

}  // namespace callgate::server
