// What one try at an upstream takes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "callgate/pipeline.h"
#include "callgate/request.h"
#include "callgate/result.h"
#include "config/config.h"
#include "dial/text_tools.h"
#include "dial/upstream_call.h"
#include "engine/prepare_request.h"
#include "net/task.h"

namespace callgate::server {

struct Snapshot;
struct World;

// How agents name their conversations.
std::string_view session_of(const net::Headers& headers);

// The model inside the process writes Chat Completions.
const WireFormat& wire_of(const UpstreamConfig& upstream);

struct EncodedRequest {
  std::optional<Request> prepared;  // where the rules change anything: what was encoded
  UpstreamRequest request;
  std::string dropped;  // names of fields that the wire format cannot carry
};
// `text`: how calls are to stay in the text; nothing: the tools go as `rules` say.
Result<EncodedRequest> encode_for(const UpstreamConfig& upstream, const ModelConfig& model,
                                  const engine::RequestRules& rules,
                                  const std::optional<engine::TextTools>& text,
                                  const Request& request);

// What a turn asked of an upstream.
struct Asked {
  const UpstreamConfig& upstream;
  const ModelConfig& model;
  std::string_view dialect;
  bool as_text = false;  // calls were to stay in the text
};
// The upstream refused tools because nobody gave it a parser for calls. From now on, and until the next reload, that model
// is asked for calls in its text; the log says so once. False: asking again cannot help.
bool learn_text_only(World& world, const Snapshot& snapshot, const Asked& asked,
                     const Error& refusal);

// What an upstream that did not answer with success says, and where: the upstream and the URL that was asked at `path`. A 404
// says what that URL may lack.
net::Task<Error> read_refusal(UpstreamCall& call, const UpstreamConfig& upstream,
                              std::string_view path);

// An upstream that refused its credential: the error says which command gives it another.
void add_login_hint(Error& error, const UpstreamConfig& upstream);

// How the answer of that model is read, without what belongs to one turn alone.
PipelineOptions reading_options(const ModelConfig& model, const LimitsConfig& limits,
                                UpstreamCall& call, IdMint& mint);

// The turn is over. Drains the rest of the upstream's answer, most often its end, so that the connection can be used
// again; nobody waits for it.
net::Task<> read_away(std::shared_ptr<UpstreamTarget> target, std::unique_ptr<UpstreamCall> call);

}  // namespace callgate::server
