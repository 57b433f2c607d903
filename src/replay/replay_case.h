// `callgate replay`: what an upstream once sent goes through the pipeline again. The bytes come from a capture, with all
// that shaped the answer, or from a plain file of upstream bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/pipeline.h"
#include "callgate/request.h"
#include "callgate/result.h"
#include "capture/capture_format.h"
#include "replay/parse_case.h"

namespace callgate::replay {

struct ReplayCase {
  std::string name;     // the request's id, or the file's name without its ending
  std::string version;  // of the callgate that captured it
  Request request;
  PipelineOptions options;
  int status = 200;  // of the upstream's answer; 0: there was none
  // What the pipeline got, in order, and comments to the client in between.
  std::vector<server::CaptureLine> steps;
  bool has_end = true;            // false: the client left, or the capture was truncated
  std::string captured;           // what the client got
  std::string captured_comments;  // the same with the comments in between
  std::size_t rounds = 0;         // of the tool loop that it is a turn of; 0: none
};

// Of several attempts the last one counts, as it did then. A tool loop has several turns of the model: `round` says which
// one, from 1; 0 is the last. What its client got is made of all of them, and is not compared.
// `dialects` outlives the case; nullptr: those of this library.
Result<ReplayCase> to_replay_case(const server::CaptureRecord& record, std::size_t round = 0,
                                  const dialect::Catalog* dialects = nullptr);
// Upstream bytes that came whole and were closed. `request` is a client's request as openai_chat; when it is empty the
// usual one of golden cases is taken, streamed if the bytes are frames.
Result<ReplayCase> to_replay_case(std::string_view upstream_bytes, std::string_view wire,
                                  std::string_view request);

// `policy=value`.
Result<void> set_option(ReplayCase& into, std::string_view assignment);
Result<void> set_dialect(ReplayCase& into, std::string_view name,
                         const dialect::Catalog* dialects = nullptr);
Result<void> set_protocol(ReplayCase& into, std::string_view name);

// The failure of an attempt that had no answer to send on.
std::optional<Error> failure_of(const ReplayCase& input);
// What the pipeline gets when the bytes are cut anew.
std::vector<server::CaptureLine> cut_anew(const ReplayCase& input, const Split& split);

struct Replayed {
  std::string client;   // with comments when the original cuts were used
  std::string events;   // as golden files print them
  std::string summary;  // as golden files print it
  std::optional<Error> error;
  std::vector<LoggedCall> text_calls;  // that the dialect found in the text of the first choice
  std::string text;                    // of the first choice, with its reasoning
};
// `split` cuts the upstream's bytes anew; nothing: as they came.
Replayed run_replay(const ReplayCase& input, const std::optional<Split>& split,
                    Explainer* explain = nullptr);

// Nothing when the client got the same bytes, else where they first differ. What was cut short must be the beginning.
std::optional<std::string> first_difference(const ReplayCase& input, const Replayed& replayed,
                                            bool with_comments);

// Whether an upstream's answer is one JSON body and no frames.
bool is_whole_body(std::string_view upstream_bytes);
// The upstream's bytes in one piece.
std::string upstream_bytes(const ReplayCase& input);

}  // namespace callgate::replay
