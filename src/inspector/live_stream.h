// GET /v1/live: the live feed as server-sent events.
//
//   event: hello
//   data: {"epoch":"k3j2h1g0","resumed":false}
//
//   id: k3j2h1g0-17
//   event: turn
//   data: {"id":"req_1","object":"request",...,"progress":{"phase":"streaming",...}}
//
// `last-event-id`, or `?from=`, continues after that row. Rows that are forgotten by then are announced with `event: gap`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "front/desk.h"
#include "recorder/live_feed.h"

namespace callgate::server {

LiveFilter read_live_filter(std::string_view query);
// The number in `EPOCH-17`; nothing: it is of another life of the gateway, or not one of ours.
std::optional<std::uint64_t> read_live_id(std::string_view text, std::string_view epoch);
// The frame of one row.
void append_live_row(std::string& out, const LiveRow& row, std::string_view epoch);

net::Task<> watch_live(Desk& desk, Ask& ask);

}  // namespace callgate::server
