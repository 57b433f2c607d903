// The configuration: one TOML file, with a default for every key. The tables of keys, with their help, are in
// fields/; docs/config.md is compared with them by a test.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "callgate/policy.h"
#include "callgate/request.h"
#include "callgate/result.h"
#include "dialect/custom/definition.h"

namespace callgate::server {

using Milliseconds = std::chrono::milliseconds;

// A number of bytes, written as 1048576, "64KiB" or "32MiB".
struct Bytes {
  std::uint64_t count = 0;
  bool operator==(const Bytes&) const = default;
};

// A table whose values are whatever a request may hold, as JSON.
struct JsonMembers {
  std::vector<ExtraField> members;
};

// One upstream of a model's pool.
struct PoolPlace {
  std::string upstream;
  std::int64_t priority = 0;  // the lowest is asked first
  std::int64_t weight = 1;    // its share among those of the same priority
  bool operator==(const PoolPlace&) const = default;
};

struct LimitsConfig {
  Bytes memory{0};
  Bytes max_body{32u << 20};
  Bytes max_header_bytes{64u << 10};
  std::int64_t max_headers = 128;
  Milliseconds header_timeout{10'000};
  Milliseconds body_timeout{30'000};
  Bytes min_body_rate{4u << 10};
  std::int64_t max_bodies = 10'000;
  Milliseconds keep_alive_timeout{75'000};
  Milliseconds write_timeout{60'000};
  std::int64_t max_streams = 10'000;
  std::int64_t max_connections = 20'000;
  Bytes max_upstream_frame{8u << 20};
  Bytes max_upstream_body{64u << 20};
  Bytes max_held_back{1u << 20};
  Bytes max_logged_answer{4u << 20};
  Milliseconds drain_timeout{30'000};
  Milliseconds keepalive_comment{15'000};
  std::int64_t wrong_keys_per_minute = 30;
  std::int64_t address_requests_per_minute = 0;
  std::int64_t address_streams = 0;
  std::int64_t conversations = 100'000;
  Milliseconds conversation_ttl{24 * 3'600'000};
  std::int64_t retry_percent = 20;
};

struct LogConfig {
  std::string level = "info";
  std::string format = "text";
};

struct CorsConfig {
  std::vector<std::string> origins;
};

struct StoreConfig {
  std::string url = "sqlite:callgate.db";
  std::string when_down = "open";
  std::string journal = "callgate.journal";
  Bytes journal_bytes{256u << 20};
  std::string overflow = "shed";
  Milliseconds block_for{0};
  Bytes queue_bytes{64u << 20};
  Milliseconds keep{30 * 24 * 3'600'000ll};
  Bytes keep_bytes{0};
  Milliseconds connect_timeout{5'000};
  Milliseconds statement_timeout{10'000};
  std::string synchronous = "normal";
  std::int64_t queue = 10'000;
  bool content = true;
};

struct CaptureConfig {
  std::string dir;
  std::vector<std::string> models;
  Bytes max_bytes{1u << 20};
  std::int64_t max_files = 1000;
  Bytes max_memory{256u << 20};
  std::int64_t recent = 32;
  Bytes recent_bytes{16u << 20};
};

struct OtlpConfig {
  std::string endpoint;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string service_name = "callgate";
  std::string ca_file;
  std::int64_t queue = 2048;
  std::int64_t batch = 512;
  Milliseconds interval{5'000};
  Milliseconds timeout{10'000};
  double sample_ratio = 1;
};

struct TlsConfig {
  std::string cert;
  std::string key;
};

// What the tool loop may do; see docs/loop.md.
struct LoopConfig {
  std::int64_t max_tool_rounds = 10;
  std::int64_t max_calls = 150;
  std::int64_t max_calls_per_tool = 40;
  std::int64_t calls_per_round = 32;
  std::int64_t max_calls_read = 1'000;
  Bytes max_turn_bytes{8u << 20};
  std::int64_t parallel = 8;
  Milliseconds loop_timeout{300'000};
  Milliseconds tool_timeout{30'000};
  Milliseconds approval_timeout{120'000};
  std::string on_limit = "stop";
  std::string on_tool_error = "tell_model";
  bool show_tool_calls = false;
  std::int64_t repeated_calls = 3;
  std::int64_t repeats_to_force = 3;
  std::int64_t repeated_results = 3;
  std::int64_t empty_retries = 1;
  std::int64_t turn_retries = 2;
  Bytes evict_bytes{20'000};
  Bytes evict_preview_bytes{2'000};
  std::int64_t evicted_results = 50;
  Bytes evicted_bytes{8u << 20};
  std::int64_t find_tools_above = 20;
  std::int64_t find_tools_limit = 5;
  Bytes notice_preview_bytes{500};
  bool return_reasoning = true;
  std::string round_separator = "\n\n";
  Bytes state_bytes{256u << 20};
  Milliseconds state_ttl{3'600'000};
  std::string memory = "outside";
  std::int64_t memory_messages = 2'000;
  Bytes memory_bytes{16u << 20};
  Milliseconds memory_ttl{86'400'000};
  Bytes memory_unstored_bytes{256u << 20};
  std::int64_t summary_tokens = 1'500;
  std::vector<std::string> skills;
};

// Rooms over WebSocket, docs/rooms.md.
struct RoomsConfig {
  std::int64_t max_rooms = 10'000;
  std::int64_t max_subscribers = 100;
  Bytes backlog{1u << 20};
  Milliseconds stall_timeout{10'000};
  std::int64_t history_frames = 10'000;
  Bytes history_bytes{1u << 20};
  std::int64_t max_messages = 200;
  Bytes message_history{1u << 20};
  std::int64_t queue = 16;
  Milliseconds idle_timeout{600'000};
  Milliseconds ping_interval{20'000};
  Milliseconds pong_timeout{10'000};
  Bytes max_frame{256u << 10};
  Bytes max_message{1u << 20};
  std::string advertise;
};

// Responses that clients may ask for again, docs/protocols.md.
struct ResponsesConfig {
  Milliseconds keep{30LL * 86'400'000};
  Bytes memory{256u << 20};
};

// A tool that the gateway runs, or an MCP server with many.
struct ToolTable {
  std::string name;
  std::string kind;
  std::string description;
  JsonMembers parameters;
  Milliseconds timeout{30'000};
  Bytes result_bytes{256u << 10};
  bool exclusive = false;
  bool return_direct = false;
  bool approval = false;
  bool pinned = false;
  std::int64_t max_calls = 0;
  std::string on_error;
  bool pass_context = true;
  std::string url;
  std::string method = "POST";
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<std::string> query{"*"};
  std::vector<std::string> body{"*"};
  std::vector<std::string> content_types;
  std::vector<std::string> hosts;
  std::vector<std::string> addresses;
  std::string ca_file;
  std::vector<std::string> command;
  std::string folder;
  std::vector<std::string> pass_environment;
  std::vector<std::pair<std::string, std::string>> environment;
  std::int64_t cpu_seconds = 60;
  Bytes memory_bytes{std::uint64_t{2} << 30};
  std::int64_t open_files = 256;
  Bytes file_bytes{1u << 30};
  Bytes output_bytes{16u << 20};
  Bytes preview_bytes{2048};
  std::string revision = "automatic";
  std::vector<std::string> tools;
  bool qualify = true;
  Milliseconds start_timeout{15'000};
  std::string builtin = "time";
  std::string query_name = "q";
  std::string count_name;
  std::string results = "results";
  std::string result_title = "title";
  std::string result_url = "url";
  std::string result_snippet = "content";
  std::int64_t max_results = 5;
  Bytes reply_bytes{1u << 20};
  bool sandbox = false;
  std::vector<std::string> sandbox_writable;
  bool sandbox_network = false;
  // Not keys: a table that a skill brought, and what the skill says.
  std::string skill;
  std::string instructions;
};

struct HookTable {
  std::string name;
  std::string url;
  std::vector<std::string> when{"before"};
  std::vector<std::string> tools{"*"};
  std::vector<std::string> keys{"*"};
  std::vector<std::string> models{"*"};
  std::vector<std::pair<std::string, std::string>> headers;
  Milliseconds timeout{5'000};
  std::string on_failure = "deny";
  Bytes answer_bytes{1u << 20};
  std::vector<std::string> addresses;
  std::string ca_file;
};

struct KeyConfig {
  std::string name;
  Secret secret;
  std::int64_t requests_per_minute = 0;
  std::int64_t max_streams = 0;
  std::int64_t tokens_per_minute = 0;
  std::int64_t tokens_per_day = 0;
  std::int64_t tokens_per_month = 0;
  double cost_per_day = 0;
  double cost_per_month = 0;
  std::vector<std::string> models{"*"};
  bool admin = false;
  bool log_content = true;
  std::vector<std::string> tools{"*"};
  std::vector<std::string> deny_tools;

  bool operator==(const KeyConfig&) const = default;
  bool has_budget() const {
    return tokens_per_day > 0 || tokens_per_month > 0 || cost_per_day > 0 || cost_per_month > 0;
  }
};

struct PriceConfig {
  std::string model;
  std::string upstream = "*";
  double input = 0;
  double cached = -1;
  double output = 0;
};

// What stands for the credential where it is not known before the call: with `key_command` and `key_file`.
inline constexpr std::string_view kKeyPlaceholder = "{callgate key}";

struct UpstreamConfig {
  std::string name;
  std::string wire = "openai_chat";
  std::string url;
  Secret key;  // kKeyPlaceholder once loaded, with one of the next
  std::vector<std::string> key_command;
  Milliseconds key_command_timeout{10'000};
  std::string key_file;
  std::vector<std::string> login_command;
  std::string auth;
  std::string server;
  Milliseconds connect_timeout{5'000};
  Milliseconds tls_timeout{5'000};
  Milliseconds first_byte_timeout{120'000};
  Milliseconds idle_timeout{120'000};
  Milliseconds finish_grace{1'000};
  Milliseconds total_timeout{0};
  std::int64_t max_idle_connections = 256;
  std::int64_t max_connections = 0;
  std::int64_t max_in_flight = 0;
  std::int64_t queue = 100;
  Milliseconds queue_timeout{10'000};
  std::int64_t requests_per_minute = 0;
  std::int64_t tokens_per_minute = 0;
  std::int64_t eject_after = 3;
  Milliseconds eject_pause{1'000};
  Milliseconds eject_pause_max{4'000};
  Milliseconds slow_first_byte{10'000};
  std::int64_t slow_factor = 3;
  std::string check;
  Milliseconds check_interval{5'000};
  Milliseconds check_timeout{2'000};
  std::vector<std::string> models;
  std::string models_prefix;
  Milliseconds models_refresh{300'000};
  bool passthrough = false;
  std::string ca_file;
  bool tls_verify = true;
  bool stream = true;
  std::string dropped_fields = "warn";
  std::vector<std::string> betas{"*"};
  std::string parent_rule = "response_id";
  std::string conversation_conflict = "wait";
  std::string conversation_fallback = "none";
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> env;
  std::string cwd;
  Milliseconds start_timeout{15'000};
  Milliseconds restart_backoff{250};
  std::int64_t restart_limit = 10;
  Milliseconds call_timeout{600'000};
  std::int64_t max_conversations = 64;
  Milliseconds conversation_timeout{600'000};
  std::string codex_tools = "hidden";
  std::string codex_sandbox = "read-only";

  // A child program, not a server.
  bool is_child() const { return wire.starts_with("codex_") && !is_scripted(); }
  // `callgate login` can do something for it.
  bool has_login() const {
    return is_child() || wire == "qwen_web" || !key_file.empty() || !login_command.empty();
  }
  // The model inside the process, in whatever wire format.
  bool is_scripted() const { return wire == "script" || url.starts_with("script:"); }

  bool operator==(const UpstreamConfig&) const = default;
};

struct ModelConfig {
  std::string name;
  std::vector<std::string> upstream;
  std::vector<PoolPlace> pool;
  std::string balance = "round_robin";
  Milliseconds deadline{600'000};
  std::vector<std::string> aliases;
  bool effort_suffixes = false;
  std::string id;
  std::string tools = "native";
  std::string system = "pass";
  std::string replayed_tools = "pass";
  std::int64_t context_length = 0;
  std::string title_model;
  std::vector<std::string> title_patterns{"*title for this conversation*",
                                          "*title for the conversation*",
                                          "*title for this chat*",
                                          "*generate a*title*",
                                          "*title generator*",
                                          "*summarize this conversation*",
                                          "*summarize the conversation*",
                                          "*summary of this conversation*"};
  std::string upstream_call_ids;
  JsonMembers params;
  std::string dialect;
  std::string commit;
  bool reasoning_open = false;
  std::int64_t retries = 2;
  Milliseconds retry_backoff{250};
  std::string stop_after_tools = "off";
  Milliseconds stop_after_tools_grace{300};
  bool suppress_tail_after_tools = false;
  std::int64_t tool_call_max = 16;
  bool call_whitespace = true;
  bool dedupe_calls = false;
  std::string undeclared_tools = "pass";
  std::string invalid_arguments = "pass";
  std::string reasoning = "reasoning_content";
  Milliseconds reasoning_coalesce{0};
  Bytes reasoning_coalesce_bytes{0};
  std::string call_id_style = "native";
  std::string output = "tool_calls";
  std::vector<std::pair<std::string, std::string>> output_by_client;
  std::string call_delimiter;
  std::string error_after_tools = "report";
  bool estimate_usage = true;
  bool trailing_counters = false;
  std::string split = "none";
  std::int64_t split_min_characters = 10;
  bool log_content = true;
  bool loop = false;
  std::vector<std::string> loop_tools{"*"};
};

struct Config {
  std::vector<std::string> listen{"127.0.0.1:8080"};
  std::int64_t threads = 0;
  bool maintenance = false;
  bool allow_open = false;
  bool require_key = false;
  std::vector<std::string> hosts;
  std::string metrics = "open";
  bool mcp = false;
  bool inspector = true;
  std::vector<std::string> scrub;
  TlsConfig tls;
  LimitsConfig limits;
  LogConfig log;
  CorsConfig cors;
  StoreConfig store;
  CaptureConfig capture;
  OtlpConfig otlp;
  LoopConfig loop;
  RoomsConfig rooms;
  ResponsesConfig responses;
  std::vector<ToolTable> tools;
  std::vector<HookTable> hooks;
  std::vector<KeyConfig> keys;
  std::vector<PriceConfig> prices;
  std::vector<dialect::Definition> dialects;
  std::vector<UpstreamConfig> upstreams;
  std::vector<ModelConfig> models;

  // Nobody is asked for a key.
  bool is_open() const { return keys.empty() && !require_key; }
  const UpstreamConfig* find_upstream(std::string_view name) const;
  const ModelConfig* find_model(std::string_view name) const;
};

struct ConfigSource {
  std::string file;               // empty: defaults alone
  std::vector<std::string> sets;  // `a.b=c` overrides, applied in order
};

// Reads, expands ${ENV}, applies overrides and checks. The error names file, line, key and the nearest valid key.
Result<Config> load_config(const ConfigSource& source);
// The same from text; `name` stands for the file in errors.
Result<Config> parse_config(std::string_view text, std::string_view name,
                            const std::vector<std::string>& sets = {});
// Rules between keys: names unique, references resolved, no open gateway on a non-loopback address.
Result<void> check_config(const Config& config);
// The pool of a model: what `pool` says, or `upstream` as a list in order of priority.
std::vector<PoolPlace> places_of(const ModelConfig& model);
// There is a model, or an upstream that has some.
bool serves_anything(const Config& config);
// What is accepted and no longer has the effect that its name promises, one sentence each.
std::vector<std::string> deprecations(const Config& config);

// The policies of a model's turns.
Result<PolicyOptions> to_policy(const ModelConfig& model);

// The effective configuration as TOML, secrets masked.
std::string print_config(const Config& config);

// A listener address: host:port, [v6]:port, :port or unix:/path.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
  std::string unix_path;
  bool is_loopback() const;
};
Result<ListenAddress> parse_listen(std::string_view text);
// Where other gateways that share the store reach this one, for rooms; empty: rooms are this gateway's own, since there is no
// PostgreSQL, sharing is off, or `listen` does not show the address.
std::string room_address(const Config& config);
// Only this machine can connect.
bool listens_on_loopback_only(const Config& config);

}  // namespace callgate::server
