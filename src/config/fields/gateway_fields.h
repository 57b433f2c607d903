// Keys of the gateway itself: the top level, [tls] to [responses].
#pragma once

#include "config/fields/field.h"

namespace callgate::server {

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

}  // namespace callgate::server
