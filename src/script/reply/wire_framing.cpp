#include "script/reply/wire_framing.h"

#include <algorithm>

namespace callgate::script {
namespace {

WireFrame event_of(std::string_view frame) {
  WireFrame made;
  if (frame.starts_with("event: ")) {
    const std::size_t line = frame.find('\n');
    made.event = frame.substr(7, line - 7);
    frame.remove_prefix(line + 1);
  }
  made.data = frame.substr(std::string_view("data: ").size());
  return made;
}

}  // namespace

WireFrames WireFraming::take(std::string& said) const {
  WireFrames frames;
  const std::string_view end = kind_ == Kind::events ? "\n\n" : "\n";
  for (std::string_view rest = said; !rest.empty();) {
    const std::size_t size = std::min(rest.find(end), rest.size());
    std::string_view frame = rest.substr(0, size);
    rest.remove_prefix(std::min(size + end.size(), rest.size()));
    if (kind_ == Kind::array && frame != "]") frame.remove_prefix(1);  // what separates elements
    frames.push_back(kind_ == Kind::events ? event_of(frame) : WireFrame{std::string(frame)});
  }
  said.clear();
  return frames;
}

std::int64_t WireFraming::pass(std::string& said, Tape& tape) {
  std::int64_t frames = 0;
  const std::string_view end = kind_ == Kind::events ? "\n\n" : "\n";
  for (std::string_view rest = said; !rest.empty(); ++frames) {
    const std::size_t size = std::min(rest.find(end), rest.size() - end.size()) + end.size();
    events_.pass(rest.substr(0, size), tape);
    rest.remove_prefix(size);
  }
  said.clear();
  return frames;
}

void WireFraming::put(const WireFrame& frame, Tape& tape, bool last) {
  if (kind_ == Kind::events) {
    last ? events_.write_last(frame.data, tape, frame.event)
         : events_.write(frame.data, tape, frame.event);
    return;
  }
  std::string& out = tape.bytes();
  if (kind_ == Kind::array && (frame.data != "]" || elements_ == 0)) {
    out += elements_ == 0 ? "[" : ",";
  }
  ++elements_;
  out.append(frame.data).append(faults_.has(Fault::crlf) ? "\r\n" : "\n");
  tape.end_frame();
}

}  // namespace callgate::script
