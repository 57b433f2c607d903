// Requests of the log for people: a line each, or a whole turn. Reads what the admin API answers.
//
//   2026-11-16 03:00:00.123  req_1  m > main  completed 200 tool_calls  25+15 tokens  1 call  340 ms
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"

namespace callgate::cli {

struct LogPage {
  struct Row {
    std::string json;
    std::string id;
    std::string received_at;
    bool running = false;
  };
  std::vector<Row> rows;  // the latest first
  std::string cursor;     // empty: there are no more
};

// The answer of GET /v1/requests.
Result<LogPage> read_log_page(std::string_view json);

// `request`: one of its rows.
std::string print_log_line(std::string_view request, bool colours);
// The answer of GET /v1/requests/ID.
std::string print_log_turn(std::string_view request, bool colours);

}  // namespace callgate::cli
