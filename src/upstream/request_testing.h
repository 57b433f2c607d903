// For tests of wire formats: messages, a short request, and what a format makes of it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "callgate/request.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

inline Message user(std::string content) {
  return {.role = Role::user, .content = {std::move(content)}};
}

inline Message result(std::string id, std::string content) {
  return {.role = Role::tool, .content = {std::move(content)}, .tool_call_id = std::move(id)};
}

inline Message assistant(std::string content, std::vector<CallRecord> calls = {}) {
  return {.role = Role::assistant, .content = {std::move(content)}, .calls = std::move(calls)};
}

// One that says hi.
inline Request asked(std::vector<ExtraField> extra = {}) {
  Request request{.model = "m"};
  request.messages.push_back(user("\"hi\""));
  request.extra = std::move(extra);
  return request;
}

inline UpstreamRequest encoded_by(const WireFormat& wire, const Request& request,
                                  const EncodeOptions& options) {
  Result<UpstreamRequest> made = wire.encode(request, options);
  EXPECT_TRUE(made.has_value());
  return made ? *made : UpstreamRequest{};
}

}  // namespace callgate::upstream
