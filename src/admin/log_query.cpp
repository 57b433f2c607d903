#include "admin/log_query.h"

#include <charconv>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "admin/log_json.h"
#include "admin/log_time.h"
#include "base/quoted.h"
#include "base/url_query.h"
#include "callgate/dialect.h"
#include "chat/event_log.h"
#include "config/config_text.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

constexpr std::size_t kMostRows = 500;
constexpr std::int64_t kUsageSpan = std::int64_t{30} * 24 * 3'600'000;
constexpr std::string_view kEvents = "/events";

using store::RequestFilter;
using store::RequestState;
using store::UsageGroup;

Error wrong(std::string_view name, std::string_view value, std::string_view expected) {
  return {
      .code = ErrorCode::invalid_request,
      .message = shortened(name) + ": " + in_quotes(value) + ", expected " + std::string(expected),
      .param = shortened(name)};
}

Result<std::int64_t> read_time(const UrlParameter& parameter, std::int64_t now_ms) {
  if (const auto time = to_time(parameter.value, now_ms)) return *time;
  return tl::unexpected(wrong(parameter.name, parameter.value,
                              "a time as 2026-11-16T03:00:00Z, Unix milliseconds, or so long ago "
                              "as 90s, 15m, 2h, 7d"));
}

Result<bool> read_bool(const UrlParameter& parameter) {
  if (parameter.value == "true") return true;
  if (parameter.value == "false") return false;
  return tl::unexpected(wrong(parameter.name, parameter.value, "true|false"));
}

template <class Enum>
Result<Enum> read_word(const UrlParameter& parameter, std::span<const Enum> values) {
  std::string expected;
  for (const Enum value : values) {
    if (to_string(value) == parameter.value) return value;
    expected.append(expected.empty() ? "" : "|").append(to_string(value));
  }
  return tl::unexpected(wrong(parameter.name, parameter.value, expected));
}

constexpr RequestState kStates[] = {RequestState::running, RequestState::completed,
                                    RequestState::failed, RequestState::disconnected,
                                    RequestState::interrupted};
constexpr FinishReason kReasons[] = {FinishReason::stop, FinishReason::tool_calls,
                                     FinishReason::length, FinishReason::content_filter,
                                     FinishReason::upstream_error};
constexpr std::string_view kFilters[] = {"since",         "until",          "model", "key",
                                         "session",       "upstream",       "tool",  "state",
                                         "finish_reason", "has_tool_calls", "error", "missed_call",
                                         "resolved",      "text",           "limit", "cursor"};

Error unknown(const UrlParameter& parameter, std::span<const std::string_view> known) {
  std::string message = "unknown parameter " + in_quotes(parameter.name);
  if (known.empty()) {
    message += " here";
  } else {
    const std::vector<std::string_view> names(known.begin(), known.end());
    message.append(suggestion(parameter.name, names)).append(" Known: ");
    for (const std::string_view name : known) {
      message.append(name == known.front() ? "" : ", ").append(name);
    }
  }
  return {.code = ErrorCode::invalid_request,
          .message = std::move(message),
          .param = shortened(parameter.name)};
}

// Puts a value where it belongs, or gives its fault.
template <class To, class From>
Result<void> take(To& to, Result<From> from) {
  if (!from) return tl::unexpected(std::move(from.error()));
  to = std::move(*from);
  return {};
}

Result<void> read_error(RequestFilter& filter, const UrlParameter& parameter) {
  if (const auto any = read_bool(parameter)) {
    filter.has_error = *any;
    return {};
  }
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_";
  if (parameter.value.empty() || parameter.value.find_first_not_of(kLetters) != std::string::npos) {
    return tl::unexpected(
        wrong(parameter.name, parameter.value, "true, false or a code such as upstream_failed"));
  }
  filter.error_code = parameter.value;
  return {};
}

Result<void> read_missed_call(RequestFilter& filter, const UrlParameter& parameter) {
  if (const auto any = read_bool(parameter)) {
    filter.has_missed_call = *any;
    return {};
  }
  if (dialect::find(parameter.value) == nullptr) {
    return tl::unexpected(
        wrong(parameter.name, parameter.value, "true, false or a dialect such as hermes"));
  }
  filter.missed_call = parameter.value;
  return {};
}

Result<void> read_limit(RequestFilter& filter, const UrlParameter& parameter) {
  const auto number = to_number(parameter.value);
  if (!number || *number < 1 || *number > static_cast<std::int64_t>(kMostRows)) {
    return tl::unexpected(wrong(parameter.name, parameter.value, "1 to 500"));
  }
  filter.limit = static_cast<std::size_t>(*number);
  return {};
}

Result<void> read_filter(RequestFilter& filter, const UrlParameter& parameter,
                         std::int64_t now_ms) {
  const std::pair<std::string_view, std::string*> texts[] = {
      {"model", &filter.model},       {"key", &filter.key_name}, {"session", &filter.session},
      {"upstream", &filter.upstream}, {"tool", &filter.tool},    {"text", &filter.text},
      {"cursor", &filter.cursor}};
  const std::string_view name = parameter.name;
  for (const auto& [known, text] : texts) {
    if (known != name) continue;
    if (parameter.value.empty()) return tl::unexpected(wrong(name, "", "some text"));
    *text = parameter.value;
    return {};
  }
  if (name == "since") return take(filter.since, read_time(parameter, now_ms));
  if (name == "until") return take(filter.until, read_time(parameter, now_ms));
  if (name == "state") {
    return take(filter.state, read_word(parameter, std::span<const RequestState>(kStates)));
  }
  if (name == "finish_reason") {
    return take(filter.finish_reason,
                read_word(parameter, std::span<const FinishReason>(kReasons)));
  }
  if (name == "has_tool_calls") return take(filter.has_calls, read_bool(parameter));
  if (name == "resolved") return take(filter.is_resolved, read_bool(parameter));
  if (name == "error") return read_error(filter, parameter);
  if (name == "missed_call") return read_missed_call(filter, parameter);
  if (name == "limit") return read_limit(filter, parameter);
  return tl::unexpected(unknown(parameter, kFilters));
}

Error no_request(std::string_view id) {
  return {.code = ErrorCode::not_found,
          .message = "there is no request \"" + std::string(id) + "\" in the log",
          .param = "id"};
}

Result<void> refuse_parameters(std::string_view query) {
  const auto parameters = read_url_query(query);
  if (parameters.empty()) return {};
  return tl::unexpected(unknown(parameters.front(), {}));
}

Result<std::string> answer_search(store::RequestLog& log, const LogQuery& query) {
  const auto filter = read_request_filter(query.query, query.now_ms);
  if (!filter) return tl::unexpected(filter.error());
  const auto page = log.search(*filter);
  if (page) return print_page(*page);
  Error error = page.error();
  if (error.message.starts_with("cursor: ")) {  // only the store can read one
    error.code = ErrorCode::invalid_request;
    error.param = "cursor";
  }
  return tl::unexpected(std::move(error));
}

// Whose request is meant: ?key=NAME says so, otherwise the asker's own come first.
Result<std::optional<std::string>> read_key(std::string_view query) {
  constexpr std::string_view kKnown[] = {"key"};
  std::optional<std::string> key;
  for (const UrlParameter& parameter : read_url_query(query)) {
    if (parameter.name != kKnown[0]) return tl::unexpected(unknown(parameter, kKnown));
    key = parameter.value;
  }
  return key;
}

Result<std::string> answer_request(store::RequestLog& log, const LogQuery& query) {
  const auto key = read_key(query.query);
  if (!key) return tl::unexpected(key.error());
  std::string_view rest = std::string_view(query.path).substr(kRequestPath.size());
  if (rest.ends_with(kCapturePath)) {
    return fail(ErrorCode::invalid_request,
                "captures are in the memory of the gateway, not in the store: ask the gateway");
  }
  const bool events = rest.ends_with(kEvents);
  if (events) rest.remove_suffix(kEvents.size());
  const std::string id = percent_decoded(rest);
  const std::optional<std::string>& whose = *key ? *key : query.key;
  const store::RequestName name(id, whose ? std::optional<std::string_view>(*whose) : std::nullopt);
  const auto row = log.get(name);
  if (!row) return tl::unexpected(row.error());
  if (!*row || (*key && (*row)->record.key_name != **key)) {
    return tl::unexpected(no_request(id));
  }
  const auto content = log.content(name);
  if (!content) return tl::unexpected(content.error());
  if (events) return print_events(*content);
  const auto calls = log.calls(name);
  if (!calls) return tl::unexpected(calls.error());
  return print_request(**row, *calls, *content);
}

struct Resolution {
  bool resolved = true;
  std::string note;
};

Result<Resolution> read_resolution(std::string_view body) {
  Resolution resolution;
  bool given = false;
  json::Reader in(body);
  for (std::string_view key; in.next_member(key);) {
    if (key == "resolved") {
      resolution.resolved = in.boolean();
      given = true;
    } else if (key == "note") {
      resolution.note = in.string();
    } else {
      in.skip();
    }
  }
  if (!in.finish() || !given) {
    return fail(ErrorCode::invalid_request,
                "expected an object such as {\"resolved\": true, \"note\": \"...\"}", "resolved");
  }
  return resolution;
}

constexpr std::pair<std::string_view, UsageGroup> kUsageGroups[] = {
    {"hour", UsageGroup::hour}, {"day", UsageGroup::day},           {"model", UsageGroup::model},
    {"key", UsageGroup::key},   {"upstream", UsageGroup::upstream}, {"tool", UsageGroup::tool}};

struct UsageAsked {
  store::UsageQuestion question;
  std::vector<std::string> words{"day"};
};

// One of the words, or two with a comma between them.
Result<void> read_groups(UsageAsked& asked, const UrlParameter& parameter) {
  asked.words.clear();
  asked.question.groups.clear();
  std::string_view rest = parameter.value;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view given = rest.substr(0, comma);
    rest = more ? rest.substr(comma + 1) : std::string_view();
    for (const auto& [word, group] : kUsageGroups) {
      if (word != given) continue;
      asked.words.emplace_back(word);
      asked.question.groups.push_back(group);
    }
    if (asked.words.empty() || asked.words.back() != given || asked.words.size() > 2) break;
    if (!more && (asked.words.size() == 1 || asked.words[0] != asked.words[1])) return {};
  }
  return tl::unexpected(wrong("group", parameter.value,
                              "hour|day|model|key|upstream|tool, or two of them as key,model"));
}

Result<UsageAsked> read_usage(const LogQuery& query) {
  constexpr std::string_view kKnown[] = {"group", "since", "until", "key"};
  UsageAsked asked;
  asked.question.since = query.now_ms - kUsageSpan;
  asked.question.until = query.now_ms + 1;
  for (const UrlParameter& parameter : read_url_query(query.query)) {
    Result<void> read;
    if (parameter.name == "since") {
      read = take(asked.question.since, read_time(parameter, query.now_ms));
    } else if (parameter.name == "until") {
      read = take(asked.question.until, read_time(parameter, query.now_ms));
    } else if (parameter.name == "group") {
      read = read_groups(asked, parameter);
    } else if (parameter.name == "key") {
      asked.question.key_name = parameter.value;
    } else {
      read = tl::unexpected(unknown(parameter, kKnown));
    }
    if (!read) return tl::unexpected(std::move(read.error()));
  }
  if (query.own_only) asked.question.key_name = query.key.value_or("");
  return asked;
}

Result<std::string> answer_usage(store::RequestLog& log, const LogQuery& query) {
  const auto asked = read_usage(query);
  if (!asked) return tl::unexpected(asked.error());
  const auto rows = log.usage(asked->question);
  if (!rows) return tl::unexpected(rows.error());
  return print_usage(asked->words, *rows);
}

Result<std::string> answer_stats(store::RequestLog& log, const LogQuery& query) {
  if (auto none = refuse_parameters(query.query); !none) return tl::unexpected(none.error());
  const auto stats = log.stats();
  if (!stats) return tl::unexpected(stats.error());
  return print_stats(*stats, log.health());
}

}  // namespace

Result<RequestFilter> read_request_filter(std::string_view query, std::int64_t now_ms) {
  RequestFilter filter;
  for (const UrlParameter& parameter : read_url_query(query)) {
    if (auto read = read_filter(filter, parameter, now_ms); !read) {
      return tl::unexpected(std::move(read.error()));
    }
  }
  return filter;
}

Result<std::string> answer_log_query(store::RequestLog& log, const LogQuery& query) {
  if (query.path == "/v1/requests") return answer_search(log, query);
  if (query.path == "/v1/usage") return answer_usage(log, query);
  if (query.path == "/v1/stats") return answer_stats(log, query);
  return answer_request(log, query);
}

Result<std::string> resolve_request(store::RequestLog& log, const LogQuery& query,
                                    std::string_view body) {
  const auto key = read_key(query.query);
  if (!key) return tl::unexpected(key.error());
  const auto resolution = read_resolution(body);
  if (!resolution) return tl::unexpected(resolution.error());
  const std::string id = percent_decoded(std::string_view(query.path).substr(kRequestPath.size()));
  const std::optional<std::string>& whose = *key ? *key : query.key;
  const store::RequestName name(id, whose ? std::optional<std::string_view>(*whose) : std::nullopt);
  const auto at = resolution->resolved ? std::optional(query.now_ms) : std::nullopt;
  const auto done = log.resolve(name, at, resolution->note);
  if (!done) return tl::unexpected(done.error());
  if (!*done) return tl::unexpected(no_request(id));
  const auto row = log.get(name);
  if (!row) return tl::unexpected(row.error());
  std::string out;
  json::ObjectWriter object(out);
  if (*row) add_row(object, **row);
  object.close();
  return out;
}

}  // namespace callgate::server
