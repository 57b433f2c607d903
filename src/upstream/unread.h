// What becomes of data that cannot be read as one JSON object.
//
//   {"type":"content_block_delta","del          a chunk whose words are lost: the turn ends with an error
//   {"type":"ping"}\n{"type":"message_stop"}    several chunks in one frame: each is read
//   Internal Server Error                       words of a failure: the same
//   ping     [1,2]                              not a chunk: skipped and counted
#pragma once

#include <cstddef>
#include <string_view>

#include "callgate/error.h"
#include "callgate/pipeline.h"
#include "json/scanner.h"
#include "upstream/openai_chat/openai_answer.h"
#include "upstream/repaired_read.h"

namespace callgate::upstream {

inline Error lost_chunk() {
  return {.code = ErrorCode::upstream_failed,
          .message = "upstream sent a chunk that is cut short or not JSON"};
}

// A line that is not JSON: the end of a chunk, or noise.
inline bool ends_a_chunk(std::string_view line) { return line.ends_with('}'); }

// Words that a server or a proxy writes when it fails amid an answer: `[ERROR] overloaded`, `502 Bad Gateway`, a page.
bool names_failure(std::string_view line);

// The JSON object that `data` begins with, empty where it does not end.
inline std::string_view first_object(std::string_view data) {
  json::Scanner scanner;
  const std::size_t size = scanner.push(data);
  const bool whole = scanner.state() == json::Scanner::State::closed;
  return whole ? data.substr(0, size) : std::string_view();
}

// push(chunk) gets every chunk of several; lose(rest) is called where one is lost, and nothing after it is looked at, nor
// after refuse(line), which gets the words of a failure.
// REQUIRES: no white space around `data`, and it could not be read.
template <class Push, class Lose, class Refuse>
void take_unread(std::string_view data, RepairCounts& repairs, Push push, Lose lose,
                 Refuse refuse) {
  constexpr std::string_view kField = "data:";  // of a server that forgot a blank line
  for (std::string_view rest = data; !rest.empty(); rest = trimmed(rest)) {
    if (rest.starts_with(kField)) {
      rest.remove_prefix(kField.size());
      continue;
    }
    if (rest.starts_with('{')) {
      const std::string_view chunk = first_object(rest);
      if (chunk.empty() || chunk.size() == data.size()) return lose(rest);
      push(chunk);
      rest.remove_prefix(chunk.size());
      continue;
    }
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (names_failure(trimmed(line))) return refuse(line);
    if (ends_a_chunk(trimmed(line))) return lose(rest);
    ++repairs[static_cast<std::size_t>(Repair::frame_invalid)];
    rest.remove_prefix(line.size());
  }
}

// Whether a document that means nothing in its wire format is an error in the words of another server.
inline bool is_error_answer(std::string_view document) {
  AnswerReader reader;
  return reader.read(document) && !reader.answer().error.empty();
}

}  // namespace callgate::upstream
