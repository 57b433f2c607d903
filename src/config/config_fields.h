// One row per configuration key: its name, its place in the struct, its help. Loading, printing, `nearest key` and
// the check of docs/config.md all walk these tables.
#pragma once

#include <string_view>
#include <tuple>

#include "config/config.h"

namespace callgate::server {

template <class T, class M>
struct Field {
  std::string_view key;
  M T::*member;
  std::string_view help;
  std::string_view env = {};  // an environment variable that gives the default
};

// clang 14 does not deduce the arguments of aggregates.
template <class T, class M>
Field(std::string_view, M T::*, std::string_view) -> Field<T, M>;
template <class T, class M>
Field(std::string_view, M T::*, std::string_view, std::string_view) -> Field<T, M>;

template <class T>
struct Section;  // name, and fields as a tuple

template <>
struct Section<Config> {
  static constexpr std::string_view name = "";
  static constexpr auto fields = std::tuple{
      Field{"listen", &Config::listen,
            "address to listen on, host:port or unix:/path; a list listens on each"},
      Field{"threads", &Config::threads, "event loops; 0 means one per core"},
      Field{"maintenance", &Config::maintenance,
            "answer model requests with 503 and a retry-after header"},
      Field{"allow_open", &Config::allow_open,
            "allow a gateway without keys on a non-loopback address"},
      Field{"require_key", &Config::require_key,
            "ask for a key although the file has none: those of the store, see keys.md"},
      Field{"hosts", &Config::hosts,
            "without keys: further names, or patterns of names, that the Host header may have; `*` "
            "for any; see security.md"},
      Field{"metrics", &Config::metrics, "open, key or admin: who may read /metrics"},
      Field{"mcp", &Config::mcp, "serve the tools to other MCP clients at /mcp"},
      Field{"inspector", &Config::inspector,
            "serve the inspector at /, for keys with admin = true; see inspector.md"},
      Field{"scrub", &Config::scrub,
            "members of requests, such as user or metadata.user_id, that neither upstreams nor the "
            "request log get"},
  };
};
template <>
struct Section<TlsConfig> {
  static constexpr std::string_view name = "tls";
  static constexpr auto fields = std::tuple{
      Field{"cert", &TlsConfig::cert, "PEM certificate chain; TCP listeners speak TLS when set"},
      Field{"key", &TlsConfig::key, "PEM private key"},
  };
};
template <>
struct Section<LimitsConfig> {
  static constexpr std::string_view name = "limits";
  static constexpr auto fields = std::tuple{
      Field{"memory", &LimitsConfig::memory,
            "what all requests hold together, see security.md; 0 means half of the machine's "
            "memory, or of the control group's"},
      Field{"max_body", &LimitsConfig::max_body, "request body; larger is answered with 413"},
      Field{"max_header_bytes", &LimitsConfig::max_header_bytes,
            "request head; larger is answered with 431"},
      Field{"max_headers", &LimitsConfig::max_headers, "header fields of a request"},
      Field{"header_timeout", &LimitsConfig::header_timeout,
            "from the first byte of a request to the end of its head"},
      Field{"body_timeout", &LimitsConfig::body_timeout,
            "silence within a request body; a body may take so long before min_body_rate counts"},
      Field{"min_body_rate", &LimitsConfig::min_body_rate,
            "bytes per second of a request body, on average; slower is answered with 408; 0 means "
            "no limit"},
      Field{"max_bodies", &LimitsConfig::max_bodies,
            "request bodies on their way at a time; more are answered with 429; 0 means no limit"},
      Field{"keep_alive_timeout", &LimitsConfig::keep_alive_timeout, "idle client connection"},
      Field{"write_timeout", &LimitsConfig::write_timeout,
            "client that takes no byte while something waits to be written"},
      Field{"max_streams", &LimitsConfig::max_streams,
            "model requests at a time; more are answered with 429; 0 means no limit"},
      Field{"max_connections", &LimitsConfig::max_connections, "client connections at a time"},
      Field{"max_upstream_frame", &LimitsConfig::max_upstream_frame,
            "one frame or line of an upstream's answer"},
      Field{"max_upstream_body", &LimitsConfig::max_upstream_body,
            "an upstream's answer that is not streamed"},
      Field{"max_held_back", &LimitsConfig::max_held_back, "bytes of one call that are held back"},
      Field{"max_logged_answer", &LimitsConfig::max_logged_answer,
            "an answer whose content the request log keeps; of a longer one none is kept"},
      Field{"drain_timeout", &LimitsConfig::drain_timeout,
            "how long open streams may go on after SIGTERM"},
      Field{"keepalive_comment", &LimitsConfig::keepalive_comment,
            "silence on a stream before a comment line is sent; 0 means never"},
      Field{"wrong_keys_per_minute", &LimitsConfig::wrong_keys_per_minute,
            "wrong keys of one address, that many at once; more are answered with 429; 0 means no "
            "limit"},
      Field{"address_requests_per_minute", &LimitsConfig::address_requests_per_minute,
            "model requests of one client address, with bursts up to it, with or without a key; 0 "
            "means no limit, see keys.md"},
      Field{"address_streams", &LimitsConfig::address_streams,
            "model requests of one client address at a time, on each node; 0 means no limit"},
      Field{"conversations", &LimitsConfig::conversations,
            "answers that are remembered for upstreams that keep conversations"},
      Field{"conversation_ttl", &LimitsConfig::conversation_ttl,
            "how long such an answer is remembered after its last use"},
      Field{
          "retry_percent", &LimitsConfig::retry_percent,
          "repeated requests to one upstream for every 100 requests, beside one a second; 100 can "
          "be saved up; 0 means no limit"},
  };
};
template <>
struct Section<LogConfig> {
  static constexpr std::string_view name = "log";
  static constexpr auto fields = std::tuple{
      Field{"level", &LogConfig::level, "debug, info, warning, error or off"},
      Field{"format", &LogConfig::format, "text or json"},
  };
};
template <>
struct Section<CorsConfig> {
  static constexpr std::string_view name = "cors";
  static constexpr auto fields = std::tuple{
      Field{"origins", &CorsConfig::origins,
            "origins that browsers may call from, `*` for any; empty means loopback origins on "
            "loopback "
            "listeners and none elsewhere"},
  };
};
template <>
struct Section<StoreConfig> {
  static constexpr std::string_view name = "store";
  static constexpr auto fields = std::tuple{
      Field{"url", &StoreConfig::url,
            "sqlite:PATH, postgresql://USER:PASSWORD@HOST/DATABASE, or none; see store.md"},
      Field{"when_down", &StoreConfig::when_down,
            "open or closed: whether requests are served while the store cannot be written"},
      Field{"journal", &StoreConfig::journal,
            "the file for records while the store cannot be written; empty means none"},
      Field{"journal_bytes", &StoreConfig::journal_bytes,
            "the largest journal; beyond it records wait in memory, then are dropped and counted"},
      Field{"overflow", &StoreConfig::overflow,
            "shed: bodies that come faster than they are written are left out and counted; block "
            "is deprecated and means the same"},
      Field{"block_for", &StoreConfig::block_for,
            "deprecated and without effect: a request never waits for the store"},
      Field{"queue_bytes", &StoreConfig::queue_bytes,
            "bodies that may wait for the writer; more are left out and counted"},
      Field{"keep", &StoreConfig::keep, "how long requests are kept; 0 means forever"},
      Field{"keep_bytes", &StoreConfig::keep_bytes,
            "the largest store, the oldest requests are deleted; 0 means no limit"},
      Field{"connect_timeout", &StoreConfig::connect_timeout, "PostgreSQL: one connection"},
      Field{"statement_timeout", &StoreConfig::statement_timeout, "PostgreSQL: one statement"},
      Field{"synchronous", &StoreConfig::synchronous,
            "normal survives a killed process, full also a power loss"},
      Field{"queue", &StoreConfig::queue,
            "records that may wait for the writer; more are dropped and counted"},
      Field{"content", &StoreConfig::content,
            "the request log keeps requests and answers, see log.md; false: only who, when, how "
            "much"},
  };
};
template <>
struct Section<CaptureConfig> {
  static constexpr std::string_view name = "capture";
  static constexpr auto fields = std::tuple{
      Field{"dir", &CaptureConfig::dir,
            "folder for captures of requests, see capture.md; empty means none are made"},
      Field{"models", &CaptureConfig::models,
            "glob patterns of models whose requests are all captured"},
      Field{"max_bytes", &CaptureConfig::max_bytes,
            "one capture; what comes later is left out and the capture marked as truncated"},
      Field{"max_files", &CaptureConfig::max_files,
            "captures to keep, the oldest are deleted; 0 means no limit"},
      Field{"max_memory", &CaptureConfig::max_memory,
            "all captures that are not written yet; beyond it captures are truncated or dropped"},
      Field{"recent", &CaptureConfig::recent,
            "turns that failed or look suspicious whose captures stay in memory, for `callgate "
            "log capture`; 0 means none"},
      Field{"recent_bytes", &CaptureConfig::recent_bytes, "all of those together"},
  };
};
template <>
struct Section<OtlpConfig> {
  static constexpr std::string_view name = "otlp";
  static constexpr auto fields = std::tuple{
      Field{"endpoint", &OtlpConfig::endpoint,
            "where spans go, such as http://localhost:4318; /v1/traces is added; empty means "
            "nowhere"},
      Field{"headers", &OtlpConfig::headers,
            "request headers for the receiver, a table of name and value"},
      Field{"service_name", &OtlpConfig::service_name, "what the receiver calls this gateway"},
      Field{"ca_file", &OtlpConfig::ca_file,
            "PEM certificates to trust for the receiver instead of the system's"},
      Field{"queue", &OtlpConfig::queue,
            "spans that may wait to be sent; more are dropped and counted"},
      Field{"batch", &OtlpConfig::batch, "spans of one request to the receiver"},
      Field{"interval", &OtlpConfig::interval, "how long a batch that is not full waits"},
      Field{"timeout", &OtlpConfig::timeout, "one request to the receiver"},
      Field{"sample_ratio", &OtlpConfig::sample_ratio,
            "share of traces that are recorded, 0 to 1; a caller's traceparent decides for itself"},
  };
};
template <>
struct Section<RoomsConfig> {
  static constexpr std::string_view name = "rooms";
  static constexpr auto fields = std::tuple{
      Field{"max_rooms", &RoomsConfig::max_rooms,
            "rooms at a time; beyond it the one that has been empty longest goes, else joining is "
            "refused"},
      Field{"max_subscribers", &RoomsConfig::max_subscribers, "connections of one room"},
      Field{"backlog", &RoomsConfig::backlog,
            "frames that may wait for a subscriber; beyond it one that takes none of them for "
            "stall_timeout is dropped, beyond 16 times that any"},
      Field{"stall_timeout", &RoomsConfig::stall_timeout,
            "how long such a subscriber may take nothing"},
      Field{"history_frames", &RoomsConfig::history_frames,
            "frames that a room keeps for subscribers that come back"},
      Field{"history_bytes", &RoomsConfig::history_bytes, "bytes of those"},
      Field{"max_messages", &RoomsConfig::max_messages,
            "messages of the conversation that a room keeps and the model gets"},
      Field{"message_history", &RoomsConfig::message_history, "bytes of those"},
      Field{"queue", &RoomsConfig::queue, "messages that may wait while a turn runs"},
      Field{"idle_timeout", &RoomsConfig::idle_timeout,
            "how long a room without subscribers is kept"},
      Field{"ping_interval", &RoomsConfig::ping_interval,
            "silence of a subscriber before it is pinged; 0 means never"},
      Field{"pong_timeout", &RoomsConfig::pong_timeout,
            "how long it may take to answer; then the connection is closed"},
      Field{"max_frame", &RoomsConfig::max_frame, "one WebSocket frame of a subscriber"},
      Field{"max_message", &RoomsConfig::max_message, "one message of a subscriber"},
      Field{"advertise", &RoomsConfig::advertise,
            "where other gateways on the same PostgreSQL reach this one, such as "
            "`http://10.0.0.11:8080`, so that they share rooms; empty means `listen`, if it is a "
            "plain address of this machine; `off` means that rooms are this gateway's own"},
  };
};
template <>
struct Section<ResponsesConfig> {
  static constexpr std::string_view name = "responses";
  static constexpr auto fields = std::tuple{
      Field{"keep", &ResponsesConfig::keep, "how long a stored response can be asked for"},
      Field{"memory", &ResponsesConfig::memory,
            "without a store: bytes of all stored responses; the oldest go first"},
  };
};
template <>
struct Section<LoopConfig> {
  static constexpr std::string_view name = "loop";
  static constexpr auto fields = std::tuple{
      Field{"max_tool_rounds", &LoopConfig::max_tool_rounds,
            "rounds that run tools; the calls of the turn after the last are not run"},
      Field{"max_calls", &LoopConfig::max_calls, "calls of an answer; 0 means no limit"},
      Field{"max_calls_per_tool", &LoopConfig::max_calls_per_tool,
            "calls of one tool; 0 means no limit"},
      Field{"calls_per_round", &LoopConfig::calls_per_round,
            "calls of one turn of the model; 0 means no limit"},
      Field{"max_calls_read", &LoopConfig::max_calls_read,
            "calls that are read of one turn, those after them are passed over; 0 means no limit"},
      Field{"max_turn_bytes", &LoopConfig::max_turn_bytes,
            "text, reasoning and calls of one turn, a longer one is an error; 0 means no limit"},
      Field{"parallel", &LoopConfig::parallel, "tools of a loop that run at the same time"},
      Field{"loop_timeout", &LoopConfig::loop_timeout, "a whole loop; 0 means no limit"},
      Field{"tool_timeout", &LoopConfig::tool_timeout,
            "one run of a tool; a tool's own timeout may be shorter"},
      Field{"approval_timeout", &LoopConfig::approval_timeout,
            "how long a call waits for a person; then it counts as denied"},
      Field{"on_limit", &LoopConfig::on_limit,
            "stop or tell_model: the loop ends at a limit of calls, or the call gets an error"},
      Field{"on_tool_error", &LoopConfig::on_tool_error,
            "tell_model or stop: the error of a tool is its result, or ends the loop"},
      Field{"show_tool_calls", &LoopConfig::show_tool_calls,
            "clients see calls and results of tools that the gateway runs"},
      Field{"repeated_calls", &LoopConfig::repeated_calls,
            "from the Nth identical call on, the model gets advice instead of a run; 0 means off"},
      Field{"repeats_to_force", &LoopConfig::repeats_to_force,
            "after this many more such calls the model must answer without tools"},
      Field{"repeated_results", &LoopConfig::repeated_results,
            "from the Nth identical result on, the result says so; 0 means off"},
      Field{"empty_retries", &LoopConfig::empty_retries,
            "how often an empty answer is asked for again"},
      Field{"turn_retries", &LoopConfig::turn_retries,
            "further tries of a turn that broke off before anything of it was sent"},
      Field{"evict_bytes", &LoopConfig::evict_bytes,
            "longer results are kept aside and shown in part; 0 means off"},
      Field{"evict_preview_bytes", &LoopConfig::evict_preview_bytes,
            "how much of such a result the model sees, half from its head, half from its tail"},
      Field{"evicted_results", &LoopConfig::evicted_results, "such results that a loop keeps"},
      Field{"evicted_bytes", &LoopConfig::evicted_bytes, "all of them together"},
      Field{"find_tools_above", &LoopConfig::find_tools_above,
            "more tools than this are hidden behind find_tools; 0 means never"},
      Field{"find_tools_limit", &LoopConfig::find_tools_limit, "tools that one search shows"},
      Field{"notice_preview_bytes", &LoopConfig::notice_preview_bytes,
            "of arguments and results that clients see"},
      Field{"return_reasoning", &LoopConfig::return_reasoning,
            "the model gets its reasoning back with its calls"},
      Field{"round_separator", &LoopConfig::round_separator,
            "put between the texts of two rounds where no white space stands"},
      Field{"state_bytes", &LoopConfig::state_bytes,
            "all loops that are kept while their clients run tools of their own"},
      Field{"state_ttl", &LoopConfig::state_ttl, "how long such a loop is kept"},
      Field{"memory", &LoopConfig::memory,
            "outside, inside or none: what is remembered of a request that names its conversation"},
      Field{"memory_messages", &LoopConfig::memory_messages,
            "messages of a conversation; 0 means no limit"},
      Field{"memory_bytes", &LoopConfig::memory_bytes,
            "all messages of a conversation; 0 means no limit"},
      Field{"memory_ttl", &LoopConfig::memory_ttl,
            "how long a conversation is remembered after its last use"},
      Field{
          "memory_unstored_bytes", &LoopConfig::memory_unstored_bytes,
          "without a store: all conversations; what was not used for the longest time goes first"},
      Field{"summary_tokens", &LoopConfig::summary_tokens,
            "of the summary that the model is asked for when its context is full and leaving out "
            "old results is not enough; 0: rounds are left out without one"},
      Field{"skills", &LoopConfig::skills, "folders with skills, see tools.md"},
  };
};
template <>
struct Section<dialect::Definition> {
  using Definition = dialect::Definition;
  static constexpr std::string_view name = "dialect";
  static constexpr auto fields = std::tuple{
      Field{"name", &Definition::name, "name of the dialect, which no built-in one has"},
      Field{"description", &Definition::description, "one line for people; empty means `call`"},
      Field{"models", &Definition::models,
            "patterns of names of models that write it; before those of built-in dialects"},
      Field{"call", &Definition::call,
            "a call as the model writes it, with {json}, {python}, {name} and {arguments}, or "
            "{name} and {parameters}; a list of ways for the first two"},
      Field{"parameter", &Definition::parameter,
            "with {parameters}: one of them, with {key} and {value}"},
      Field{"section", &Definition::section, "what stands around all calls, with {calls}"},
      Field{"reasoning", &Definition::reasoning, "what stands around reasoning, with {text}"},
      Field{"end", &Definition::end, "tokens at the end of a turn"},
      Field{"special_tokens", &Definition::special_tokens,
            "the markers of calls are special tokens of the model, which text never has"},
      Field{"name_member", &Definition::name_member,
            "with {json}: members with the tool's name; empty means the usual ones"},
      Field{"arguments_member", &Definition::arguments_member,
            "with {json}: members with the arguments; empty means the usual ones"},
      Field{"id_member", &Definition::id_member, "with {json}: members with the call's id"},
      Field{"untyped", &Definition::untyped,
            "with {parameters}: text or json, what a value is that the schema says nothing of"},
      Field{"trim_newline", &Definition::trim_newline,
            "with {parameters}: one line end at each end of a value is not part of it"},
      Field{"raw", &Definition::raw,
            "with {parameters}: what may stand around a value with markers in it, with {value}"},
      Field{"commit", &Definition::commit, "eager or whole_call, where the model does not say it"},
      Field{"golden", &Definition::golden,
            "cases that `config check` runs at every cut: a file, or their text"},
  };
};
template <>
struct Section<ToolTable> {
  static constexpr std::string_view name = "tool";
  static constexpr auto fields = std::tuple{
      Field{"name", &ToolTable::name, "name of the tool, or of the MCP server"},
      Field{"kind", &ToolTable::kind, "http, command, mcp, web_search or builtin"},
      Field{"description", &ToolTable::description, "what models are told; not for mcp"},
      Field{"parameters", &ToolTable::parameters,
            "JSON schema of the arguments, a table or a string; not for mcp"},
      Field{"timeout", &ToolTable::timeout, "the longest that a run may take"},
      Field{"result_bytes", &ToolTable::result_bytes, "a longer result is cut"},
      Field{"exclusive", &ToolTable::exclusive, "nothing else of a loop runs while it does"},
      Field{"return_direct", &ToolTable::return_direct, "its result is the answer"},
      Field{"approval", &ToolTable::approval, "a person must agree to every call"},
      Field{"pinned", &ToolTable::pinned, "shown even where find_tools hides others"},
      Field{"max_calls", &ToolTable::max_calls,
            "calls of this tool per answer; 0 means loop.max_calls_per_tool"},
      Field{"on_error", &ToolTable::on_error, "tell_model or stop; empty means loop.on_tool_error"},
      Field{"pass_context", &ToolTable::pass_context,
            "it is told request, key, model and session; models never are"},
      Field{"url", &ToolTable::url,
            "http, web_search: URL with {arguments}; mcp: a server that speaks Streamable HTTP"},
      Field{"method", &ToolTable::method, "http, web_search: the method"},
      Field{"headers", &ToolTable::headers,
            "http, web_search, mcp: request headers, a table of name and value"},
      Field{"query", &ToolTable::query,
            "http: arguments in the query; * means all that the URL lacks for GET, HEAD and "
            "DELETE, else none"},
      Field{"body", &ToolTable::body,
            "http: arguments in the JSON body; * means none for GET, HEAD and DELETE, else all"},
      Field{"content_types", &ToolTable::content_types,
            "http: patterns of answers that are text; empty means the usual ones"},
      Field{"hosts", &ToolTable::hosts,
            "http, web_search, mcp: patterns of servers that may be called; empty means any"},
      Field{"addresses", &ToolTable::addresses,
            "http, web_search, mcp: private ranges that are allowed, such as 10.1.0.0/16"},
      Field{"ca_file", &ToolTable::ca_file,
            "http, web_search, mcp: PEM certificates to trust instead of the system's"},
      Field{"command", &ToolTable::command, "command, mcp: a program and its arguments"},
      Field{"folder", &ToolTable::folder, "command, mcp: folder that it runs in"},
      Field{"pass_environment", &ToolTable::pass_environment,
            "command, mcp: variables of the gateway that it gets"},
      Field{"environment", &ToolTable::environment, "command, mcp: variables that are set"},
      Field{"cpu_seconds", &ToolTable::cpu_seconds, "command: then it is killed; 0: no limit"},
      Field{"memory_bytes", &ToolTable::memory_bytes, "command: address space; 0: no limit"},
      Field{"open_files", &ToolTable::open_files, "command: open files; 0: no limit"},
      Field{"file_bytes", &ToolTable::file_bytes,
            "command: the largest file that it may write; 0: no limit"},
      Field{"output_bytes", &ToolTable::output_bytes,
            "command: it may write so much, then it is killed"},
      Field{"preview_bytes", &ToolTable::preview_bytes,
            "http, web_search, command: of a failure's text"},
      Field{"revision", &ToolTable::revision, "mcp: automatic, 2025-11-25 or 2026-07-28"},
      Field{"tools", &ToolTable::tools, "mcp: patterns of its tools that are taken; empty: all"},
      Field{"qualify", &ToolTable::qualify,
            "mcp: its tools are named server__tool; false: as the server names them"},
      Field{"start_timeout", &ToolTable::start_timeout, "mcp: until it lists its tools"},
      Field{"builtin", &ToolTable::builtin, "builtin: which one; time or plan"},
      Field{"query_name", &ToolTable::query_name,
            "web_search: what the search API calls the words to search for"},
      Field{"count_name", &ToolTable::count_name,
            "web_search: what it calls the number of results; empty: it is not told"},
      Field{"results", &ToolTable::results,
            "web_search: where the list of results is in the reply, such as web.results; empty: "
            "the reply is the list"},
      Field{"result_title", &ToolTable::result_title,
            "web_search: a result's member with its title"},
      Field{"result_url", &ToolTable::result_url, "web_search: its member with the address"},
      Field{"result_snippet", &ToolTable::result_snippet,
            "web_search: its member with what the page says"},
      Field{"max_results", &ToolTable::max_results, "web_search: results of one call, 1 to 50"},
      Field{"reply_bytes", &ToolTable::reply_bytes, "web_search: a longer reply is an error"},
      Field{"sandbox", &ToolTable::sandbox,
            "command: the program sees a read-only system, a /tmp of its own, no other processes "
            "and no network"},
      Field{"sandbox_writable", &ToolTable::sandbox_writable,
            "command: folders that it may write to all the same"},
      Field{"sandbox_network", &ToolTable::sandbox_network, "command: it may use the network"},
  };
};
template <>
struct Section<HookTable> {
  static constexpr std::string_view name = "hook";
  static constexpr auto fields = std::tuple{
      Field{"name", &HookTable::name, "name in logs and metrics"},
      Field{"url", &HookTable::url, "where the question is sent"},
      Field{"when", &HookTable::when,
            "a list: before or after a call it is asked, and about each prompt or answer; "
            "approval, loop_start, round, loop_end: it is told"},
      Field{"tools", &HookTable::tools, "glob patterns of tools that it is asked about"},
      Field{"keys", &HookTable::keys, "glob patterns of keys that it is asked about"},
      Field{"models", &HookTable::models,
            "glob patterns of models whose prompts and answers it judges"},
      Field{"headers", &HookTable::headers, "request headers, a table of name and value"},
      Field{"timeout", &HookTable::timeout, "for its answer; the call's own time counts, too"},
      Field{
          "on_failure", &HookTable::on_failure,
          "deny or allow: what becomes of a call, a prompt or an answer when the hook fails or its "
          "answer is invalid"},
      Field{"answer_bytes", &HookTable::answer_bytes, "a longer answer is a failure"},
      Field{"addresses", &HookTable::addresses,
            "private ranges that are allowed, such as 10.1.0.0/16"},
      Field{"ca_file", &HookTable::ca_file, "PEM certificates to trust instead of the system's"},
  };
};
template <>
struct Section<KeyConfig> {
  static constexpr std::string_view name = "key";
  static constexpr auto fields = std::tuple{
      Field{"name", &KeyConfig::name, "name of the key in logs and metrics"},
      Field{"secret", &KeyConfig::secret, "what the client sends as bearer token or x-api-key"},
      Field{"requests_per_minute", &KeyConfig::requests_per_minute,
            "rate limit with bursts up to it; 0 means no limit"},
      Field{"max_streams", &KeyConfig::max_streams,
            "model requests of this key at a time; 0 means no limit"},
      Field{"tokens_per_minute", &KeyConfig::tokens_per_minute,
            "tokens of this key's requests and answers, with bursts up to it; 0 means no limit, "
            "see keys.md"},
      Field{"tokens_per_day", &KeyConfig::tokens_per_day,
            "budget of tokens in a day of UTC; 0 means none, see keys.md"},
      Field{"tokens_per_month", &KeyConfig::tokens_per_month,
            "budget of tokens in a month of UTC; 0 means none"},
      Field{"cost_per_day", &KeyConfig::cost_per_day,
            "budget of money in a day of UTC, in the currency of [[price]]; 0 means none"},
      Field{"cost_per_month", &KeyConfig::cost_per_month,
            "budget of money in a month of UTC; 0 means none"},
      Field{"models", &KeyConfig::models, "glob patterns of models that this key may use"},
      Field{"admin", &KeyConfig::admin,
            "may read the request log, see log.md, and capture requests with the header "
            "x-callgate-capture, see capture.md"},
      Field{"log_content", &KeyConfig::log_content,
            "false: the request log keeps no content of this key's requests"},
      Field{"tools", &KeyConfig::tools, "glob patterns of tools that loops of this key may use"},
      Field{"deny_tools", &KeyConfig::deny_tools, "glob patterns of tools that they may not"},
  };
};
template <>
struct Section<PriceConfig> {
  static constexpr std::string_view name = "price";
  static constexpr auto fields = std::tuple{
      Field{"model", &PriceConfig::model,
            "glob pattern of the models that it is for; the first price that fits is taken"},
      Field{"upstream", &PriceConfig::upstream, "glob pattern of the upstreams that it is for"},
      Field{"input", &PriceConfig::input, "of a million prompt tokens, in any one currency"},
      Field{"cached", &PriceConfig::cached,
            "of a million prompt tokens that were cached; less than 0 means the same as input"},
      Field{"output", &PriceConfig::output, "of a million completion tokens"},
  };
};
template <>
struct Section<UpstreamConfig> {
  static constexpr std::string_view name = "upstream";
  static constexpr auto fields = std::tuple{
      Field{"name", &UpstreamConfig::name, "name that models refer to"},
      Field{"wire", &UpstreamConfig::wire,
            "wire format of the upstream; script is openai_chat from the built-in model"},
      Field{"url", &UpstreamConfig::url,
            "base URL, such as https://host/v1; script: or script:FILE for the built-in model in "
            "this "
            "wire format"},
      Field{"key", &UpstreamConfig::key, "credential sent to the upstream"},
      Field{"key_command", &UpstreamConfig::key_command,
            "a program and its arguments that print the credential, and perhaps when it expires"},
      Field{"key_command_timeout", &UpstreamConfig::key_command_timeout,
            "for one run of key_command"},
      Field{"key_file", &UpstreamConfig::key_file,
            "a file with the credential; it is read again when it changes"},
      Field{"login_command", &UpstreamConfig::login_command,
            "a program and its arguments that `callgate login` runs; it prints the credential for "
            "key_file. For codex_* its output is shown; empty means the program of command, with "
            "login"},
      Field{"auth", &UpstreamConfig::auth,
            "bearer or x-api-key: how the key is sent; empty means the wire format's own way"},
      Field{"server", &UpstreamConfig::server,
            "vllm, sglang, llama_cpp, ollama or lm_studio: what kind of server it is, for models "
            "with tools = \"text\", see recipes.md; empty means vllm"},
      Field{"connect_timeout", &UpstreamConfig::connect_timeout, "name lookup and TCP connect"},
      Field{"tls_timeout", &UpstreamConfig::tls_timeout, "TLS handshake"},
      Field{"first_byte_timeout", &UpstreamConfig::first_byte_timeout,
            "from the request sent to the first byte of the answer"},
      Field{"idle_timeout", &UpstreamConfig::idle_timeout,
            "silence within an answer; comments, pings and blank lines are silence"},
      Field{"finish_grace", &UpstreamConfig::finish_grace,
            "silence after the finish reason, when the upstream does not end its answer"},
      Field{"total_timeout", &UpstreamConfig::total_timeout, "a whole answer; 0 means no limit"},
      Field{"max_idle_connections", &UpstreamConfig::max_idle_connections,
            "kept-alive connections per event loop"},
      Field{"max_connections", &UpstreamConfig::max_connections,
            "open connections per event loop, idle ones included; 0 means no limit"},
      Field{"max_in_flight", &UpstreamConfig::max_in_flight,
            "requests at a time, over all event loops; 0 means no limit"},
      Field{"queue", &UpstreamConfig::queue,
            "requests that may wait for max_in_flight; more are answered with 429"},
      Field{"queue_timeout", &UpstreamConfig::queue_timeout,
            "how long a request waits there; then it is answered with 429"},
      Field{"requests_per_minute", &UpstreamConfig::requests_per_minute,
            "requests that it gets, with bursts up to that number; 0 means no limit"},
      Field{
          "tokens_per_minute", &UpstreamConfig::tokens_per_minute,
          "tokens of requests and answers, estimated first and corrected by the usage; 0 means no "
          "limit"},
      Field{"eject_after", &UpstreamConfig::eject_after,
            "failures in a row after which it is left out of pools; a timeout counts as all of "
            "them; 0 means never"},
      Field{"eject_pause", &UpstreamConfig::eject_pause,
            "how long it is left out before it is tried again; doubled each time, with jitter"},
      Field{"eject_pause_max", &UpstreamConfig::eject_pause_max, "the longest such pause"},
      Field{"slow_first_byte", &UpstreamConfig::slow_first_byte,
            "silence on a stream after which new requests go to other upstreams; 0 means never"},
      Field{
          "slow_factor", &UpstreamConfig::slow_factor,
          "it is left out while its answers begin this many times later than those of the fastest "
          "upstream of the same priority; 0 means never"},
      Field{"check", &UpstreamConfig::check,
            "path below the URL that is asked regularly whether the upstream is well, such as "
            "/models; empty means it is not"},
      Field{"check_interval", &UpstreamConfig::check_interval, "time between two checks"},
      Field{"check_timeout", &UpstreamConfig::check_timeout, "for the answer to one"},
      Field{"models", &UpstreamConfig::models,
            "glob patterns of its models that are served without a [[model]] of their own; `*` for "
            "all"},
      Field{"models_prefix", &UpstreamConfig::models_prefix,
            "what stands before the names of those models for clients, such as local/"},
      Field{"models_refresh", &UpstreamConfig::models_refresh,
            "how often its list of models is read again"},
      Field{"passthrough", &UpstreamConfig::passthrough,
            "relay other /v1 endpoints, such as /v1/embeddings, to it unread, see upstreams.md"},
      Field{"ca_file", &UpstreamConfig::ca_file,
            "PEM certificates to trust instead of the system's"},
      Field{"tls_verify", &UpstreamConfig::tls_verify, "check the upstream's certificate"},
      Field{"stream", &UpstreamConfig::stream,
            "false: the upstream cannot stream; a client that wants a stream gets the whole answer "
            "as one"},
      Field{"dropped_fields", &UpstreamConfig::dropped_fields,
            "warn or refuse: what to do when the wire format cannot carry a field that matters"},
      Field{"betas", &UpstreamConfig::betas,
            "anthropic_messages: glob patterns of the betas of a client that are passed on"},
      Field{"parent_rule", &UpstreamConfig::parent_rule,
            "qwen_web: response_id or created_parent: what a message names as its parent"},
      Field{"conversation_conflict", &UpstreamConfig::conversation_conflict,
            "qwen_web: wait or refuse: a request while another one of its conversation runs"},
      Field{"conversation_fallback", &UpstreamConfig::conversation_fallback,
            "qwen_web: none or opening: whether a conversation that is not known is found by its "
            "first question and first answer, for clients that leave out old messages"},
      Field{"headers", &UpstreamConfig::headers,
            "extra request headers, a table of name and value"},
      Field{"command", &UpstreamConfig::command,
            "codex_*: the program to run and its arguments, such as [\"codex\", \"app-server\"]"},
      Field{"env", &UpstreamConfig::env,
            "codex_*: environment of the program, beside PATH, HOME, language and the like"},
      Field{"cwd", &UpstreamConfig::cwd, "codex_*: folder that the program runs and works in"},
      Field{"start_timeout", &UpstreamConfig::start_timeout,
            "codex_*: from the start of the program to its handshake, and for each of its answers"},
      Field{"restart_backoff", &UpstreamConfig::restart_backoff,
            "codex_*: first pause before the program is started again; doubled each time"},
      Field{"restart_limit", &UpstreamConfig::restart_limit,
            "codex_*: failures in a row after which the program is left alone for a minute"},
      Field{"call_timeout", &UpstreamConfig::call_timeout,
            "codex_app_server: how long a call waits for the client's next request"},
      Field{"max_conversations", &UpstreamConfig::max_conversations,
            "codex_*: conversations kept at a time; the oldest that is idle goes first"},
      Field{"conversation_timeout", &UpstreamConfig::conversation_timeout,
            "codex_*: how long an idle conversation is kept"},
      Field{"codex_tools", &UpstreamConfig::codex_tools,
            "hidden, text or annotations: what clients see of tools that codex runs itself"},
      Field{"codex_sandbox", &UpstreamConfig::codex_sandbox,
            "read-only, workspace-write or danger-full-access: what those tools may do"},
  };
};
template <>
struct Section<ModelConfig> {
  static constexpr std::string_view name = "model";
  static constexpr auto fields = std::tuple{
      Field{"name", &ModelConfig::name, "what clients ask for"},
      Field{"upstream", &ModelConfig::upstream,
            "upstream name, or a list in order of priority: the next one is asked when the ones "
            "before it fail"},
      Field{"pool", &ModelConfig::pool,
            "instead of upstream: tables with upstream, priority and weight, see upstreams.md"},
      Field{"balance", &ModelConfig::balance,
            "round_robin, least_in_flight, fastest, session, key or prefix: how upstreams of one "
            "priority share requests"},
      Field{"deadline", &ModelConfig::deadline,
            "all tries and pauses until an answer begins to leave; 0 means no limit"},
      Field{"aliases", &ModelConfig::aliases, "other names that clients may ask for"},
      Field{"effort_suffixes", &ModelConfig::effort_suffixes,
            "serve NAME-none, NAME-low, NAME-medium and NAME-high as the model with that reasoning "
            "effort"},
      Field{"id", &ModelConfig::id, "what the upstream calls it; empty means the same name"},
      Field{"tools", &ModelConfig::tools,
            "native, text or prompt: tools go to the upstream as such; as such, but calls stay in "
            "the text for the dialect to read, see recipes.md; or are written into the system "
            "prompt in the model's dialect"},
      Field{"system", &ModelConfig::system,
            "pass, drop or first: which system prompts of the client reach the upstream"},
      Field{"replayed_tools", &ModelConfig::replayed_tools,
            "pass, strip or reject: calls and results of tools that the client sends back as text"},
      Field{"context_length", &ModelConfig::context_length,
            "tokens that the model takes; longer requests, by an estimate, are answered with 400; "
            "0 means that it is not known"},
      Field{"title_model", &ModelConfig::title_model,
            "model that gets requests for titles and summaries instead; empty means none"},
      Field{"title_patterns", &ModelConfig::title_patterns,
            "glob patterns of system prompts and last messages that ask for one, any case"},
      Field{"upstream_call_ids", &ModelConfig::upstream_call_ids,
            "any, kimi or mistral: the form of call ids that the upstream takes; empty means by "
            "dialect"},
      Field{"params", &ModelConfig::params,
            "request fields that replace what the client said, such as { temperature = 0.6 }"},
      Field{
          "dialect", &ModelConfig::dialect,
          "native, auto or a name from `callgate dialects`; empty means by model name, else auto"},
      Field{"commit", &ModelConfig::commit,
            "eager or whole_call: when a call's events leave; empty means the dialect's default"},
      Field{"reasoning_open", &ModelConfig::reasoning_open,
            "the prompt template already opens reasoning"},
      Field{
          "retries", &ModelConfig::retries,
          "repeated tries, after each upstream of the pool was asked once, while nothing has been "
          "sent to the client"},
      Field{"retry_backoff", &ModelConfig::retry_backoff,
            "first pause between tries; doubled each time, with jitter"},
      Field{"stop_after_tools", &ModelConfig::stop_after_tools,
            "off, first or burst: whether a turn is cut after its calls", "PROXY_STOP_AFTER_TOOLS"},
      Field{"stop_after_tools_grace", &ModelConfig::stop_after_tools_grace,
            "burst: how long to wait for another call after a finished one",
            "PROXY_STOP_AFTER_TOOLS_GRACE_MS"},
      Field{"suppress_tail_after_tools", &ModelConfig::suppress_tail_after_tools,
            "withhold text after the last call", "PROXY_SUPPRESS_TAIL_AFTER_TOOLS"},
      Field{"tool_call_max", &ModelConfig::tool_call_max,
            "calls of a turn that pass, the rest is withheld; 0 means no limit",
            "PROXY_TOOL_BLOCK_MAX"},
      Field{"call_whitespace", &ModelConfig::call_whitespace,
            "send no white space that stands directly before a call in the text"},
      Field{"dedupe_calls", &ModelConfig::dedupe_calls,
            "send calls with the same name and arguments once", "PROXY_TOOL_BLOCK_DEDUP"},
      Field{"undeclared_tools", &ModelConfig::undeclared_tools,
            "pass, text or drop_with_note: calls of tools that the request does not declare"},
      Field{"invalid_arguments", &ModelConfig::invalid_arguments,
            "pass, repair or raw: arguments that are not a whole JSON value"},
      Field{"reasoning", &ModelConfig::reasoning,
            "reasoning_content, reasoning, think_tags or hide: where clients find reasoning"},
      Field{"reasoning_coalesce", &ModelConfig::reasoning_coalesce,
            "how long streamed reasoning may wait to leave in larger pieces; 0 means off"},
      Field{"reasoning_coalesce_bytes", &ModelConfig::reasoning_coalesce_bytes,
            "reasoning leaves in pieces of this size; 0 means as it comes, or 64KiB where "
            "reasoning_coalesce is set"},
      Field{"call_id_style", &ModelConfig::call_id_style,
            "native or random: ids of calls as the upstream gave them, or call_ and random "
            "characters"},
      Field{"output", &ModelConfig::output,
            "tool_calls, json (no text after calls), xml (calls also as <use_tool> text) or "
            "xml_only",
            "PROXY_OUTPUT_MODE"},
      Field{"output_by_client", &ModelConfig::output_by_client,
            "output for clients by User-Agent, a table of glob pattern and value; the longest "
            "pattern counts"},
      Field{
          "call_delimiter", &ModelConfig::call_delimiter,
          "xml, xml_only: text between two blocks that follow each other; true means a blank line",
          "PROXY_TOOL_BLOCK_DELIMITER"},
      Field{"error_after_tools", &ModelConfig::error_after_tools,
            "report or tool_calls: how a turn ends whose upstream fails after complete calls"},
      Field{"estimate_usage", &ModelConfig::estimate_usage,
            "estimate token counts that the upstream does not state, marked as such"},
      Field{"trailing_counters", &ModelConfig::trailing_counters,
            "end streams with a comment line of counters"},
      Field{"split", &ModelConfig::split,
            "none or sentences: streamed text leaves in whole sentences, one delta each"},
      Field{"split_min_characters", &ModelConfig::split_min_characters,
            "shorter sentences join the next, white space not counted"},
      Field{"log_content", &ModelConfig::log_content,
            "false: the request log keeps no content of this model's requests"},
      Field{"loop", &ModelConfig::loop, "the gateway runs tools for every request, see loop.md"},
      Field{"loop_tools", &ModelConfig::loop_tools,
            "glob patterns of tools that loops of this model may use"},
  };
};

}  // namespace callgate::server
