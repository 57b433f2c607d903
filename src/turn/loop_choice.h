// Whether a request wants the tool loop, and with what: by the model's configuration, by a header, or by a member of the
// body that no upstream gets to see.
//
//   {"model": "m", "messages": [...], "callgate": {"loop": true, "tools": ["lookup_order"], "show_tool_calls": true}}
//   x-callgate-loop: 1
//
// A request that names its conversation ("conversation": "c1" or x-callgate-conversation) is a loop, too: where nothing else
// asks for one it has no tools.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/loop_options.h"
#include "callgate/policy.h"
#include "callgate/request.h"
#include "callgate/result.h"
#include "config/config.h"
#include "net/http.h"
#include "tool/host.h"

namespace callgate::server {

struct LoopChoice {
  bool on = false;
  std::string conversation;  // what is remembered; empty: nothing is
  loop::Options options;
  std::vector<loop::Tool> tools;
  // Of the same member, with or without a loop.
  std::optional<TextSplit> split;
  std::optional<std::uint32_t> split_min_characters;

  void apply_to(PolicyOptions& policy) const;
};

// Takes the member out of the request. A caller may ask for fewer rounds and calls than the configuration allows, never
// for more. `tools` is nullptr when the gateway has none; `key` is nullptr on an open gateway.
// Fails also when tool_choice insists on a tool that neither the request declares nor the loop has.
Result<LoopChoice> choose_loop(Request& request, const net::Headers& headers, const Config& config,
                               const ModelConfig& model, const KeyConfig* key,
                               const tool::Catalogue* tools);

// That part by itself, with the names of callgate's `own` tools.
Result<void> check_tool_choice(const Request& request, std::span<const std::string_view> own);

}  // namespace callgate::server
