// Rows of the request log as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "admin/log_time.h"
#include "json/writer.h"
#include "store/request_log.h"

namespace callgate::server {

void text_or_null(json::ObjectWriter& object, std::string_view name, std::string_view text);

// A row without its content, as members of an object.
void add_row(json::ObjectWriter& object, const store::RequestRow& row);
std::string print_page(const store::RequestPage& page);
// One request with all that is kept of it.
std::string print_request(const store::RequestRow& row, const std::vector<store::CallRow>& calls,
                          const store::RequestContent& content);
std::string print_events(const store::RequestContent& content);
// `groups`: their words, one or two.
std::string print_usage(const std::vector<std::string>& groups,
                        const std::vector<store::UsageRow>& rows);
std::string print_stats(const store::StoreStats& stats, const store::Health& health);

}  // namespace callgate::server
