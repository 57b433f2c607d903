// A rule and a request -> the rendered reply.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "callgate/request.h"
#include "script/reply/reply_encoder.h"
#include "script/script.h"

namespace callgate::script {

// How a model writes calls as text.
struct CallText {
  // Appends calls that follow one another. False: they cannot be written so, and leave as calls.
  using Render = bool (*)(std::string_view dialect, std::span<const Call> calls, std::string& out);
  Render render = nullptr;        // nullptr: calls leave as calls
  std::string_view dialect = {};  // for `render`
};

struct RenderOptions {
  const ReplyFormat* format = nullptr;
  Faults faults;  // on top of the rule's own
  CallText call_text;
  ReplyPlace place;
  std::string_view form = {};  // Request::form of the answer
  std::uint64_t seed = 0;      // ids come from this alone
  std::int64_t created = 0;
};

// REQUIRES: options.format is set.
Rendering render(const Rule& rule, const Request& request, const RenderOptions& options);

// An error as a whole answer.
Rendering render_error(int status, std::string_view message, const Request& request,
                       const RenderOptions& options);

}  // namespace callgate::script
