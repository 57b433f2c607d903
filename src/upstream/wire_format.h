// A wire format is the HTTP and JSON that an upstream speaks: one file per format, one row in the registry.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/error.h"
#include "callgate/event.h"
#include "callgate/pipeline.h"
#include "callgate/request.h"
#include "callgate/result.h"
#include "sse/frame.h"

namespace callgate {

// Where the events of each choice go. Most upstreams have one choice, 0.
class ChoiceSinks {
 public:
  virtual ~ChoiceSinks() = default;
  // REQUIRES: index < count().
  virtual EventSink& choice(std::uint32_t index) = 0;
  virtual std::uint32_t count() const = 0;
};

// Upstream frames in, events out. Total: whatever arrives, every choice's events obey the event grammar.
class ResponseDecoder {
 public:
  virtual ~ResponseDecoder() = default;
  // One frame of a streamed answer.
  virtual void push(const SseFrame& frame, ChoiceSinks& sinks) = 0;
  // A whole answer that was not streamed.
  virtual void push_body(std::string_view body, ChoiceSinks& sinks) = 0;
  // The upstream closed: open calls and choices are finished. Each choice that began, and choice 0 in any case, gets
  // its TurnFinished if it had none.
  virtual void finish(ChoiceSinks& sinks) = 0;
  // The upstream failed midway: as finish(), with reason upstream_error where the turn was not over.
  virtual void abort(ChoiceSinks& sinks) = 0;

  // Every choice has its TurnFinished (or an error was reported) and nothing that matters can follow. For
  // most formats the frame that marks the end was seen.
  virtual bool finished() const = 0;
  // Every choice that began has said how it ends, and no arguments are open: a connection that fails now costs the usage at
  // most. An owner that does not want to wait may call finish() now. It is not certain that nothing follows: there are servers
  // that say so after each call. Arguments that come later make it false again until they end.
  virtual bool complete() const = 0;
  // The failure that the upstream reported inside its answer, or that its answer amounts to.
  virtual const std::optional<Error>& error() const = 0;
  virtual const RepairCounts& repairs() const = 0;
  // What the answer said so far that no event can carry, by name: `citations, server_tool_use`.
  virtual std::string dropped() const { return {}; }
};

// A field of the request that a wire format cannot carry.
struct DroppedField {
  std::string name;              // such as `logprobs` or `messages[2].content[0]`
  bool changes_meaning = false;  // the answer may be another than the one asked for
};

struct UpstreamRequest {
  std::string path;  // appended to the upstream's URL, such as /chat/completions
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::vector<DroppedField> dropped;
  std::string_view method = "POST";  // of static text, or of what outlives the request
};

struct EncodeOptions {
  std::string_view model;  // what the upstream calls the model
  std::string_view key;    // credential, may be empty
  std::string_view auth;   // how it is sent: bearer, x-api-key, or empty for the format's own way
  bool stream = true;
  std::span<const std::string> betas = {};  // of the client's that may go on; `*` is any
};

// The most that is read of an answer with an error status.
inline constexpr std::size_t kMaxErrorBody = 64 * 1024;

struct WireFormat {
  std::string_view name;
  // sse_or_array: a stream may also be one JSON array whose elements come over time.
  enum class Framing : std::uint8_t { sse, lines, sse_or_array } framing = Framing::sse;
  Result<UpstreamRequest> (*encode)(const Request& request, const EncodeOptions& options) = nullptr;
  std::unique_ptr<ResponseDecoder> (*make_decoder)(const Request& request) = nullptr;
  // Servers of this format report calls as such: text of theirs that shows a call is a quotation, unless it is marked by
  // special tokens.
  bool structured_calls = false;
  // An answer with an error status -> Error, keeping status, message, type, code.
  Error (*decode_error)(int status, std::string_view body) = nullptr;
  // Servers of this format count the tokens of a request when they are asked; nullptr: they do not. The answer has the count, or
  // nothing that is one.
  Result<UpstreamRequest> (*encode_count)(const Request& request,
                                          const EncodeOptions& options) = nullptr;
  std::optional<std::int64_t> (*decode_count)(std::string_view body) = nullptr;
};

namespace upstream {
std::span<const WireFormat* const> all();
const WireFormat* find(std::string_view name);
}  // namespace upstream
}  // namespace callgate
