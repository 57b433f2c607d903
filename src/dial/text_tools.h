// `tools = "text"`: the upstream writes the tools into its own prompt and leaves calls as text for the dialect to read. What
// a request must say for that depends on the kind of server; docs/recipes.md has the table.
#pragma once

#include <optional>
#include <string_view>

#include "callgate/error.h"
#include "config/config.h"
#include "dial/learned_pairs.h"
#include "engine/prepare_request.h"

namespace callgate::server {

// What to ask of the upstream.
engine::TextTools text_tools_of(const UpstreamConfig& upstream, std::string_view dialect);

// A model server without a parser for calls refused the request because of its tools:
//   400 "auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set
bool lacks_call_parser(const Error& error);

// How the tools of a request go to that upstream; nothing: as such, or in the prompt. `text_only` are upstreams that refused
// tools although the configuration says they take them.
std::optional<engine::TextTools> text_tools_for(const UpstreamConfig& upstream,
                                                const ModelConfig& model, std::string_view dialect,
                                                const LearnedPairs& text_only);

}  // namespace callgate::server
