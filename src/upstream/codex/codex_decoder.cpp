#include "upstream/codex/codex_decoder.h"

#include <algorithm>
#include <utility>

#include "json/member.h"
#include "upstream/openai_chat/openai_error.h"
#include "upstream/repaired_read.h"
#include "upstream/unread.h"

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
  const std::string_view text = trimmed(frame.data);
  if (finished() || text.empty()) return;
  EventSink& sink = sinks.choice(0);
  if (read(text)) {
    apply(text, sink);
  } else {
    take_unread(text);
  }
  if (finished()) end(false, sink);
}

bool CodexDecoder::read(std::string_view text) {
  Mended mended;
  const bool readable = read_repaired(text, sanitized_, mended, [this](std::string_view line) {
    return read_codex_line(line, reader_, line_);
  });
  if (readable) count_mended(mended, repairs_);
  turn_.next_line(mended.escaped > 0);
  return readable;
}

// A child program may print what is not its protocol; a line of the protocol that is broken is lost.
void CodexDecoder::take_unread(std::string_view text) {
  if (!text.starts_with('{') && !ends_a_chunk(text)) return count(Repair::frame_invalid);
  turn_.fail(lost_chunk());
}

void CodexDecoder::apply(std::string_view text, EventSink& sink) {
  if (!line_.msg.empty()) {
    if (belongs(Family::events)) apply_codex_event(line_.msg, reader_, turn_, sink);
  } else if (line_.method.starts_with(kEventPrefix)) {
    const std::string_view msg = json::member_json(line_.params, "msg");
    if (belongs(Family::events)) apply_codex_event(msg, reader_, turn_, sink);
  } else if (line_.method == "callgate/answer") {
    turn_.show(own_tools_of(any_member_text(line_.params, "ownTools")));
  } else if (line_.method.starts_with("item/") || line_.method.starts_with("turn/") ||
             line_.method.starts_with("rawResponse")) {
    if (belongs(Family::items)) apply_codex_notification(line_, reader_, turn_, sink);
  } else if (line_.method.empty()) {
    // What answers a request of the gateway is not for the turn.
    const bool reply = !line_.id.empty() && !(line_.result.empty() && line_.error.empty());
    if (!reply && is_error_answer(text)) turn_.fail(decode_openai_error(0, text));
  } else if (family_ != Family::events) {
    apply_codex_notification(line_, reader_, turn_, sink);
  }
}

// `cut`: nothing said that the turn is over.
void CodexDecoder::end(bool cut, EventSink& sink) {
  if (std::exchange(ended_, true)) return;
  turn_.finish(cut, sink);
  for (std::size_t i = 0; i < repairs_.size(); ++i) repairs_[i] += turn_.repairs()[i];
  count(Repair::utf8_invalid, turn_.replaced());
}

// Codex does not answer so; a body is taken as its lines.
void CodexDecoder::push_body(std::string_view body, ChoiceSinks& sinks) {
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    push({.event = {}, .data = body.substr(0, end), .id = {}}, sinks);
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  finish(sinks);
}

std::unique_ptr<ResponseDecoder> make_codex_decoder(const Request& request) {
  return std::make_unique<CodexDecoder>(request);
}

}  // namespace callgate::upstream
