// Keys of the store as the admin API and `callgate key` write and read them. A secret is only in the answer to who made it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "callgate/result.h"
#include "config/config.h"
#include "store/keys/key_table.h"

namespace callgate::server {

// Limits by their names, as in [[key]].
using KeyLimit = std::pair<std::string_view, std::int64_t store::StoredKey::*>;
const std::vector<KeyLimit>& key_limits();

// The same in money, in billionths.
const std::vector<KeyLimit>& key_amounts();

// {"object":"key","name":"dev","source":"store","state":"active",...}. `secret`: shown if it is not empty.
std::string print_key(const store::StoredKey& key, std::int64_t now_ms, const Secret& secret = {});
// A key of the file, which has no times.
std::string print_file_key(const KeyConfig& key);

// The body of POST /v1/keys: the same members. Its secret is not made yet.
Result<store::StoredKey> read_new_key(std::string_view body, std::int64_t now_ms);
// The body of POST /v1/keys/NAME/rotate, may be empty: for how long the former secret stays valid.
Result<std::int64_t> read_grace(std::string_view body);

// 2027-01-31, 2027-01-31T12:00Z, or from now: 90s, 12h, 30d.
Result<std::int64_t> read_expiry(std::string_view text, std::int64_t now_ms);
// Rules that every new key keeps.
Result<void> check_new_key(const store::StoredKey& key);

Error no_key(std::string_view name);
Error key_name_taken(std::string_view name);

}  // namespace callgate::server
