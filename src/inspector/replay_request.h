// The questions of the page's Replay and Playground, and their answers. No I/O: they run on a thread that may take its time.
//
//   {"request":"req_1","dialect":"hermes","split":"byte","policy":{"undeclared_tools":"text"}}
//   {"base64":"ZGF0YTog...","wire":"openai_chat","tools":[...]}
//   {"text":"<tool_call>{...}","tools":[...]}
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/request.h"
#include "callgate/result.h"
#include "dialect/custom/catalog.h"
#include "recorder/capture_writer.h"
#include "replay/parse_case.h"

namespace callgate::server {

struct ReplayQuestion {
  std::string request;               // the id of a recorded turn; empty: `bytes` are given
  std::optional<std::string> bytes;  // of an upstream, or a capture file
  std::string wire = "openai_chat";  // of plain bytes
  std::string dialect;               // empty: as it was
  std::string protocol;              // likewise
  std::string split = "original";
  std::size_t round = 0;  // of a tool loop, from 1; 0: the last
  std::vector<std::pair<std::string, std::string>> policy;
  std::optional<std::vector<ToolSpec>> tools;  // instead of the request's
  bool golden = false;                         // the files of a golden case instead of the anatomy
  std::shared_ptr<const dialect::Catalog> dialects = {};  // nullptr: those of the library
};
Result<ReplayQuestion> read_replay_question(std::string_view body);
// `job`: the recording of the turn that the question names.
Result<std::string> answer_replay(const ReplayQuestion& question, std::optional<CaptureJob> job);

struct ParseQuestion {
  std::string text;
  std::vector<ToolSpec> tools;
  std::string split = "whole";
  std::shared_ptr<const dialect::Catalog> dialects = {};  // nullptr: those of the library
};
// Every dialect reads it, so it may not be as long as a turn.
inline constexpr std::size_t kMaxParsedText = std::size_t{256} << 10;
Result<ParseQuestion> read_parse_question(std::string_view body);
Result<std::string> answer_parse(const ParseQuestion& question);

}  // namespace callgate::server
