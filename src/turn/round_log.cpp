#include "turn/round_log.h"

#include <utility>

#include "json/writer.h"

namespace callgate::server {

std::size_t RoundLog::left() const {
  const std::size_t used = used_ + (rounds_.empty() ? 0 : bytes_of(rounds_.back()));
  return used < limit_ ? limit_ - used : 0;
}

std::size_t RoundLog::bytes_of(const Round& round) {
  return round.said && !round.said->is_too_long() ? round.said->bytes() : 0;
}

void RoundLog::begin(std::uint32_t round, std::uint64_t at_ms, bool again) {
  if (limit_ == 0) return;
  if (again && !rounds_.empty()) {
    rounds_.pop_back();
  } else if (!rounds_.empty()) {
    used_ += bytes_of(rounds_.back());
  }
  rounds_.push_back({.number = round, .at_ms = at_ms, .end_ms = at_ms, .said = {}, .results = {}});
}

void RoundLog::begin_answer() {
  if (rounds_.empty()) return;
  rounds_.back().said.reset();
  rounds_.back().said = std::make_unique<engine::TurnKeeper>(1, left());
}

void RoundLog::accept(const Event& event) {
  if (!rounds_.empty() && rounds_.back().said) rounds_.back().said->choice(0).accept(event);
}

void RoundLog::end_answer(std::uint64_t at_ms) {
  if (!rounds_.empty()) rounds_.back().end_ms = at_ms;
}

void RoundLog::add_result(ToolResult result) {
  if (rounds_.empty()) return;
  has_results_ = true;
  const std::size_t size = sizeof(ToolResult) + result.id.size() + result.name.size();
  if (size > left()) return;
  if (size + result.text.size() > left()) result.text.clear();
  used_ += size + result.text.size();
  rounds_.back().results.push_back(std::move(result));
}

std::string RoundLog::print() const {
  std::string out = "[";
  for (const Round& round : rounds_) {
    if (out.size() > 1) out.push_back(',');
    json::ObjectWriter head(out);
    head.string("type", "round");
    head.integer("round", round.number);
    head.integer("at_ms", static_cast<std::int64_t>(round.at_ms));
    head.integer("duration_ms", static_cast<std::int64_t>(round.end_ms - round.at_ms));
    head.close();
    if (round.said) {
      const std::string said = round.said->print_events();
      if (said.size() > 2) out.append(",").append(said, 1, said.size() - 2);
    }
    for (const ToolResult& result : round.results) {
      out.push_back(',');
      json::ObjectWriter object(out);
      object.string("type", "result");
      object.string("id", result.id);
      object.string("name", result.name);
      object.boolean("is_error", result.is_error);
      object.integer("duration_ms", result.duration_ms);
      object.integer("bytes", static_cast<std::int64_t>(result.bytes));
      object.string("text", result.text);
      object.close();
    }
  }
  out.push_back(']');
  return out;
}

}  // namespace callgate::server
