#include "response/response_desk.h"

#include <algorithm>
#include <map>
#include <unordered_map>
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

Error too_long(std::uint64_t most) {
  return {.code = ErrorCode::too_large,
          .message = "input: with what it refers to and goes on from it is longer than " +
                     std::to_string(most) + " bytes (limits.max_body)",
          .param = "input"};
}

// How long what comes together may be, and what of it is held.
struct Size {
  std::uint64_t most;
  Reservation& memory;

  Result<void> grow(std::uint64_t bytes) {
    if (bytes > most) return tl::unexpected(too_long(most));
    if (!memory.grow_to(2 * bytes)) return tl::unexpected(out_of_memory());
    return {};
  }
};

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

// The items of responses, by their ids.
class KnownItems {
 public:
  KnownItems(const Desk& desk, std::string key_name)
      : desk_(desk), key_name_(std::move(key_name)), memory_(&desk.world.memory, MemoryUse::need) {}

  // Empty: there is no such item. Valid as long as this.
  net::Task<Result<std::string_view>> find(std::string id) {
    const std::string response = response_of_item(id);
    if (!known_.contains(response)) {
      auto added = co_await add(response, id);
      if (!added) co_return tl::unexpected(added.error());
    }
    const Items& items = known_[response];
    const auto found = items.find(id);
    co_return found == items.end() ? std::string_view() : std::string_view(found->second);
  }

 private:
  using Items = std::unordered_map<std::string, std::string>;

  net::Task<Result<void>> add(std::string response, std::string id) {
    if (known_.size() >= static_cast<std::size_t>(store::kMaxChain)) {
      Error error{.code = ErrorCode::invalid_request,
                  .message = "input: refers to items of more than " +
                             std::to_string(store::kMaxChain) + " responses",
                  .param = "input"};
      co_return tl::unexpected(std::move(error));
    }
    auto beside = co_await items_beside(desk_, key_name_, std::move(id));
    if (!beside) co_return tl::unexpected(beside.error());
    if (!memory_.grow_to(memory_.bytes() + beside->size())) {
      Error scarce = out_of_memory();
      co_return tl::unexpected(std::move(scarce));
    }
    Items& items = known_[response];
    each_item(*beside, [&](std::string_view item) { items[json::member_text(item, "id")] = item; });
    co_return Result<void>();
  }

  const Desk& desk_;
  const std::string key_name_;
  Reservation memory_;
  std::map<std::string, Items> known_;  // by response
};

// Other items in place of references to them.
net::Task<Result<std::string>> resolve_items(const Desk& desk, std::string key_name,
                                             std::string items, Size& size) {
  std::vector<std::string> each;
  each_item(items, [&](std::string_view item) { each.emplace_back(item); });
  KnownItems known(desk, std::move(key_name));
  std::string resolved;
  for (const std::string& item : each) {
    const std::string id = reference_id(item);
    std::string_view found = item;
    if (!id.empty()) {
      const auto other = co_await known.find(id);
      if (!other) co_return tl::unexpected(other.error());
      found = *other;
    }
    if (found.empty()) {
      Error error = item_not_found(id);
      co_return tl::unexpected(std::move(error));
    }
    if (auto grown = size.grow(resolved.size() + found.size()); !grown) {
      co_return tl::unexpected(std::move(grown.error()));
    }
    resolved = join_items(std::move(resolved), found);
  }
  co_return resolved;
}

// What was said before, from the oldest response on.
net::Task<Result<std::string>> items_before(const Desk& desk, std::string key_name,
                                            std::string previous, std::uint64_t most) {
  const store::ResponseName name{std::move(key_name), previous};
  auto loaded = co_await desk.world.responses.chain(desk.loop, name, most);
  if (!loaded) co_return tl::unexpected(loaded.error());
  if (!*loaded) {
    Error error = too_long(most);
    co_return tl::unexpected(std::move(error));
  }
  const std::vector<store::ResponseLink>& links = **loaded;
  if (links.empty() || !links.front().previous.empty()) {
    Error error = previous_not_found(links.empty() ? previous : links.front().previous);
    co_return tl::unexpected(std::move(error));
  }
  std::string items;
  for (const store::ResponseLink& link : links) {
    items = join_items(join_items(std::move(items), link.input), link.output);
  }
  co_return items;
}

}  // namespace

net::Task<Result<ExpandedBody>> expand_body(const ResponseDesk& desk, std::string key_name,
                                            std::string_view body, const ResponseFields& fields,
                                            const Remembered& remembered) {
  ExpandedBody made{.body = {},
                    .before = {},
                    .items = {},
                    .memory = Reservation(&desk.desk.world.memory, MemoryUse::need)};
  const std::uint64_t most = desk.desk.snapshot->config.limits.max_body.count;
  Size size{.most = most, .memory = made.memory};
  if (auto fits = size.grow(body.size()); !fits) co_return tl::unexpected(std::move(fits.error()));
  made.body = body;
  made.items = input_items(fields.input);
  const bool refers = has_references(made.items);
  if (refers) {
    auto resolved = co_await resolve_items(desk.desk, key_name, made.items, size);
    if (!resolved) co_return tl::unexpected(resolved.error());
    made.items = std::move(*resolved);
  }
  if (!fields.previous.empty()) {
    const std::string* known = remembered ? remembered(fields.previous) : nullptr;
    if (known != nullptr) {
      made.before = *known;
    } else {
      auto before = co_await items_before(desk.desk, key_name, fields.previous, most);
      if (!before) co_return tl::unexpected(before.error());
      made.before = std::move(*before);
    }
    auto fits = size.grow(made.before.size() + made.items.size());
    if (!fits) co_return tl::unexpected(std::move(fits.error()));
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
  co_return std::move(made);
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
  auto held = std::make_shared<Reservation>(&desk.world.memory, MemoryUse::need);
  Result<bool> saved = tl::unexpected(out_of_memory());
  if (held->grow_to(response.bytes())) {
    saved = co_await desk.world.responses.save(desk.loop, std::move(name), std::move(response),
                                               std::move(held));
  }
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
