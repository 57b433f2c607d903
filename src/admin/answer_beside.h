// Answers that take long to make, such as those from the store: a thread of the query pool makes them, the event loop goes on.
#pragma once

#include <string_view>

#include "admin/query_pool.h"
#include "front/desk.h"
#include "net/task.h"

namespace callgate::server {

// Answers with the JSON that `work` gives, or with its error. `missing`: what to say where the gateway has no such threads; a literal.
net::Task<> answer_beside(Desk& desk, Ask& ask, QueryPool::Work work, std::string_view missing);

}  // namespace callgate::server
