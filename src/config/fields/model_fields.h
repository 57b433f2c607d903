// Keys of API keys, prices, upstreams and models.
#pragma once

#include "config/fields/field.h"

namespace callgate::server {

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
