#include "script/reply/frame_writer.h"

namespace callgate::script {

std::string_view FrameWriter::line_end() const {
  if (faults_.has(Fault::crlf)) return "\r\n";
  return faults_.has(Fault::cr) ? "\r" : "\n";
}

void FrameWriter::append_data(std::string& out, std::string_view data) const {
  const std::string_view field = faults_.has(Fault::no_space) ? "data:" : "data: ";
  const std::size_t comma =
      faults_.has(Fault::multi_line) ? data.find(',') : std::string_view::npos;
  out += field;
  if (comma == std::string_view::npos) {
    out += data;
  } else {
    // Between two members JSON may have a line feed, and the data lines are joined by one.
    out.append(data.substr(0, comma + 1)).append(line_end()).append(field);
    out += data.substr(comma + 1);
  }
  out += line_end();
}

void FrameWriter::write(std::string_view data, Tape& tape, std::string_view event) {
  std::string& out = tape.bytes();
  if (first_ && faults_.has(Fault::bom)) out += "\xEF\xBB\xBF";
  first_ = false;
  if (faults_.has(Fault::comments))
    out.append(": keep-alive").append(line_end()).append(line_end());
  if (!event.empty()) out.append("event: ").append(event).append(line_end());
  append_data(out, data);
  out += line_end();
  tape.end_frame();
}

void FrameWriter::pass(std::string_view frame, Tape& tape) {
  first_ = false;
  tape.bytes() += frame;
  tape.end_frame();
}

void FrameWriter::write_last(std::string_view data, Tape& tape, std::string_view event) {
  if (!faults_.has(Fault::no_last_blank)) {
    write(data, tape, event);
    return;
  }
  std::string& out = tape.bytes();
  if (!event.empty()) out.append("event: ").append(event).append(line_end());
  append_data(out, data);
  tape.end_frame();
}

}  // namespace callgate::script
