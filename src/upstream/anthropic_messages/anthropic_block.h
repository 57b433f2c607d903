// Content blocks of a Messages request, made from what a canonical message holds.
//
//   {"type":"text","text":"What is this?","cache_control":{"type":"ephemeral"}}
//   {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}
//   {"type":"thinking","thinking":"Look it up.","signature":"EqQB"}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {

struct AnthropicParam {
  std::string json;
  bool cached = false;  // it has a cache_control
};

// Does nothing if the block already has one, or if `json` is empty.
void set_cache_control(AnthropicParam& block, std::string_view json);

// nullopt: there is nothing to send, or (`lost`) no form to send it in.
std::optional<AnthropicParam> block_of(const ContentPart& part, bool& lost);

AnthropicParam text_block(std::string_view text);
// Arguments that are not a JSON object travel as {"raw": "..."}.
AnthropicParam call_block(const CallRecord& call, std::string_view id);

// A thinking block that came from this wire format.
struct ThinkingParam {
  std::string json;
  std::int64_t index = 0;  // where it stood among the blocks of its answer
};
std::vector<ThinkingParam> thinking_blocks(const Message& message);

}  // namespace callgate::upstream
