#include "admin/session_query.h"

#include <utility>

#include "admin/log_json.h"
#include "base/url_query.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

using store::Session;
using store::SessionAnswer;

constexpr std::int64_t kMostSessions = 500;

Error wrong(const UrlParameter& parameter, std::string_view expected) {
  return {.code = ErrorCode::invalid_request,
          .message =
              parameter.name + ": \"" + parameter.value + "\", expected " + std::string(expected),
          .param = parameter.name};
}

Result<std::size_t> read_limit(const UrlParameter& parameter) {
  const auto number = to_number(parameter.value);
  if (!number || *number < 1 || *number > kMostSessions) {
    return tl::unexpected(wrong(parameter, "1 to 500"));
  }
  return static_cast<std::size_t>(*number);
}

void append_state(json::ObjectWriter& object, const store::UpstreamState& state) {
  object.string("chat", state.chat);
  object.string("parent", state.answer);
}

void append_answer(std::string& out, const SessionAnswer& answer) {
  json::ObjectWriter object(out);
  object.string("state", store::to_string(answer.state));
  append_state(object, answer.where);
  object.string("identity", answer.identity);
  object.boolean("continued", answer.continued);
  text_or_null(object, "request", answer.request);
  object.string("created_at", print_time(answer.created_at));
  object.close();
}

void append_session(std::string& out, const Session& session,
                    const std::vector<SessionAnswer>* answers) {
  json::ObjectWriter object(out);
  object.string("id", session.id);
  object.string("object", "session");
  text_or_null(object, "key", session.key_name);
  object.string("upstream", session.upstream);
  object.string("model", session.model);
  text_or_null(object, "name", session.name);
  text_or_null(object, "parent", session.parent);
  std::string state;
  json::ObjectWriter state_object(state);
  append_state(state_object, session.state);
  state_object.string("told", session.state.told);
  state_object.close();
  object.raw("state", state);
  object.string("identity", session.identity);
  object.integer("turns", session.turns);
  object.string("created_at", print_time(session.created_at));
  object.string("last_used_at", print_time(session.used_at));
  object.string("expires_at", print_time(session.expires_at));
  object.integer("version", session.version);
  if (answers != nullptr) {
    std::string list = "[";
    for (const SessionAnswer& answer : *answers) {
      if (list.size() > 1) list += ',';
      append_answer(list, answer);
    }
    object.raw("answers", list + "]");
  }
  object.close();
}

}  // namespace

Result<store::SessionFilter> read_session_filter(std::string_view query) {
  store::SessionFilter filter;
  for (const UrlParameter& parameter : read_url_query(query)) {
    const std::pair<std::string_view, std::string*> texts[] = {{"model", &filter.model},
                                                               {"key", &filter.key_name},
                                                               {"upstream", &filter.upstream},
                                                               {"cursor", &filter.cursor}};
    std::string* text = nullptr;
    for (const auto& [known, to] : texts) {
      if (known == parameter.name) text = to;
    }
    if (parameter.name == "limit") {
      const auto limit = read_limit(parameter);
      if (!limit) return tl::unexpected(limit.error());
      filter.limit = *limit;
    } else if (text == nullptr) {
      return fail(ErrorCode::invalid_request,
                  "unknown parameter \"" + parameter.name +
                      "\"; known: model, key, upstream, limit, cursor",
                  parameter.name);
    } else if (parameter.value.empty()) {
      return tl::unexpected(wrong(parameter, "some text"));
    } else {
      *text = parameter.value;
    }
  }
  return filter;
}

std::string print_sessions(const store::SessionPage& page) {
  std::string list = "[";
  for (const Session& session : page.sessions) {
    if (list.size() > 1) list += ',';
    append_session(list, session, nullptr);
  }
  std::string out;
  json::ObjectWriter object(out);
  object.string("object", "list");
  object.raw("data", list + "]");
  object.boolean("has_more", !page.cursor.empty());
  text_or_null(object, "next_cursor", page.cursor);
  object.close();
  return out;
}

std::string print_session(const Session& session, const std::vector<SessionAnswer>& answers) {
  std::string out;
  append_session(out, session, &answers);
  return out;
}

std::string print_deleted_session(std::string_view id) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("id", id);
  object.string("object", "session");
  object.boolean("deleted", true);
  object.close();
  return out;
}

Error no_session(std::string_view id) {
  return {.code = ErrorCode::not_found,
          .message = "there is no session \"" + std::string(id) + "\"",
          .param = "id"};
}

}  // namespace callgate::server
