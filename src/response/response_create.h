// POST /v1/responses, /v1/responses/compact and /v1/responses/input_tokens.
#pragma once

#include "response/response_desk.h"

namespace callgate::server {

net::Task<> create_response(const ResponseDesk& desk, Ask& ask);
net::Task<> compact_response(const ResponseDesk& desk, Ask& ask);
net::Task<> count_input_tokens(const ResponseDesk& desk, Ask& ask);

// Sends what a response that runs in the background says, from byte `from` of its stream to its end, or until the client goes.
net::Task<> follow_response(Ask& ask, const std::shared_ptr<RunningResponse>& running,
                            std::int64_t after);

}  // namespace callgate::server
