// A protocol is the HTTP and JSON that a client speaks: one folder per protocol, one row in the registry. The rest of callgate
// knows no protocol by name: which one a request speaks follows from its path.
//
//   const Protocol& protocol = client::for_path("/v1/chat/completions");
//   auto request = protocol.decode({.body = body});
//   if (!request) respond(protocol.status_of(request.error()), protocol.error_body(request.error()));
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "callgate/error.h"
#include "callgate/event.h"
#include "callgate/request.h"
#include "callgate/result.h"

namespace callgate {

struct ResponseIdentity {
  std::string id;
  std::string model;
  std::int64_t created = 0;
  // The field that reasoning goes into, where the protocol leaves a choice.
  std::string_view reasoning_field = "reasoning_content";
  // Counts of tokens that nobody has stated may be estimated.
  bool estimates = false;
};

// What stands at the end of an answer beside what the model said.
struct AnswerEnd {
  struct Timing {
    std::int64_t first_token_ms = 0;
    std::int64_t duration_ms = 0;
    // Why usage is said now, static text: usage (the upstream stated it), finish (it did not) or cut (a policy ended the turn).
    std::string_view trigger = "usage";
  };
  std::optional<Usage> estimate;  // goes before what was told, of which some or all is missing
  std::optional<Timing> timing;   // the client asked for it
  std::string counters;           // a JSON object for a comment line of a stream; empty: none
};

// Events of every choice in, protocol bytes appended to the string given to begin(). For a stream: frames as events
// arrive. For a whole answer: nothing until finish().
class ResponseEncoder {
 public:
  virtual ~ResponseEncoder() = default;
  // The sink of one choice, alive as long as the encoder. REQUIRES: index < the request's choices.
  virtual EventSink& choice(std::uint32_t index) = 0;
  // Where bytes go until the next call of bind().
  virtual void bind(std::string& out) = 0;
  // Every choice has had its TurnFinished: usage if asked, then the end of the stream; or the whole answer. A whole answer may be
  // written without: then a choice says that how it ends is not known.
  virtual void finish(const AnswerEnd& end) = 0;
  // A member of the answer with callgate's own news, as JSON, while the turn goes on: a stream carries it in a frame whose
  // delta is empty, which clients that do not know it pass over. A whole answer has no room for it.
  virtual void note(std::string_view name, std::string_view json) = 0;
  // A failure after the stream began: an error frame, then an orderly end.
  virtual void fail(const Error& error) = 0;
};

// What a client sent. Views into the request, valid during decode().
struct ClientRequest {
  std::string_view body = {};
  std::string_view path = {};
  std::string_view query = {};  // after the question mark
  // Finds the value of a header in `headers`; empty if it is missing. nullptr: the request has no headers.
  std::string_view (*header)(const void* headers, std::string_view name) = nullptr;
  const void* headers = nullptr;

  std::string_view find_header(std::string_view name) const {
    return header == nullptr ? std::string_view{} : header(headers, name);
  }
};

struct Endpoint {
  enum class Kind : std::uint8_t {
    turn,          // asks a model
    models,        // lists the models
    model,         // shows one; its name is what `*` stands for
    count_tokens,  // counts what a turn would send to a model
    fixed,         // always has the same answer, also for callers without a key
  };
  std::string_view method;
  std::string_view path;  // a pattern of base/path_pattern.h
  Kind kind = Kind::turn;
  // Where two protocols share a path: it is this protocol's if the request has this header. Empty: in any case.
  std::string_view header = {};
  std::string_view answer = {};  // Kind::fixed: JSON
};

struct ModelEntry {
  std::string_view id;
  std::string_view owner;
  std::int64_t created = 0;  // Unix seconds
};

struct Protocol {
  std::string_view name;
  std::span<const Endpoint> endpoints;
  std::string_view id_prefix;    // of the answers' ids
  std::string_view stream_type;  // content type of a stream
  std::string_view
      keep_alive;  // what a silent stream may carry; clients pass over it. Empty: nothing
  // A request -> Request, or what is wrong with it, naming the field.
  Result<Request> (*decode)(const ClientRequest& request) = nullptr;
  std::unique_ptr<ResponseEncoder> (*make_encoder)(const Request& request,
                                                   const ResponseIdentity& identity) = nullptr;
  // The body that goes with status_of(error).
  std::string (*error_body)(const Error& error) = nullptr;
  std::string (*print_models)(std::span<const ModelEntry> models) = nullptr;
  std::string (*print_model)(const ModelEntry& model) = nullptr;
  // The answer to count_tokens; nullptr: the protocol has no such endpoint.
  std::string (*print_token_count)(std::int64_t tokens) = nullptr;
  // The status of an error where the protocol has words of its own for it; nullptr: client::status_of().
  int (*status)(const Error& error) = nullptr;
  // A header that has the request's id beside `x-request-id`, which every answer has. Empty: none.
  std::string_view id_header = {};
  // The content type of a stream where the request decides; nullptr: stream_type.
  std::string_view (*type_of)(const Request& request) = nullptr;
  // Where a request for one model names it; nullptr: in its path.
  Result<std::string> (*named_model)(const ClientRequest& request) = nullptr;
  // A header, and a parameter of the query, that a caller may send its key in beside `authorization` and `x-api-key`.
  std::string_view key_header = {};
  std::string_view key_parameter = {};

  int status_of(const Error& error) const;
};

namespace client {
std::span<const Protocol* const> all();
const Protocol* find(std::string_view name);
// The protocol whose endpoint the request's path is, for whatever method; for other paths the first one. Only path and headers
// of `request` are looked at.
const Protocol& for_request(const ClientRequest& request);
// The request asks a model, by its method and path.
bool is_turn(const Protocol& protocol, std::string_view method, std::string_view path);
inline const Protocol& for_path(std::string_view path) { return for_request({.path = path}); }
// The HTTP status for an error; the upstream's own status is kept where a client can act on it.
int status_of(const Error& error);
}  // namespace client
}  // namespace callgate
