// A rule and a request -> the rendered reply.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "callgate/request.h"
#include "script/reply_encoder.h"
#include "script/script.h"

namespace callgate::script {

// Calls that follow one another, as the text that a model writes them in: the calls then leave as text.
using RenderCalls = std::string (*)(std::span<const Call> calls);

struct RenderOptions {
  const ReplyFormat* format = nullptr;
  Faults faults;  // on top of the rule's own
  RenderCalls render_calls = nullptr;
  std::uint64_t seed = 0;  // ids come from this alone
  std::int64_t created = 0;
};

// REQUIRES: options.format is set.
Rendering render(const Rule& rule, const Request& request, const RenderOptions& options);

// An error as a whole answer.
Rendering render_error(int status, std::string_view message, const Request& request,
                       const RenderOptions& options);

}  // namespace callgate::script
