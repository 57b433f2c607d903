// The file of one captured request: JSON lines. First what the pipeline was made with, then what passed in each
// direction, in order and cut as it came, then how it ended. `t` is in microseconds since the first line.
//
//   {"capture":1,"version":"0.1.0","request":"req_1","time":1760000000000,"model":"m","protocol":"openai_chat",
//    "pipeline":{"wire":"openai_chat","dialect":"auto",...,"policy":{"stop_after_tools":"off",...}}}
//   {"t":0,"dir":"client_in","head":{"method":"POST","path":"/v1/chat/completions","headers":[["host","x"]]}}
//   {"t":9,"dir":"client_in","data":"{\"model\":\"m\"}"}
//   {"t":310,"dir":"upstream_in","base64":"w6k="}                bytes that are not whole UTF-8
//   {"t":400,"dir":"client_out","comment":": keep-alive\n\n"}    sent, but no part of the answer
//   {"t":511,"dir":"upstream_in","closed":true}                  or "cut", "released" (the gateway did), "error":{...}
//   {"end":"completed","truncated":false}
//
// A tool loop has several turns of the model; what each of them was made with stands before its bytes:
//   {"t":320,"dir":"upstream_in","round":{"pipeline":{...},"request":"{...}"}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "callgate/error.h"
#include "callgate/policy.h"
#include "callgate/result.h"

namespace callgate::server {

inline constexpr std::int64_t kCaptureFormat = 1;
inline constexpr std::string_view kCaptureSuffix = ".capture.jsonl";

// What a Pipeline was made with, in words. Together with the request and the upstream's bytes it gives the same answer
// again.
struct CapturedPipeline {
  std::string wire;
  std::string protocol;
  std::string dialect;  // "native" for none
  bool dialect_is_default = false;
  std::string commit;  // eager, whole_call, or empty for the dialect's own
  bool reasoning_open = false;
  std::string response_id;  // empty: minted from id_seed
  std::int64_t created = 0;
  std::uint64_t id_seed = 0;
  std::uint64_t max_frame = 0;
  std::uint64_t max_body = 0;
  std::uint64_t max_held_back = 0;
  PolicyOptions policy;
  // What PipelineOptions::elapsed_ms said each time; nothing: it was not set.
  std::optional<std::vector<std::int64_t>> elapsed_ms;

  bool operator==(const CapturedPipeline&) const = default;
};

// One turn of the model in a tool loop.
struct CapturedRound {
  CapturedPipeline pipeline;
  std::string request;  // what shaped it, as Chat Completions JSON without the conversation

  bool operator==(const CapturedRound&) const = default;
};

enum class Direction : std::uint8_t { client_in, upstream_out, upstream_in, client_out };

// The head of a request or of an answer; what does not apply is empty.
struct CapturedHead {
  std::string method;
  std::string path;
  std::string upstream;  // upstream_out: its name
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;

  bool operator==(const CapturedHead&) const = default;
};

// Where a piece of a line's bytes ends, and when it came.
struct CapturedPiece {
  std::size_t end = 0;
  std::int64_t time_us = 0;
};

struct CaptureLine {
  enum class Kind : std::uint8_t { head, bytes, comment, closed, cut, released, failed, round };

  std::int64_t time_us = 0;
  Direction direction = Direction::client_in;
  Kind kind = Kind::bytes;
  CapturedHead head;  // kind head
  std::string bytes;  // kinds bytes and comment
  // Kind bytes: the pieces that they came in, as far as they were joined; none: they came at once.
  std::vector<CapturedPiece> pieces;
  Error error;  // kind failed; without retry_after
};

struct CaptureRecord {
  std::string version;  // of the callgate that wrote it
  std::string request_id;
  std::int64_t time_ms = 0;  // Unix milliseconds
  std::string model;
  std::string protocol;
  std::string
      request_as;  // the protocol of the client's request, where that is another: its shape alone was kept
  // Of the last attempt that got as far as a pipeline.
  std::optional<CapturedPipeline> pipeline;
  std::vector<CapturedRound> rounds;  // of a tool loop: one for each line of kind round, in order
  std::vector<CaptureLine> lines;
  std::string
      end;  // completed, failed, disconnected or interrupted; empty: the file has no last line
  bool truncated = false;
};

// Lines whose bytes were joined become several, cut as they came.
void part_pieces(CaptureRecord& record);

// Joined lines are printed as several.
std::string print_capture(const CaptureRecord& record);
// Reads what print_capture() writes. Unknown members are skipped. The error names the line.
Result<CaptureRecord> read_capture(std::string_view text);

// Whether a file is a capture rather than an upstream's bytes.
bool looks_like_capture(std::string_view text);

// Every policy by the name and the word that set_policy() takes.
void for_each_policy(const PolicyOptions& options,
                     FunctionRef<void(std::string_view name, std::string_view value)> on_policy);

}  // namespace callgate::server
