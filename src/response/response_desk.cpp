#include "response/response_desk.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "client/openai_responses/responses_echo.h"
#include "json/member.h"
#include "net/unix_time.h"
#include "turn/answer_session.h"
#include "turn/loop_run.h"

namespace callgate::server {
namespace {

Error previous_not_found(const std::string& id) {
  return {.code = ErrorCode::invalid_request,
          .message = "Previous response with id '" + id + "' not found.",
          .param = "previous_response_id",
          .upstream_code = "previous_response_not_found"};
}

Error item_not_found(const std::string& id) {
  return {.code = ErrorCode::not_found,
          .message = "Item with id '" + id + "' not found.",
          .param = "input",
          .upstream_code = "item_not_found"};
}

bool has_references(std::string_view items) {
  bool found = false;
  each_item(items, [&](std::string_view item) { found = found || !reference_id(item).empty(); });
  return found;
}

// All items of the response that the item belongs to, by its id.
net::Task<Result<std::string>> items_beside(const Desk& desk, std::string key_name,
                                            std::string item_id) {
  const std::string response = response_of_item(item_id);
  if (response.empty()) co_return std::string();
  const store::ResponseName name{std::move(key_name), response};
  auto loaded = co_await desk.world.responses.load(desk.loop, name);
  if (!loaded) co_return tl::unexpected(loaded.error());
  if (!*loaded) co_return std::string();
  co_return join_items((*loaded)->input, (*loaded)->output);
}

std::string find_item(std::string_view items, const std::string& id) {
  std::string found;
  each_item(items, [&](std::string_view item) {
    if (json::member_text(item, "id") == id) found = item;
  });
  return found;
}

// Other items in place of references to them.
net::Task<Result<std::string>> resolve_items(const Desk& desk, std::string key_name,
                                             std::string items) {
  std::vector<std::string> each;
  each_item(items, [&](std::string_view item) { each.emplace_back(item); });
  std::map<std::string, std::string> known;  // by response
  std::string resolved;
  for (const std::string& item : each) {
    const std::string id = reference_id(item);
    if (id.empty()) {
      resolved = join_items(std::move(resolved), item);
      continue;
    }
    const std::string response = response_of_item(id);
    if (!known.contains(response)) {
      auto beside = co_await items_beside(desk, key_name, id);
      if (!beside) co_return tl::unexpected(beside.error());
      known[response] = std::move(*beside);
    }
    const std::string found = find_item(known[response], id);
    if (found.empty()) {
      Error error = item_not_found(id);
      co_return tl::unexpected(std::move(error));
    }
    resolved = join_items(std::move(resolved), found);
  }
  co_return resolved;
}

// What was said before, from the oldest response on.
net::Task<Result<std::string>> items_before(const Desk& desk, std::string key_name,
                                            std::string previous) {
  const store::ResponseName name{std::move(key_name), previous};
  auto links = co_await desk.world.responses.chain(desk.loop, name);
  if (!links) co_return tl::unexpected(links.error());
  if (links->empty() || !links->front().previous.empty()) {
    Error error = previous_not_found(links->empty() ? previous : links->front().previous);
    co_return tl::unexpected(std::move(error));
  }
  std::string items;
  for (const store::ResponseLink& link : *links) {
    items = join_items(join_items(std::move(items), link.input), link.output);
  }
  co_return items;
}

}  // namespace

net::Task<Result<ExpandedBody>> expand_body(const ResponseDesk& desk, std::string key_name,
                                            std::string_view body, const ResponseFields& fields,
                                            const Remembered& remembered) {
  ExpandedBody made{.body = std::string(body), .before = {}, .items = input_items(fields.input)};
  const bool refers = has_references(made.items);
  if (refers) {
    auto resolved = co_await resolve_items(desk.desk, key_name, made.items);
    if (!resolved) co_return tl::unexpected(resolved.error());
    made.items = std::move(*resolved);
  }
  if (!fields.previous.empty()) {
    const std::string* known = remembered ? remembered(fields.previous) : nullptr;
    if (known != nullptr) {
      made.before = *known;
    } else {
      auto before = co_await items_before(desk.desk, key_name, fields.previous);
      if (!before) co_return tl::unexpected(before.error());
      made.before = std::move(*before);
    }
  }
  const std::string unknown =
      fields.history_elsewhere ? "" : unmatched_output(made.before, made.items);
  if (!unknown.empty()) {
    Error error{
        .code = ErrorCode::invalid_request,
        .message = "No tool call found for function call output with call_id " + unknown + ".",
        .param = "input"};
    co_return tl::unexpected(std::move(error));
  }
  if (refers || !fields.previous.empty()) {
    made.body = with_input(body, join_items(made.before, made.items));
  }
  co_return made;
}

net::Task<> run_response(const Desk& desk, std::unique_ptr<LoopWork> work,
                         const net::Headers& asked, Audience& audience) {
  if (work->choice != nullptr) {
    LoopRun run(desk.turn_host(), std::move(*work), asked, audience, LoopRun::Wants::bytes);
    work.reset();
    co_return co_await run.run();
  }
  co_await run_turn(desk.turn_host(), std::move(work), asked, audience);
}

store::StoredResponse to_stored(const Desk& desk, std::string_view object, std::string previous,
                                std::string_view items) {
  const std::string id = json::member_text(object, "id");
  const std::string prefix = "item_" + id.substr(std::min(id.find('_') + 1, id.size())) + "_i";
  return {.previous = std::move(previous),
          .node = desk.world.responses.node(),
          .status = json::member_text(object, "status"),
          .input = with_item_ids(items, prefix),
          .output = input_items(json::given_member(object, "output")),
          .body = std::string(object),
          .events = {}};
}

net::Task<> save_response(const Desk& desk, store::ResponseName name,
                          store::StoredResponse response) {
  const auto saved =
      co_await desk.world.responses.save(desk.loop, std::move(name), std::move(response));
  if (saved) co_return;
  desk.world.log.repeated(telemetry::LogLevel::warning, "stored response",
                          "a response could not be stored and cannot be retrieved later",
                          {{"why", saved.error().message}});
}

net::Task<Result<std::optional<store::StoredResponse>>> load_response(const Desk& desk,
                                                                      store::ResponseName name) {
  auto loaded = co_await desk.world.responses.load(desk.loop, name);
  if (!loaded || !*loaded || !is_running((*loaded)->status)) co_return loaded;
  if (desk.world.background.find(name)) co_return loaded;
  auto given_up =
      co_await desk.world.responses.give_up(desk.loop, name, abandoned_object((*loaded)->body));
  if (!given_up) co_return tl::unexpected(std::move(given_up.error()));
  if (*given_up) {
    desk.world.log.repeated(telemetry::LogLevel::warning, "abandoned response",
                            "a response in the background ended with the gateway that ran it",
                            {{"id", name.id}, {"node", (*loaded)->node}});
    loaded = co_await desk.world.responses.load(desk.loop, name);
  }
  co_return loaded;
}

std::string bare_response(const TurnJob& job, std::string_view status, std::string_view error) {
  const ResponseIdentity identity{
      .id = job.answer_id, .model = job.request.model, .created = net::unix_ms() / 1000};
  const client::ResponsesEcho echo(job.request, identity);
  std::string object;
  echo.append(object, {.status = status, .error = error.empty() ? "null" : error});
  return object;
}

}  // namespace callgate::server
