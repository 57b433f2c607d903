// Usage, summed by hour apart from the log: a question reads the sums of the hours that are over and the requests of
// the rest.
#pragma once

#include <cstdint>
#include <vector>

#include "store/database.h"
#include "store/request_log.h"

namespace callgate::store {

// Sums one more hour that is over for an hour and in which nothing runs any more. True when there may be another one.
// `now` is in Unix milliseconds.
Attempt<bool> sum_hour(Database& database, std::int64_t now);

Attempt<std::vector<UsageRow>> usage(Database& database, const UsageQuestion& question);

// Requests of hours that were summed have come late: those hours are summed again. The parameter is the time of the
// earliest.
inline constexpr std::string_view kSumAgainSql =
    "UPDATE usage_until SET up_to = $1 / 3600000 * 3600000 WHERE up_to > $1";

}  // namespace callgate::store
