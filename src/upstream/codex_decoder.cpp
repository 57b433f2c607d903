#include "upstream/codex_decoder.h"

namespace callgate::upstream {
namespace {

constexpr std::string_view kEventPrefix = "codex/event/";

OwnTools own_tools_of(std::string_view word) {
  if (word == "text") return OwnTools::text;
  if (word == "annotations") return OwnTools::annotations;
  return OwnTools::hidden;
}

}  // namespace

bool CodexDecoder::belongs(Family family) {
  if (family_ == Family::unknown) family_ = family;
  return family_ == family;
}

void CodexDecoder::push(const SseFrame& frame, ChoiceSinks& sinks) {
  if (finished()) return;
  if (!read_codex_line(frame.data, reader_, line_)) {
    ++repairs_[static_cast<std::size_t>(Repair::frame_invalid)];
    return;
  }
  EventSink& sink = sinks.choice(0);
  if (!line_.msg.empty()) {
    if (belongs(Family::events)) apply_codex_event(line_.msg, reader_, turn_, sink);
  } else if (line_.method.starts_with(kEventPrefix)) {
    const std::string_view msg = member_json(line_.params, "msg");
    if (belongs(Family::events)) apply_codex_event(msg, reader_, turn_, sink);
  } else if (line_.method == "callgate/answer") {
    turn_.show(own_tools_of(member_text(line_.params, "ownTools")));
  } else if (line_.method.starts_with("item/") || line_.method.starts_with("turn/") ||
             line_.method.starts_with("rawResponse")) {
    if (belongs(Family::items)) apply_codex_notification(line_, reader_, turn_, sink);
  } else if (family_ != Family::events) {
    apply_codex_notification(line_, reader_, turn_, sink);
  }
  if (finished()) turn_.finish(false, sink);
}

// Codex does not answer so; a body is taken as its lines.
void CodexDecoder::push_body(std::string_view body, ChoiceSinks& sinks) {
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    if (end > 0) push({.data = body.substr(0, end)}, sinks);
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  finish(sinks);
}

std::unique_ptr<ResponseDecoder> make_codex_decoder(const Request& request) {
  return std::make_unique<CodexDecoder>(request);
}

}  // namespace callgate::upstream
