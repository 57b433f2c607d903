// GET /v1/conversations, GET and DELETE /v1/conversations/{id}: what tool loops remember of a conversation. A key has its own; an admin's key
// names another's in the query.
//
//   GET /v1/conversations/c1?key=dev
//   {"id":"c1","object":"conversation","key":"dev","messages":[{"role":"user","content":"Where is ORD-42?"},...],...}
#include <optional>

#include "admin/admin_routes.h"
#include "admin/log_time.h"
#include "base/url_query.h"
#include "chat/message_json.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

constexpr std::string_view kConversations = "/v1/conversations/";

Result<store::MemoryName> name_of(const Ask& ask) {
  const net::RequestHead& head = ask.exchange.head();
  store::MemoryName name;
  name.conversation = percent_decoded(head.path.substr(kConversations.size()));
  if (ask.key != nullptr) name.key_name = ask.key->config.name;
  for (const UrlParameter& parameter : read_url_query(head.query)) {
    if (parameter.name != "key") {
      return fail(ErrorCode::invalid_request,
                  "unknown parameter \"" + parameter.name + "\"; known: key", parameter.name);
    }
    const bool own = parameter.value == name.key_name;
    if (!own && ask.key != nullptr && !ask.key->config.admin) {
      return fail(ErrorCode::forbidden, "conversations of other keys need a key with admin = true",
                  "key");
    }
    name.key_name = parameter.value;
  }
  return name;
}

Error no_conversation(const store::MemoryName& name) {
  return {.code = ErrorCode::not_found,
          .message = "there is no conversation \"" + name.conversation + "\"",
          .param = "id"};
}

struct ListAsk {
  std::optional<std::string> key;  // nothing: of all
  std::size_t limit = 100;
};

// A key lists its own; on an open gateway, or with an admin's key, all are seen, or those that `key` names.
Result<ListAsk> read_list_ask(const Ask& ask) {
  constexpr std::int64_t kMost = 1'000;
  const bool sees_all = ask.key == nullptr || ask.key->config.admin;
  ListAsk list;
  if (!sees_all) list.key = ask.key->config.name;
  for (const UrlParameter& parameter : read_url_query(ask.exchange.head().query)) {
    if (parameter.name == "limit") {
      const auto number = to_number(parameter.value);
      if (!number || *number < 1 || *number > kMost) {
        return fail(ErrorCode::invalid_request, "limit: expected a number from 1 to 1000", "limit");
      }
      list.limit = static_cast<std::size_t>(*number);
    } else if (parameter.name != "key") {
      return fail(ErrorCode::invalid_request,
                  "unknown parameter \"" + parameter.name + "\"; known: key, limit",
                  parameter.name);
    } else if (sees_all || parameter.value == *list.key) {
      list.key = parameter.value;
    } else {
      return fail(ErrorCode::forbidden, "conversations of other keys need a key with admin = true",
                  "key");
    }
  }
  return list;
}

void append_listed(std::string& out, const store::ListedMemory& memory) {
  json::ObjectWriter object(out);
  object.string("id", memory.name.conversation);
  object.string("object", "conversation");
  memory.name.key_name.empty() ? object.null("key") : object.string("key", memory.name.key_name);
  object.string("created_at", print_time(memory.head.created_at));
  object.string("last_used_at", print_time(memory.head.used_at));
  object.string("expires_at", print_time(memory.head.expires_at));
  object.integer("messages", memory.head.messages);
  object.integer("bytes", memory.head.bytes);
  object.boolean("waits_for_results", !memory.head.pending.empty());
  object.close();
}

net::Task<> list_conversations(Desk& desk, Ask& ask) {
  const auto asked = read_list_ask(ask);
  if (!asked) co_return co_await desk.refuse(ask, asked.error());
  const auto listed = co_await desk.world.memories.list(desk.loop, asked->key, asked->limit);
  if (!listed) co_return co_await desk.refuse(ask, listed.error());
  std::string rows;
  for (const store::ListedMemory& memory : *listed) {
    rows += rows.empty() ? "" : ",";
    append_listed(rows, memory);
  }
  ask.headers.add("cache-control", "no-store");
  const std::string body = R"({"object":"list","data":[)" + rows + "]}";
  co_await respond_json(ask, 200, body);
}

std::string print_conversation(const store::MemoryName& name, const store::Memory& memory) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("id", name.conversation);
  object.string("object", "conversation");
  name.key_name.empty() ? object.null("key") : object.string("key", name.key_name);
  object.string("created_at", print_time(memory.head.created_at));
  object.string("last_used_at", print_time(memory.head.used_at));
  object.string("expires_at", print_time(memory.head.expires_at));
  object.integer("bytes", memory.head.bytes);
  object.boolean("waits_for_results", !memory.head.pending.empty());
  object.raw("prompt", memory.head.prompt.empty() ? "[]" : memory.head.prompt);
  object.raw("messages", join_json(memory.messages));
  object.close();
  return out;
}

net::Task<> show_conversation(Desk& desk, Ask& ask) {
  const auto name = name_of(ask);
  if (!name) co_return co_await desk.refuse(ask, name.error());
  const auto memory = co_await desk.world.memories.load(desk.loop, *name);
  if (!memory) co_return co_await desk.refuse(ask, memory.error());
  if (!*memory) {
    const Error missing = no_conversation(*name);
    co_return co_await desk.refuse(ask, missing);
  }
  ask.headers.add("cache-control", "no-store");
  const std::string body = print_conversation(*name, **memory);
  co_await respond_json(ask, 200, body);
}

net::Task<> delete_conversation(Desk& desk, Ask& ask) {
  const auto name = name_of(ask);
  if (!name) co_return co_await desk.refuse(ask, name.error());
  const auto erased = co_await desk.world.memories.forget(desk.loop, *name);
  if (!erased) co_return co_await desk.refuse(ask, erased.error());
  if (!*erased) {
    const Error missing = no_conversation(*name);
    co_return co_await desk.refuse(ask, missing);
  }
  std::string body;
  json::ObjectWriter object(body);
  object.string("id", name->conversation);
  object.string("object", "conversation");
  object.boolean("deleted", true);
  object.close();
  co_await respond_json(ask, 200, body);
}

}  // namespace

void add_conversation_routes(Routes& routes, Desk& desk) {
  routes.add({"GET", "/v1/conversations", Guard::key,
              [&desk](Ask& ask) { return list_conversations(desk, ask); }});
  routes.add({"GET", "/v1/conversations/*", Guard::key,
              [&desk](Ask& ask) { return show_conversation(desk, ask); }});
  routes.add({"DELETE", "/v1/conversations/*", Guard::key,
              [&desk](Ask& ask) { return delete_conversation(desk, ask); }});
}

}  // namespace callgate::server
