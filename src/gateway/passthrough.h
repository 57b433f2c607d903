// Endpoints of /v1 that callgate does not read: embeddings, rerank, images, audio, files, moderations. An upstream with
// `passthrough = true` gets such a request unchanged, and the client gets its answer.
#pragma once

#include "front/desk.h"
#include "net/task.h"
#include "turn/ask.h"

namespace callgate::server {

// There is an upstream for it, and the path is one that stays below the upstream's URL.
bool may_pass_through(const Ask& ask);

// REQUIRES: may_pass_through(ask).
net::Task<> pass_through(Desk& desk, Ask& ask);

}  // namespace callgate::server
