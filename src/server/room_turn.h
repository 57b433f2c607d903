// The turns of a room: one after the other, each a LoopRun whose audience is the room.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "server/gateway.h"
#include "server/loop_client.h"
#include "server/loop_run.h"
#include "server/room.h"

namespace callgate::server {

class RoomTurn final : LoopAudience {
 public:
  // REQUIRES: gateway and room outlive the turn.
  RoomTurn(Gateway& gateway, Room& room, RoomAsk ask);

  // What the room hears of it ends with stream_end or stream_error.
  net::Task<> run();

 private:
  void accept(const Event& event) override;
  void notice(const loop::Notice& notice) override;
  void started() override;
  void wait_for_approval(const loop::WaitForApproval& wait) override;
  net::Millis patience() const override;
  net::Task<> on_time() override;

  void text(std::string_view delta);
  void think(std::string_view delta);
  void send_thinking();
  void end_thinking();
  void pause_text();
  void finish();

  Gateway& gateway_;
  Room& room_;
  const std::string reply_to_;
  const std::string model_;
  const std::string request_id_;
  const bool hides_reasoning_;
  std::shared_ptr<const Snapshot> snapshot_;
  KeyState* key_;
  LoopRun run_;
  std::optional<LoopClient> logged_;  // for the log's content
  std::uint64_t bytes_before_ = 0;
  bool begun_ = false;
  bool thinking_ = false;
  std::string thought_;  // not yet sent
  std::uint64_t thought_since_ = 0;
  std::optional<loop::LoopEnded> ended_;
};

// Runs what waits in the room until nothing does.
net::Task<> play_room(Gateway& gateway, std::shared_ptr<Room> room);

}  // namespace callgate::server
