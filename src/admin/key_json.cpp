#include "admin/key_json.h"

#include <algorithm>

#include "admin/log_json.h"
#include "admin/log_time.h"
#include "base/amount.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

using store::StoredKey;

constexpr std::size_t kLongestName = 128;
constexpr std::size_t kMostPatterns = 1000;

using Flag = std::pair<std::string_view, bool StoredKey::*>;
constexpr Flag kFlags[] = {{"admin", &StoredKey::admin}, {"log_content", &StoredKey::log_content}};
using PatternList = std::pair<std::string_view, std::vector<std::string> StoredKey::*>;
constexpr PatternList kPatternLists[] = {{"models", &StoredKey::models},
                                         {"tools", &StoredKey::tools},
                                         {"deny_tools", &StoredKey::deny_tools}};

Error wrong_field(std::string_view field, std::string_view expected) {
  return {.code = ErrorCode::invalid_request,
          .message = std::string(field) + ": expected " + std::string(expected),
          .param = std::string(field)};
}

void append_patterns(std::string& out, const std::vector<std::string>& patterns) {
  out += '[';
  for (const std::string& pattern : patterns) {
    if (out.back() != '[') out += ',';
    json::append_string(out, pattern);
  }
  out += ']';
}

void append_rights(json::ObjectWriter& object, const StoredKey& key) {
  for (const auto& [name, flag] : kFlags) object.boolean(name, key.*flag);
  for (const auto& [name, list] : kPatternLists) append_patterns(object.key(name), key.*list);
  for (const auto& [name, limit] : key_limits()) object.integer(name, key.*limit);
  for (const auto& [name, limit] : key_amounts()) object.raw(name, print_amount(key.*limit));
}

void append_time(json::ObjectWriter& object, std::string_view name, std::int64_t time) {
  time == 0 ? object.null(name) : object.string(name, print_time(time));
}

std::string_view state_of(const StoredKey& key, std::int64_t now_ms) {
  if (key.revoked_at != 0) return "revoked";
  return key.expires_at != 0 && now_ms >= key.expires_at ? "expired" : "active";
}

Result<void> read_patterns(json::Reader& in, std::string_view name,
                           std::vector<std::string>& patterns) {
  patterns.clear();
  if (in.peek() != json::Kind::array) {
    return tl::unexpected(wrong_field(name, "a list of patterns"));
  }
  while (in.next_element()) {
    if (in.peek() != json::Kind::string || patterns.size() == kMostPatterns) {
      return tl::unexpected(wrong_field(name, "a list of at most 1000 patterns"));
    }
    patterns.emplace_back(in.string());
  }
  return {};
}

Result<void> read_member(json::Reader& in, std::string_view name, StoredKey& key,
                         std::int64_t now_ms) {
  const json::Kind kind = in.peek();
  for (const auto& [known, text] : {std::pair{"name", &key.name}, std::pair{"owner", &key.owner}}) {
    if (known != name) continue;
    if (kind != json::Kind::string) return tl::unexpected(wrong_field(name, "a string"));
    *text = in.string();
    return {};
  }
  for (const auto& [known, flag] : kFlags) {
    if (known != name) continue;
    if (kind != json::Kind::boolean) return tl::unexpected(wrong_field(name, "true or false"));
    key.*flag = in.boolean();
    return {};
  }
  for (const auto& [known, list] : kPatternLists) {
    if (known == name) return read_patterns(in, name, key.*list);
  }
  for (const auto& [known, limit] : key_limits()) {
    if (known != name) continue;
    const auto number = kind == json::Kind::number ? in.integer() : std::nullopt;
    if (!number || *number < 0) return tl::unexpected(wrong_field(name, "a number, 0 or more"));
    key.*limit = *number;
    return {};
  }
  for (const auto& [known, limit] : key_amounts()) {
    if (known != name) continue;
    const auto amount = kind == json::Kind::number ? parse_amount(in.number()) : std::nullopt;
    if (!amount) return tl::unexpected(wrong_field(name, "an amount such as 12.5"));
    key.*limit = *amount;
    return {};
  }
  if (name != "expires_at") {
    return tl::unexpected(wrong_field(name, "another member: this one is not known"));
  }
  if (kind == json::Kind::null) {
    in.null();
    return {};
  }
  if (kind != json::Kind::string) return tl::unexpected(wrong_field(name, "a time or null"));
  const auto time = read_expiry(in.string(), now_ms);
  if (!time) return tl::unexpected(time.error());
  key.expires_at = *time;
  return {};
}

}  // namespace

const std::vector<KeyLimit>& key_limits() {
  static const std::vector<KeyLimit> limits = {
      {"requests_per_minute", &StoredKey::requests_per_minute},
      {"max_streams", &StoredKey::max_streams},
      {"tokens_per_minute", &StoredKey::tokens_per_minute},
      {"tokens_per_day", &StoredKey::tokens_per_day},
      {"tokens_per_month", &StoredKey::tokens_per_month}};
  return limits;
}

const std::vector<KeyLimit>& key_amounts() {
  static const std::vector<KeyLimit> amounts = {{"cost_per_day", &StoredKey::cost_per_day},
                                                {"cost_per_month", &StoredKey::cost_per_month}};
  return amounts;
}

std::string print_key(const StoredKey& key, std::int64_t now_ms, const Secret& secret) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("object", "key");
  object.string("name", key.name);
  object.string("source", "store");
  object.string("state", state_of(key, now_ms));
  text_or_null(object, "owner", key.owner);
  append_time(object, "created_at", key.created_at);
  append_time(object, "rotated_at", key.rotated_at);
  append_time(object, "expires_at", key.expires_at);
  append_time(object, "revoked_at", key.revoked_at);
  append_rights(object, key);
  if (!secret.empty()) object.string("secret", secret.reveal());
  object.close();
  return out;
}

std::string print_file_key(const KeyConfig& key) {
  StoredKey same;
  same.admin = key.admin;
  same.log_content = key.log_content;
  same.models = key.models;
  same.tools = key.tools;
  same.deny_tools = key.deny_tools;
  same.requests_per_minute = key.requests_per_minute;
  same.max_streams = key.max_streams;
  same.tokens_per_minute = key.tokens_per_minute;
  same.tokens_per_day = key.tokens_per_day;
  same.tokens_per_month = key.tokens_per_month;
  same.cost_per_day = to_billionths(key.cost_per_day);
  same.cost_per_month = to_billionths(key.cost_per_month);
  std::string out;
  json::ObjectWriter object(out);
  object.string("object", "key");
  object.string("name", key.name);
  object.string("source", "file");
  object.string("state", "active");
  append_rights(object, same);
  object.close();
  return out;
}

Result<StoredKey> read_new_key(std::string_view body, std::int64_t now_ms) {
  StoredKey key;
  json::Reader in(body);
  if (in.peek() != json::Kind::object) {
    return fail(ErrorCode::invalid_request, "the body is not a JSON object");
  }
  for (std::string_view name; in.next_member(name);) {
    const std::string own(name);  // the reader uses its memory again
    if (auto read = read_member(in, own, key, now_ms); !read) return tl::unexpected(read.error());
  }
  if (!in.finish()) return fail(ErrorCode::invalid_request, "the body is not a JSON object");
  if (auto checked = check_new_key(key); !checked) return tl::unexpected(checked.error());
  return key;
}

Result<std::int64_t> read_grace(std::string_view body) {
  if (body.empty()) return 0;
  std::int64_t seconds = 0;
  json::Reader in(body);
  if (in.peek() != json::Kind::object) {
    return fail(ErrorCode::invalid_request, "the body is not a JSON object");
  }
  for (std::string_view name; in.next_member(name);) {
    constexpr std::int64_t kLongest = 366 * 86'400;
    const bool known = name == "grace_seconds";
    const auto number = known && in.peek() == json::Kind::number ? in.integer() : std::nullopt;
    if (!number || *number < 0 || *number > kLongest) {
      return tl::unexpected(wrong_field("grace_seconds", "a number of seconds, at most a year"));
    }
    seconds = *number;
  }
  if (!in.finish()) return fail(ErrorCode::invalid_request, "the body is not a JSON object");
  return seconds * 1000;
}

Result<std::int64_t> read_expiry(std::string_view text, std::int64_t now_ms) {
  // The log's spans lead back from now; an expiry lies ahead.
  const auto span = to_time(text, 0);
  std::int64_t time = 0;
  if (span && *span < 0) {
    time = now_ms - *span;
  } else if (span) {
    time = *span;
  }
  if (time > now_ms) return time;
  return tl::unexpected(
      wrong_field("expires_at", "a time that lies ahead: 2027-01-31, 2027-01-31T12:00Z, 90d, 12h"));
}

Result<void> check_new_key(const StoredKey& key) {
  const bool plain = std::all_of(key.name.begin(), key.name.end(), [](unsigned char c) {
    return c > 0x20 && c != 0x7F && c != '/' && c != '"' && c != '\\';
  });
  if (key.name.empty() || key.name.size() > kLongestName || key.name[0] == '@' || !plain) {
    return tl::unexpected(wrong_field(
        "name",
        "1 to 128 bytes without white space, control characters, slashes, quotes and @ in front"));
  }
  if (key.owner.size() > kLongestName) {
    return tl::unexpected(wrong_field("owner", "at most 128 bytes"));
  }
  return {};
}

Error no_key(std::string_view name) {
  return {.code = ErrorCode::not_found,
          .message = "there is no key \"" + std::string(name) + "\" in the store",
          .param = "name"};
}

Error key_name_taken(std::string_view name) {
  return {.code = ErrorCode::conflict,
          .message = "there is a key \"" + std::string(name) +
                     "\" already, maybe a revoked one; take another name",
          .param = "name"};
}

}  // namespace callgate::server
