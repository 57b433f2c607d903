// What the owner says about a tool: plain values, already read and with variables filled in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "callgate/request.h"
#include "net/loop.h"
#include "net/process.h"
#include "net/sandbox.h"
#include "tool/tool.h"

namespace callgate::tool {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

// Which servers may be called.
struct NetworkConfig {
  std::vector<std::string> hosts;  // patterns such as `*.example.com`; empty: any
  std::vector<std::string>
      addresses;        // ranges that are not the internet but allowed: `10.1.0.0/16`
  std::string ca_file;  // PEM; empty: the system's certificates

  bool operator==(const NetworkConfig&) const = default;
};

struct HttpToolConfig {
  std::string method = "POST";
  std::string
      url;  // `https://api.example.com/orders/{id}`; arguments may stand anywhere after the scheme
  NamedValues headers;  // sent as they are
  // Arguments in the query. Not given: for GET, HEAD and DELETE all that the URL does not use; else none.
  std::optional<std::vector<std::string>> query;
  // Arguments in the JSON body. Not given: for GET, HEAD and DELETE none; else all.
  std::optional<std::vector<std::string>> body;
  // Content types that are text for a model; patterns. Empty: the usual ones.
  std::vector<std::string> content_types;
  std::size_t preview_bytes = 2048;  // of the body of a failure
  bool pass_context = true;          // as headers `x-callgate-...`
  NetworkConfig network;

  bool operator==(const HttpToolConfig&) const = default;
};

struct CommandToolConfig {
  std::vector<std::string> command;           // a program and its arguments; never a shell
  std::string folder;                         // to run in
  std::vector<std::string> pass_environment;  // names whose values are ours
  NamedValues environment;                    // set as they are
  net::ProcessLimits limits{.cpu_seconds = 60,
                            .memory_bytes = std::uint64_t{2} << 30,
                            .open_files = 256,
                            .file_bytes = std::uint64_t{1} << 30};
  std::uint64_t output_bytes = std::uint64_t{16} << 20;  // it may write; then it is killed
  std::size_t preview_bytes = 2048;                      // of its standard error
  bool pass_context = true;                              // as CALLGATE_... variables
  std::optional<net::SandboxOptions> sandbox;

  bool operator==(const CommandToolConfig&) const = default;
};

// Where the results are in the reply of a search API.
struct SearchReply {
  std::string list = "results";  // names of members with dots between; empty: the reply itself
  std::string title = "title";   // of a result, as the next two
  std::string url = "url";
  std::string snippet = "content";

  bool operator==(const SearchReply&) const = default;
};

struct SearchToolConfig {
  HttpToolConfig http;  // the request, with `query_name` and `count_name` as arguments
  std::string query_name = "q";
  std::string count_name;  // empty: the number is not sent
  SearchReply reply;
  std::size_t max_results = 5;
  std::size_t reply_bytes = std::size_t{1} << 20;  // a longer reply is an error

  bool operator==(const SearchToolConfig&) const = default;
};

struct BuiltinToolConfig {
  std::string builtin;    // `time`, `plan` or `skill`
  std::string text = {};  // of a skill: its instructions

  bool operator==(const BuiltinToolConfig&) const = default;
};

enum class McpRevision : std::uint8_t { automatic, session_2025_11_25, stateless_2026_07_28 };

// A server of which every tool becomes one of ours.
struct McpToolConfig {
  // One of the two: a program that speaks over its standard streams, or a URL.
  std::vector<std::string> command;
  std::string folder;
  std::vector<std::string> pass_environment;
  NamedValues environment;
  net::ProcessLimits limits;
  std::string url;
  NamedValues headers;
  NetworkConfig network;

  McpRevision revision = McpRevision::automatic;
  bool qualify = true;                // its tools are named `server__tool`; else as it names them
  std::vector<std::string> tools;     // patterns of the tools that are taken; empty: all
  net::Millis start_timeout{15'000};  // until it lists its tools
  net::Millis probe_timeout{2'000};   // for an answer to server/discover, over standard streams
  net::Millis backoff{250};           // after a failure, doubled with each
  net::Millis most_backoff{30'000};
  std::size_t message_bytes = std::size_t{8} << 20;  // of one message; more breaks the connection
  std::size_t most_tools = 1000;
  bool pass_context = true;  // in _meta

  bool operator==(const McpToolConfig&) const = default;
};

struct ToolConfig {
  std::string name;         // of the tool, or of the MCP server
  std::string description;  // not for mcp
  RawJson parameters;       // a JSON schema; not for mcp
  ToolLimits limits;
  std::variant<HttpToolConfig, CommandToolConfig, McpToolConfig, BuiltinToolConfig,
               SearchToolConfig>
      how;

  bool operator==(const ToolConfig&) const = default;
};

// Before and after a call a hook is asked, and may change what becomes of it; so it is about prompts and answers. Of the rest it
// is notified, and nothing waits for it.
enum class HookMoment : std::uint8_t {
  before,
  after,
  approval,
  loop_start,
  round,
  loop_end,
  prompt,
  answer
};

// A server of the owner's that is asked before or after calls, and may change what becomes of them.
struct HookConfig {
  std::string name;
  std::string url;
  bool before = true;
  bool after = false;
  std::vector<HookMoment> told;          // approval, loop_start, round, loop_end
  std::vector<HookMoment> judges;        // prompt, answer
  std::vector<std::string> tools{"*"};   // patterns of the tools that it is asked about
  std::vector<std::string> keys{"*"};    // and of the keys
  std::vector<std::string> models{"*"};  // and of the models whose prompts and answers it judges
  NamedValues headers;                   // sent as they are
  net::Millis timeout{5'000};            // of one question; the call's own time counts as well
  bool allow_on_failure = false;         // else a hook that fails denies
  std::size_t answer_bytes = std::size_t{1} << 20;  // a longer answer is a failure
  NetworkConfig network;

  bool operator==(const HookConfig&) const = default;
};

// All that a host runs.
struct ToolSet {
  std::vector<ToolConfig> tools;
  std::vector<HookConfig> hooks;  // asked in this order
};

}  // namespace callgate::tool
