#include "front/openapi.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "callgate/version.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

struct DescribedRoute {
  std::string_view method;
  std::string_view path;
  std::string_view tag;
  std::string_view summary;
};

constexpr DescribedRoute kDescribed[] = {
    {"POST", "/v1/chat/completions", "OpenAI", "Answer a chat, whole or streamed"},
    {"POST", "/v1/completions", "OpenAI", "Complete a prompt (legacy)"},
    {"POST", "/v1/responses", "OpenAI", "Create a response, whole, streamed or in the background"},
    {"GET", "/v1/responses", "OpenAI", "Create responses over a WebSocket"},
    {"POST", "/v1/responses/compact", "OpenAI", "Compact a conversation"},
    {"POST", "/v1/responses/input_tokens", "OpenAI", "Count the tokens of an input"},
    {"GET", "/v1/responses/*/input_items", "OpenAI", "List the input of a stored response"},
    {"POST", "/v1/responses/*/cancel", "OpenAI", "Cancel a response in the background"},
    {"GET", "/v1/responses/*", "OpenAI", "Show a stored response, or follow it"},
    {"DELETE", "/v1/responses/*", "OpenAI", "Delete a stored response"},
    {"GET", "/v1/models", "OpenAI", "List the models"},
    {"GET", "/v1/models/*", "OpenAI", "Show a model"},
    {"POST", "/v1/messages", "Anthropic", "Answer messages, whole or streamed"},
    {"POST", "/v1/messages/count_tokens", "Anthropic", "Count the tokens of messages"},
    {"POST", "/v1beta/models/*:generateContent", "Gemini", "Generate a whole answer"},
    {"POST", "/v1beta/models/*:streamGenerateContent", "Gemini", "Generate a streamed answer"},
    {"POST", "/v1beta/models/*:countTokens", "Gemini", "Count the tokens of contents"},
    {"GET", "/v1beta/models", "Gemini", "List the models"},
    {"GET", "/v1beta/models/*", "Gemini", "Show a model"},
    {"POST", "/api/chat", "Ollama", "Answer a chat, whole or streamed"},
    {"POST", "/api/generate", "Ollama", "Complete a prompt"},
    {"GET", "/api/tags", "Ollama", "List the models"},
    {"POST", "/api/show", "Ollama", "Show a model"},
    {"GET", "/api/version", "Ollama", "The version that clients of Ollama expect"},
    {"GET", "/api/ps", "Ollama", "List the models that are loaded"},
    {"GET", "/v1/requests", "Log", "Search the request log"},
    {"GET", "/v1/requests/*", "Log", "Show a request; /events and /capture below it show more"},
    {"POST", "/v1/requests/*", "Log", "Mark a request as resolved, with a note"},
    {"GET", "/v1/usage", "Log",
     "Sum up requests, tokens and cost by key, model, upstream, tool or time"},
    {"GET", "/v1/stats", "Log", "Show the state of the store"},
    {"GET", "/v1/upstreams", "Log", "Show the state of the upstreams"},
    {"POST", "/v1/reload", "Log", "Read the configuration again"},
    {"GET", "/v1/sessions", "Sessions", "List conversations that upstreams keep"},
    {"GET", "/v1/sessions/*", "Sessions", "Show such a conversation"},
    {"DELETE", "/v1/sessions/*", "Sessions", "Forget such a conversation"},
    {"GET", "/v1/keys", "Keys", "List the keys"},
    {"POST", "/v1/keys", "Keys", "Make a key; its secret is in the answer, and only there"},
    {"POST", "/v1/keys/*/rotate", "Keys", "Give a key another secret"},
    {"GET", "/v1/keys/*", "Keys", "Show a key"},
    {"DELETE", "/v1/keys/*", "Keys", "Revoke a key"},
    {"GET", "/v1/loops", "Tool loop", "List running tool loops"},
    {"POST", "/v1/loops/*", "Tool loop", "Approve, deny, steer or cancel a running tool loop"},
    {"GET", "/v1/tools", "Tool loop", "List the tools that the gateway runs, and how they are"},
    {"POST", "/v1/tools/*", "Tool loop", "Run a tool, as a test"},
    {"GET", "/v1/conversations", "Tool loop", "List the conversations that the gateway remembers"},
    {"GET", "/v1/conversations/*", "Tool loop",
     "Show what the gateway remembers of a conversation"},
    {"DELETE", "/v1/conversations/*", "Tool loop", "Forget a conversation"},
    {"GET", "/v1/rooms", "Rooms", "List the rooms"},
    {"GET", "/v1/rooms/*", "Rooms", "Join a room over a WebSocket"},
    {"GET", "/v1/relay/rooms", "Rooms", "For other gateways: list the rooms of this one"},
    {"GET", "/v1/relay/rooms/*", "Rooms", "For other gateways: follow a room of this one"},
    {"POST", "/v1/relay/rooms/*", "Rooms",
     "For other gateways: say something in a room of this one"},
    {"POST", "/mcp", "MCP", "Call the gateway's tools as an MCP server"},
    {"GET", "/mcp", "MCP", "Listen to the MCP server"},
    {"DELETE", "/mcp", "MCP", "End an MCP session"},
    {"GET", "/inspector/*", "Inspector", "The inspector's page and its files"},
    {"GET", "/v1/inspector", "Inspector", "What the inspector may show"},
    {"GET", "/v1/config", "Inspector", "Show the configuration in force, secrets masked"},
    {"GET", "/v1/live", "Inspector", "Follow the turns as they run"},
    {"GET", "/v1/live/*", "Inspector", "Follow one turn"},
    {"POST", "/v1/parse", "Inspector", "Parse a text in a dialect"},
    {"POST", "/v1/replay", "Inspector", "Replay a capture"},
    {"GET", "/v1/smoke", "Inspector", "The request of a smoke run"},
    {"POST", "/v1/smoke", "Inspector", "Hold an answer to the rules of its protocol"},
    {"GET", "/livez", "Health", "The process runs"},
    {"GET", "/readyz", "Health", "The gateway takes requests"},
    {"GET", "/healthz", "Health", "The same as /readyz"},
    {"GET", "/metrics", "Health", "Metrics in Prometheus' text format"},
    {"GET", "/openapi.json", "Health", "This description"},
};

const DescribedRoute* describe(const Route& route) {
  const auto same = [&](const DescribedRoute& row) {
    return row.method == route.method && row.path == route.path;
  };
  const auto* found = std::find_if(std::begin(kDescribed), std::end(kDescribed), same);
  return found == std::end(kDescribed) ? nullptr : found;
}

// `/v1/loops/*` is `/v1/loops/{id}` in OpenAPI.
std::string path_template(std::string_view pattern) {
  std::string path(pattern);
  if (const std::size_t star = path.find('*'); star != path.npos) path.replace(star, 1, "{id}");
  return path;
}

// Who may ask, in words; `security` has the rest.
std::string_view who_may(Guard guard) {
  switch (guard) {
    case Guard::open:
      return "Anybody may ask.";
    case Guard::metrics:
      return "Whom the configuration's `metrics` lets in may ask.";
    case Guard::key:
    case Guard::model:
      return "Needs a key, where the gateway has keys.";
    case Guard::admin:
      return "Needs an admin's key, or a gateway that only this machine can reach.";
  }
  return "";
}

void append_operation(json::ObjectWriter& methods, const Route& route) {
  json::ObjectWriter operation(methods.key(to_lower(route.method)));
  if (const DescribedRoute* row = describe(route)) {
    std::string& tags = operation.key("tags");
    tags += '[';
    json::append_string(tags, row->tag);
    tags += ']';
    operation.string("summary", row->summary);
  }
  operation.string("description", who_may(route.guard));
  if (route.path.find('*') != route.path.npos) {
    operation.raw("parameters",
                  R"([{"name":"id","in":"path","required":true,"schema":{"type":"string"}}])");
  }
  if (route.method == "POST") {
    operation.raw("requestBody",
                  R"({"content":{"application/json":{"schema":{"type":"object"}}}})");
  }
  if (route.guard == Guard::open) operation.raw("security", "[]");
  operation.raw(
      "responses",
      R"({"default":{"description":"The answer, or an error in the client's protocol"}})");
  operation.close();
}

// Paths with their routes, in the order of the table. Two protocols may share a path: the first of them describes it.
using RoutesOfPath = std::pair<std::string_view, std::vector<const Route*>>;
std::vector<RoutesOfPath> group_by_path(std::span<const Route> routes) {
  std::vector<RoutesOfPath> paths;
  for (const Route& route : routes) {
    if (route.method == "OPTIONS" || route.path == "/") continue;
    auto at = std::find_if(paths.begin(), paths.end(),
                           [&](const RoutesOfPath& path) { return path.first == route.path; });
    if (at == paths.end()) at = paths.insert(at, {route.path, {}});
    const bool known = std::any_of(at->second.begin(), at->second.end(), [&](const Route* other) {
      return other->method == route.method;
    });
    if (!known) at->second.push_back(&route);
  }
  return paths;
}

constexpr std::string_view kComponents =
    R"({"securitySchemes":{"bearer":{"type":"http","scheme":"bearer"},)"
    R"("header":{"type":"apiKey","in":"header","name":"x-api-key"}}})";

}  // namespace

std::string_view summary_of(const Route& route) {
  const DescribedRoute* row = describe(route);
  return row == nullptr ? std::string_view{} : row->summary;
}

std::string print_openapi(std::span<const Route> routes) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("openapi", "3.1.0");
  json::ObjectWriter info(object.key("info"));
  info.string("title", "Callgate");
  info.string("version", kVersion);
  info.raw("license", R"({"name":"Apache-2.0","identifier":"Apache-2.0"})");
  info.close();
  object.raw("security", R"([{"bearer":[]},{"header":[]}])");
  json::ObjectWriter paths(object.key("paths"));
  for (const RoutesOfPath& path : group_by_path(routes)) {
    json::ObjectWriter methods(paths.key(path_template(path.first)));
    for (const Route* route : path.second) append_operation(methods, *route);
    methods.close();
  }
  paths.close();
  object.raw("components", kComponents);
  object.close();
  return out;
}

}  // namespace callgate::server
