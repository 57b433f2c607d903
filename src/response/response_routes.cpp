#include "response/response_routes.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/url_query.h"
#include "client/openai_responses/openai_responses.h"
#include "json/member.h"
#include "json/writer.h"
#include "response/response_create.h"
#include "response/response_events.h"
#include "response/response_socket.h"
#include "turn/event_stream.h"

namespace callgate::server {
namespace {

constexpr std::string_view kResponsePath = "/v1/responses/";
constexpr std::size_t kMostListed = 100;

store::ResponseName name_in(const Ask& ask, std::string_view suffix = {}) {
  std::string_view id = ask.exchange.head().path.substr(kResponsePath.size());
  id.remove_suffix(suffix.size());
  return {key_name_of(ask), percent_decoded(id)};
}

Error response_not_found(const std::string& id) {
  return {.code = ErrorCode::not_found,
          .message = "Response with id '" + id + "' not found.",
          .param = "id",
          .upstream_code = "response_not_found"};
}

Error wrong_parameter(std::string_view name, std::string_view expected) {
  return {.code = ErrorCode::invalid_request,
          .message = std::string(name) + ": expected " + std::string(expected),
          .param = std::string(name)};
}

struct ShowOptions {
  bool stream = false;
  std::int64_t after = -1;
};

Result<ShowOptions> read_show_options(std::string_view query) {
  ShowOptions options;
  for (const UrlParameter& parameter : read_url_query(query)) {
    if (parameter.name == "stream") {
      options.stream = parameter.value == "true";
      if (!options.stream && parameter.value != "false") {
        return tl::unexpected(wrong_parameter("stream", "true or false"));
      }
    }
    if (parameter.name != "starting_after") continue;
    const char* end = parameter.value.data() + parameter.value.size();
    const auto [at, fault] = std::from_chars(parameter.value.data(), end, options.after);
    if (fault != std::errc() || at != end || options.after < 0) {
      return tl::unexpected(wrong_parameter("starting_after", "the number of an event"));
    }
  }
  return options;
}

// The end of a response that failed with its stream lost, or before it had one: its followers get the failure in the place
// of the next event.
std::string lost_end(const store::StoredResponse& response, std::int64_t after) {
  if (response.status != "failed") return {};
  std::string frame = R"(event: response.failed
data: {"type":"response.failed","sequence_number":)";
  json::append_integer(frame, after + 1);
  return frame.append(",\"response\":").append(response.body).append("}\n\n");
}

net::Task<Result<store::StoredResponse>> find_stored(const ResponseDesk& desk,
                                                     const store::ResponseName& name) {
  auto loaded = co_await load_response(desk.desk, name);
  if (!loaded) co_return tl::unexpected(loaded.error());
  if (!*loaded) co_return tl::unexpected(response_not_found(name.id));
  co_return std::move(**loaded);
}

net::Task<> show_response(const ResponseDesk& desk, Ask& ask) {
  const auto options = read_show_options(ask.exchange.head().query);
  if (!options) co_return co_await desk.desk.refuse(ask, options.error());
  const store::ResponseName name = name_in(ask);
  if (const auto running = desk.desk.world.background.find(name)) {
    if (options->stream) {
      (void)co_await ask.exchange.body();  // from here on the client is watched
      co_return co_await follow_response(ask, running, options->after);
    }
    co_return co_await respond_json(ask, 200, running->object());
  }
  const auto found = co_await find_stored(desk, name);
  if (!found) co_return co_await desk.desk.refuse(ask, found.error());
  const store::StoredResponse& response = *found;
  const auto held = reserve_for(desk.desk.world, ask, response.bytes());
  if (!held) co_return co_await desk.desk.refuse(ask, held.error());
  if (!options->stream) co_return co_await respond_json(ask, 200, response.body);
  const bool background = json::given_member(response.body, "background") == "true";
  const bool elsewhere = is_running(response.status);
  if (response.events.empty() && (elsewhere || !background)) {
    const Error error{.code = elsewhere ? ErrorCode::conflict : ErrorCode::invalid_request,
                      .message = elsewhere
                                     ? "this response runs on another gateway, follow it there"
                                     : "stream: only a response with background: true has a stream",
                      .param = "stream"};
    co_return co_await desk.desk.refuse(ask, error);
  }
  add_event_stream_headers(ask.headers, ask.protocol->stream_type);
  const std::string end = response.events.empty() ? lost_end(response, options->after) : "";
  (void)co_await ask.exchange.respond(
      200, ask.headers, end.empty() ? frames_after(response.events, options->after) : end);
}

// Until it has ended and is stored, 10 s at most.
net::Task<> end_running(const ResponseDesk& desk, const std::shared_ptr<RunningResponse>& running) {
  running->cancel();
  auto follower = std::make_shared<RunningResponse::Follower>(desk.desk.loop);
  running->follow(follower);
  for (int i = 0; i < 100 && !running->is_over(); ++i) {
    (void)co_await follower->signal.wait(net::Millis(100));
  }
  running->leave(*follower);
}

net::Task<> delete_response(const ResponseDesk& desk, Ask& ask) {
  const store::ResponseName name = name_in(ask);
  const auto running = desk.desk.world.background.find(name);
  if (running) co_await end_running(desk, running);  // or its end would bring it back
  const auto erased = co_await desk.desk.world.responses.erase(desk.desk.loop, name);
  if (!erased) co_return co_await desk.desk.refuse(ask, erased.error());
  if (!*erased) {
    const Error error = response_not_found(name.id);
    co_return co_await desk.desk.refuse(ask, error);
  }
  std::string body;
  json::ObjectWriter object(body);
  object.string("id", name.id);
  object.string("object", "response");
  object.boolean("deleted", true);
  object.close();
  co_await respond_json(ask, 200, body);
}

net::Task<> cancel_response(const ResponseDesk& desk, Ask& ask) {
  const store::ResponseName name = name_in(ask, "/cancel");
  if (const auto running = desk.desk.world.background.find(name)) {
    co_await end_running(desk, running);
    co_return co_await respond_json(ask, 200, running->object());
  }
  const auto found = co_await find_stored(desk, name);
  if (!found) co_return co_await desk.desk.refuse(ask, found.error());
  const store::StoredResponse& response = *found;
  if (response.status == "cancelled") co_return co_await respond_json(ask, 200, response.body);
  const bool elsewhere = is_running(response.status);
  const Error error{.code = elsewhere ? ErrorCode::conflict : ErrorCode::invalid_request,
                    .message = elsewhere ? "this response runs on another gateway, cancel it there"
                                         : "only a response that runs in the background can be "
                                           "cancelled; this one is over"};
  co_await desk.desk.refuse(ask, error);
}

struct ListOptions {
  std::size_t limit = 20;
  bool ascending = false;
  std::string after;
};

Result<ListOptions> read_list_options(std::string_view query) {
  ListOptions options;
  for (const UrlParameter& parameter : read_url_query(query)) {
    if (parameter.name == "after") options.after = parameter.value;
    if (parameter.name == "order") {
      options.ascending = parameter.value == "asc";
      if (!options.ascending && parameter.value != "desc") {
        return tl::unexpected(wrong_parameter("order", "asc or desc"));
      }
    }
    if (parameter.name != "limit") continue;
    const char* end = parameter.value.data() + parameter.value.size();
    const auto [at, fault] = std::from_chars(parameter.value.data(), end, options.limit);
    const bool good = fault == std::errc() && at == end && options.limit >= 1;
    if (!good || options.limit > kMostListed) {
      return tl::unexpected(wrong_parameter("limit", "a number from 1 to 100"));
    }
  }
  return options;
}

Result<std::string> print_items(std::string_view items, const ListOptions& options) {
  std::vector<std::string> all;
  each_item(items, [&](std::string_view item) { all.emplace_back(item); });
  if (!options.ascending) std::reverse(all.begin(), all.end());
  auto from = all.begin();
  if (!options.after.empty()) {
    from = std::find_if(all.begin(), all.end(), [&](const std::string& item) {
      return json::member_text(item, "id") == options.after;
    });
    if (from == all.end()) return tl::unexpected(wrong_parameter("after", "the id of an item"));
    ++from;
  }
  const auto left = static_cast<std::size_t>(all.end() - from);
  const std::size_t count = std::min(left, options.limit);
  std::string data;
  for (std::size_t i = 0; i < count; ++i)
    data = join_items(std::move(data), from[static_cast<std::ptrdiff_t>(i)]);
  std::string body;
  json::ObjectWriter object(body);
  object.string("object", "list");
  object.raw("data", "[" + data + "]");
  const auto id_of = [&](std::size_t i) {
    const std::string_view id = json::given_member(from[static_cast<std::ptrdiff_t>(i)], "id");
    return std::string(id.empty() ? "null" : id);
  };
  object.raw("first_id", count == 0 ? "null" : id_of(0));
  object.raw("last_id", count == 0 ? "null" : id_of(count - 1));
  object.boolean("has_more", left > count);
  object.close();
  return body;
}

net::Task<> list_input_items(const ResponseDesk& desk, Ask& ask) {
  const auto options = read_list_options(ask.exchange.head().query);
  if (!options) co_return co_await desk.desk.refuse(ask, options.error());
  const store::ResponseName name = name_in(ask, "/input_items");
  const auto found = co_await find_stored(desk, name);
  if (!found) co_return co_await desk.desk.refuse(ask, found.error());
  const auto held = reserve_for(desk.desk.world, ask, found->bytes());
  if (!held) co_return co_await desk.desk.refuse(ask, held.error());
  const auto items = print_items(found->input, *options);
  if (!items) co_return co_await desk.desk.refuse(ask, items.error());
  co_await respond_json(ask, 200, *items);
}

}  // namespace

void add_response_routes(Routes& routes, const Desk& desk, ReadTurn read_turn) {
  auto shared = std::make_shared<ResponseDesk>(ResponseDesk{desk, std::move(read_turn)});
  const auto add = [&](std::string_view method, std::string_view path, Guard guard,
                       net::Task<> (*answer)(const ResponseDesk&, Ask&)) {
    // Paths below that of the protocol's endpoint are its own as well.
    routes.add({method, path, guard, [shared, answer](Ask& ask) {
                  ask.protocol = &client::kOpenaiResponses;
                  return answer(*shared, ask);
                }});
  };
  add("POST", "/v1/responses", Guard::model, create_response);
  add("GET", "/v1/responses", Guard::key, open_response_socket);
  add("POST", "/v1/responses/compact", Guard::model, compact_response);
  add("POST", "/v1/responses/input_tokens", Guard::key, count_input_tokens);
  add("GET", "/v1/responses/*/input_items", Guard::key, list_input_items);
  add("POST", "/v1/responses/*/cancel", Guard::key, cancel_response);
  add("GET", "/v1/responses/*", Guard::key, show_response);
  add("DELETE", "/v1/responses/*", Guard::key, delete_response);
}

}  // namespace callgate::server
