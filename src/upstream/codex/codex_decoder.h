// Lines of codex -> events. One decoder for both wire formats: `codex proto` writes {"id","msg"}; app-server 0.44 to 0.94
// wraps the same bodies as codex/event/TYPE; later ones write item/... and turn/... (some versions write both: what comes
// first counts). Lines of other kinds are ignored.
//
// The first line may be callgate's own: {"method":"callgate/answer","params":{"ownTools":"text"}}
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "json/reader.h"
#include "upstream/codex/codex_line.h"
#include "upstream/codex/codex_turn.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

class CodexDecoder final : public ResponseDecoder {
 public:
  explicit CodexDecoder(const Request& request) : turn_(request) {}

  void push(const SseFrame& frame, ChoiceSinks& sinks) override;
  void push_body(std::string_view body, ChoiceSinks& sinks) override;
  void finish(ChoiceSinks& sinks) override { end(true, sinks.choice(0)); }
  void abort(ChoiceSinks& sinks) override { end(true, sinks.choice(0)); }

  bool finished() const override { return turn_.finished(); }
  bool complete() const override { return turn_.finished() && !turn_.error(); }
  const std::optional<Error>& error() const override { return turn_.error(); }
  const RepairCounts& repairs() const override { return repairs_; }

 private:
  enum class Family : std::uint8_t { unknown, events, items };
  bool belongs(Family family);
  bool read(std::string_view text);
  void take_unread(std::string_view text);
  void apply(std::string_view text, EventSink& sink);
  void end(bool cut, EventSink& sink);
  void count(Repair repair, std::size_t times = 1) {
    repairs_[static_cast<std::size_t>(repair)] += static_cast<std::uint32_t>(times);
  }

  CodexTurn turn_;
  json::Reader reader_;
  std::string sanitized_;
  CodexLine line_;
  Family family_ = Family::unknown;
  RepairCounts repairs_{};
  bool ended_ = false;
};

std::unique_ptr<ResponseDecoder> make_codex_decoder(const Request& request);

// The body of an event of proto, such as {"type":"agent_message_delta","delta":"Hel"}.
void apply_codex_event(std::string_view msg, json::Reader& reader, CodexTurn& turn,
                       EventSink& sink);
// A notification or request of app-server.
void apply_codex_notification(CodexLine& line, json::Reader& reader, CodexTurn& turn,
                              EventSink& sink);

}  // namespace callgate::upstream
