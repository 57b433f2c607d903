// What a client may ask of a turn by headers: policies, and a report of the time it took. How text is split can also be
// said in the query of the URL, which goes before a header.
//
//   x-callgate-output: xml      x-callgate-stop-after-tools: first      x-callgate-timing: 1
//   POST /v1/chat/completions?split=sentences
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/policy.h"
#include "callgate/result.h"
#include "net/http.h"

namespace callgate::server {

struct RequestOptions {
  PolicyOptions policy;
  bool timing = false;
};

// User-Agent patterns and the output of their clients.
using OutputByClient = std::vector<std::pair<std::string, std::string>>;
// Of several patterns that match the longest counts; without any the policy stays.
void choose_output(PolicyOptions& policy, std::string_view user_agent,
                   const OutputByClient& by_client);

// `x-callgate-` and the name of a policy sets it for this request; tool_call_max can only be lowered, since it protects
// the gateway. Headers of that prefix that are no policy are left to others.
Result<RequestOptions> read_options(const net::Headers& headers, const PolicyOptions& configured,
                                    std::string_view query = {});

}  // namespace callgate::server
