#include "config/tool_config.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/glob.h"
#include "base/quoted.h"
#include "config/config_text.h"
#include "json/writer.h"
#include "tool/hook_chain.h"
#include "tool/url_template.h"

namespace callgate::server {
namespace {

tl::unexpected<Error> wrong(const ToolTable& table, std::string_view message) {
  return fail(ErrorCode::invalid_request, "tool \"" + table.name + "\": " + std::string(message));
}

bool is_usual(const std::vector<std::string>& names) {
  return names.size() == 1 && names.front() == "*";
}

RawJson schema_of(const JsonMembers& parameters) {
  if (parameters.members.empty()) return {};
  RawJson schema;
  json::ObjectWriter object(schema.text);
  for (const ExtraField& member : parameters.members) {
    object.raw_escaped(member.name, member.value.text);
  }
  object.close();
  return schema;
}

tool::NetworkConfig network_of(const ToolTable& table) {
  return {.hosts = table.hosts, .addresses = table.addresses, .ca_file = table.ca_file};
}

tool::HttpToolConfig http_of(const ToolTable& table) {
  tool::HttpToolConfig http;
  http.method = table.method;
  http.url = table.url;
  http.headers = table.headers;
  if (!is_usual(table.query)) http.query = table.query;
  if (!is_usual(table.body)) http.body = table.body;
  http.content_types = table.content_types;
  http.preview_bytes = table.preview_bytes.count;
  http.pass_context = table.pass_context;
  http.network = network_of(table);
  return http;
}

tool::CommandToolConfig command_of(const ToolTable& table) {
  tool::CommandToolConfig command;
  command.command = table.command;
  command.folder = table.folder;
  command.pass_environment = table.pass_environment;
  command.environment = table.environment;
  command.limits = {.cpu_seconds = static_cast<std::uint64_t>(table.cpu_seconds),
                    .memory_bytes = table.memory_bytes.count,
                    .open_files = static_cast<std::uint64_t>(table.open_files),
                    .file_bytes = table.file_bytes.count};
  command.output_bytes = table.output_bytes.count;
  command.preview_bytes = table.preview_bytes.count;
  command.pass_context = table.pass_context;
  if (table.sandbox) {
    command.sandbox = {.writable = table.sandbox_writable, .network = table.sandbox_network};
  }
  return command;
}

Result<tool::SearchToolConfig> search_of(const ToolTable& table) {
  if (table.url.empty()) return wrong(table, "url is missing");
  if (auto url = tool::UrlTemplate::parse(table.url); !url) {
    return wrong(table, url.error().message);
  }
  if (table.query_name.empty()) return wrong(table, "query_name must not be empty");
  if (table.max_results < 1 || table.max_results > 50) {
    return wrong(table, "max_results: expected 1 to 50, got " + std::to_string(table.max_results));
  }
  return tool::SearchToolConfig{.http = http_of(table),
                                .query_name = table.query_name,
                                .count_name = table.count_name,
                                .reply = {.list = table.results,
                                          .title = table.result_title,
                                          .url = table.result_url,
                                          .snippet = table.result_snippet},
                                .max_results = static_cast<std::size_t>(table.max_results),
                                .reply_bytes = table.reply_bytes.count};
}

Result<tool::McpToolConfig> mcp_of(const ToolTable& table) {
  tool::McpToolConfig mcp;
  if (table.command.empty() == table.url.empty()) {
    return wrong(table, "kind mcp needs command or url, one of them");
  }
  if (!table.url.empty()) {
    if (auto url = tool::UrlTemplate::parse(table.url); !url) {
      return wrong(table, url.error().message);
    }
  }
  if (table.revision == "2025-11-25") {
    mcp.revision = tool::McpRevision::session_2025_11_25;
  } else if (table.revision == "2026-07-28") {
    mcp.revision = tool::McpRevision::stateless_2026_07_28;
  } else if (table.revision != "automatic") {
    return wrong(table, "revision must be automatic, 2025-11-25 or 2026-07-28");
  }
  mcp.command = table.command;
  mcp.folder = table.folder;
  mcp.pass_environment = table.pass_environment;
  mcp.environment = table.environment;
  mcp.url = table.url;
  mcp.headers = table.headers;
  mcp.network = network_of(table);
  mcp.tools = table.tools;
  mcp.qualify = table.qualify;
  mcp.start_timeout = net::Millis(table.start_timeout.count());
  mcp.pass_context = table.pass_context;
  return mcp;
}

Result<void> set_how(tool::ToolConfig& config, const ToolTable& table) {
  if (table.sandbox && table.kind != "command") {
    return wrong(table, "sandbox is for kind command, got " + table.kind);
  }
  if (table.kind == "http") {
    if (table.url.empty()) return wrong(table, "url is missing");
    if (auto url = tool::UrlTemplate::parse(table.url); !url) {
      return wrong(table, url.error().message);
    }
    config.how = http_of(table);
  } else if (table.kind == "command") {
    if (table.command.empty()) return wrong(table, "command is missing");
    if (!table.sandbox && (!table.sandbox_writable.empty() || table.sandbox_network)) {
      return wrong(table, "sandbox_writable and sandbox_network need sandbox = true");
    }
    for (const std::string& folder : table.sandbox_writable) {
      if (!folder.starts_with('/')) {
        return wrong(table, "sandbox_writable: expected whole paths, got \"" + folder + "\"");
      }
    }
    config.how = command_of(table);
  } else if (table.kind == "web_search") {
    auto search = search_of(table);
    if (!search) return tl::unexpected(search.error());
    config.how = std::move(*search);
  } else if (table.kind == "mcp") {
    auto mcp = mcp_of(table);
    if (!mcp) return tl::unexpected(mcp.error());
    config.how = std::move(*mcp);
  } else if (table.kind == "builtin") {
    config.how = tool::BuiltinToolConfig{.builtin = table.builtin, .text = table.instructions};
  } else {
    static constexpr std::array<std::string_view, 5> kKinds{"http", "command", "mcp", "web_search",
                                                            "builtin"};
    return wrong(table, "kind must be http, command, mcp, web_search or builtin, got " +
                            in_quotes(table.kind) + suggestion(table.kind, kKinds));
  }
  return {};
}

std::uint32_t count_of(std::int64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

const ToolTable* find_table(const Config& config, std::string_view name) {
  const auto found = std::find_if(config.tools.begin(), config.tools.end(),
                                  [&](const ToolTable& table) { return table.name == name; });
  return found == config.tools.end() ? nullptr : &*found;
}

std::optional<tool::HookMoment> to_hook_moment(std::string_view word) {
  using tool::HookMoment;
  for (const HookMoment moment :
       {HookMoment::before, HookMoment::after, HookMoment::approval, HookMoment::loop_start,
        HookMoment::round, HookMoment::loop_end, HookMoment::prompt, HookMoment::answer}) {
    if (tool::to_string(moment) == word) return moment;
  }
  return std::nullopt;
}

Result<tool::HookConfig> to_hook_config(const HookTable& table) {
  const auto wrong_hook = [&table](std::string_view message) {
    return fail(ErrorCode::invalid_request, "hook \"" + table.name + "\": " + std::string(message));
  };
  tool::HookConfig hook;
  hook.name = table.name;
  hook.url = table.url;
  if (hook.url.empty()) return wrong_hook("url is missing");
  if (auto url = tool::UrlTemplate::parse(hook.url); !url) return wrong_hook(url.error().message);
  hook.before = false;
  for (const std::string& when : table.when) {
    const auto moment = to_hook_moment(when);
    if (!moment) {
      return wrong_hook(
          "when must be before, after, approval, loop_start, round, loop_end, prompt or answer");
    }
    if (*moment == tool::HookMoment::before) {
      hook.before = true;
    } else if (*moment == tool::HookMoment::after) {
      hook.after = true;
    } else if (*moment == tool::HookMoment::prompt || *moment == tool::HookMoment::answer) {
      hook.judges.push_back(*moment);
    } else {
      hook.told.push_back(*moment);
    }
  }
  if (table.on_failure != "deny" && table.on_failure != "allow") {
    return wrong_hook("on_failure must be deny or allow");
  }
  hook.allow_on_failure = table.on_failure == "allow";
  hook.tools = table.tools;
  hook.keys = table.keys;
  hook.models = table.models;
  hook.headers = table.headers;
  hook.timeout = net::Millis(table.timeout.count());
  hook.answer_bytes = table.answer_bytes.count;
  hook.network = {.hosts = {}, .addresses = table.addresses, .ca_file = table.ca_file};
  return hook;
}

loop::Tool loop_tool(const tool::CatalogueEntry& entry, const ToolTable& table) {
  loop::Tool made;
  made.spec = entry.spec;
  made.timeout = entry.limits.timeout.count();
  made.exclusive = table.exclusive;
  made.return_direct = table.return_direct;
  made.approval = table.approval;
  made.pinned = table.pinned;
  if (table.max_calls > 0) made.max_calls = count_of(table.max_calls);
  if (table.on_error == "stop") made.on_error = loop::OnToolError::stop;
  if (table.on_error == "tell_model") made.on_error = loop::OnToolError::tell_model;
  return made;
}

}  // namespace

Result<tool::ToolConfig> to_tool_config(const ToolTable& table) {
  if (table.on_error != "" && table.on_error != "stop" && table.on_error != "tell_model") {
    return wrong(table, "on_error must be tell_model or stop");
  }
  tool::ToolConfig config;
  config.name = table.name;
  config.description = table.description;
  config.parameters = schema_of(table.parameters);
  config.limits = {.timeout = net::Millis(table.timeout.count()),
                   .result_bytes = table.result_bytes.count};
  if (auto set = set_how(config, table); !set) return tl::unexpected(set.error());
  return config;
}

Result<tool::ToolSet> to_tool_set(const Config& config) {
  tool::ToolSet set;
  for (const ToolTable& table : config.tools) {
    auto made = to_tool_config(table);
    if (!made) return tl::unexpected(made.error());
    set.tools.push_back(std::move(*made));
  }
  for (const HookTable& table : config.hooks) {
    auto made = to_hook_config(table);
    if (!made) return tl::unexpected(made.error());
    set.hooks.push_back(std::move(*made));
  }
  return set;
}

Result<loop::Options> to_loop_options(const LoopConfig& config) {
  loop::Options options;
  options.max_tool_rounds = count_of(config.max_tool_rounds);
  options.max_calls = count_of(config.max_calls);
  options.max_calls_per_tool = count_of(config.max_calls_per_tool);
  options.calls_per_round = count_of(config.calls_per_round);
  options.max_calls_read = count_of(config.max_calls_read);
  options.max_turn_bytes = config.max_turn_bytes.count;
  options.parallel = std::max(1u, count_of(config.parallel));
  options.loop_timeout = config.loop_timeout.count();
  options.tool_timeout = config.tool_timeout.count();
  options.approval_timeout = config.approval_timeout.count();
  options.show_tool_calls = config.show_tool_calls;
  options.repeated_calls = count_of(config.repeated_calls);
  options.repeats_to_force = count_of(config.repeats_to_force);
  options.repeated_results = count_of(config.repeated_results);
  options.empty_retries = count_of(config.empty_retries);
  options.turn_retries = count_of(config.turn_retries);
  options.evict_bytes = config.evict_bytes.count;
  options.evict_preview_bytes = config.evict_preview_bytes.count;
  options.evicted_results = static_cast<std::size_t>(config.evicted_results);
  options.evicted_bytes = config.evicted_bytes.count;
  options.find_tools_above = count_of(config.find_tools_above);
  options.find_tools_limit = count_of(config.find_tools_limit);
  options.notice_preview_bytes = config.notice_preview_bytes.count;
  options.return_reasoning = config.return_reasoning;
  options.round_separator = config.round_separator;
  if (!loop::set_option(options, "on_limit", config.on_limit)) {
    return fail(ErrorCode::invalid_request, "loop.on_limit must be stop or tell_model");
  }
  if (!loop::set_option(options, "on_tool_error", config.on_tool_error)) {
    return fail(ErrorCode::invalid_request, "loop.on_tool_error must be tell_model or stop");
  }
  if (!loop::set_option(options, "memory", config.memory)) {
    return fail(ErrorCode::invalid_request, "loop.memory must be outside, inside or none");
  }
  return options;
}

std::vector<loop::Tool> loop_tools(const tool::Catalogue& catalogue, const Config& config,
                                   std::span<const std::string> patterns) {
  std::vector<loop::Tool> tools;
  for (const tool::CatalogueEntry& entry : catalogue.entries()) {
    const bool wanted = matches_any(patterns, entry.spec.name);
    const ToolTable* table = find_table(config, entry.source);
    if (wanted && table != nullptr) tools.push_back(loop_tool(entry, *table));
  }
  return tools;
}

}  // namespace callgate::server
