// Tables of the file as the modules that use them get them: every key arrives.
#include "config/tool_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/mistakes.h"

namespace callgate::server::tool_config_test {
namespace {

using testing::HasSubstr;

// Every key differs from its default.
ToolTable full_table(std::string kind) {
  ToolTable table;
  table.name = "t";
  table.kind = std::move(kind);
  table.description = "Does things";
  table.timeout = Milliseconds(1);
  table.result_bytes.count = 2;
  table.pass_context = false;
  table.method = "PUT";
  table.headers = {{"a", "b"}};
  table.query = {"q"};
  table.body = {"b"};
  table.content_types = {"text/*"};
  table.hosts = {"*.example.com"};
  table.addresses = {"10.0.0.0/8"};
  table.ca_file = "/ca.pem";
  table.folder = "/tmp";
  table.pass_environment = {"HOME"};
  table.environment = {{"X", "1"}};
  table.cpu_seconds = 3;
  table.memory_bytes.count = 4;
  table.open_files = 5;
  table.file_bytes.count = 6;
  table.output_bytes.count = 7;
  table.preview_bytes.count = 8;
  table.revision = "2025-11-25";
  table.tools = {"a*"};
  table.qualify = false;
  table.start_timeout = Milliseconds(9);
  table.builtin = "clock";
  return table;
}
const tool::NetworkConfig kNetwork{
    .hosts = {"*.example.com"}, .addresses = {"10.0.0.0/8"}, .ca_file = "/ca.pem"};

TEST(ToolConfig, has_all_that_an_http_tool_needs) {
  ToolTable table = full_table("http");
  table.url = "https://example.com/{id}";
  const auto config = to_tool_config(table);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->name, "t");
  EXPECT_EQ(config->description, "Does things");
  EXPECT_EQ(config->limits.timeout, net::Millis(1));
  EXPECT_EQ(config->limits.result_bytes, 2u);
  tool::HttpToolConfig expected;
  expected.method = "PUT";
  expected.url = "https://example.com/{id}";
  expected.headers = {{"a", "b"}};
  expected.query = std::vector<std::string>{"q"};
  expected.body = std::vector<std::string>{"b"};
  expected.content_types = {"text/*"};
  expected.preview_bytes = 8;
  expected.pass_context = false;
  expected.network = kNetwork;
  EXPECT_EQ(std::get<tool::HttpToolConfig>(config->how), expected);
  table.query = {"*"};
  table.body = {"*"};
  const auto usual = to_tool_config(table);
  EXPECT_EQ(std::get<tool::HttpToolConfig>(usual->how).query, std::nullopt);
  EXPECT_EQ(std::get<tool::HttpToolConfig>(usual->how).body, std::nullopt);
  table.url.clear();
  EXPECT_THAT(to_tool_config(table).error().message, HasSubstr("tool \"t\": url is missing"));
}

TEST(ToolConfig, has_all_that_a_command_needs) {
  ToolTable table = full_table("command");
  table.command = {"wc", "-l"};
  const auto config = to_tool_config(table);
  ASSERT_TRUE(config) << config.error().message;
  tool::CommandToolConfig expected;
  expected.command = {"wc", "-l"};
  expected.folder = "/tmp";
  expected.pass_environment = {"HOME"};
  expected.environment = {{"X", "1"}};
  expected.limits = {.cpu_seconds = 3, .memory_bytes = 4, .open_files = 5, .file_bytes = 6};
  expected.output_bytes = 7;
  expected.preview_bytes = 8;
  expected.pass_context = false;
  EXPECT_EQ(std::get<tool::CommandToolConfig>(config->how), expected);
  table.command.clear();
  EXPECT_THAT(to_tool_config(table).error().message, HasSubstr("command is missing"));
}

TEST(ToolConfig, has_all_that_an_mcp_server_needs) {
  ToolTable table = full_table("mcp");
  table.command = {"server"};
  auto config = to_tool_config(table);
  ASSERT_TRUE(config) << config.error().message;
  const auto& mcp = std::get<tool::McpToolConfig>(config->how);
  EXPECT_EQ(mcp.command, table.command);
  EXPECT_EQ(mcp.folder, "/tmp");
  EXPECT_EQ(mcp.pass_environment, table.pass_environment);
  EXPECT_EQ(mcp.environment, table.environment);
  EXPECT_EQ(mcp.headers, table.headers);
  EXPECT_EQ(mcp.network, kNetwork);
  EXPECT_EQ(mcp.tools, table.tools);
  EXPECT_FALSE(mcp.qualify);
  EXPECT_EQ(mcp.start_timeout, net::Millis(9));
  EXPECT_FALSE(mcp.pass_context);
  EXPECT_EQ(mcp.revision, tool::McpRevision::session_2025_11_25);
  table.revision = "2026-07-28";
  config = to_tool_config(table);
  EXPECT_EQ(std::get<tool::McpToolConfig>(config->how).revision,
            tool::McpRevision::stateless_2026_07_28);
  table.revision = "automatic";
  config = to_tool_config(table);
  EXPECT_EQ(std::get<tool::McpToolConfig>(config->how).revision, tool::McpRevision::automatic);
  table.revision = "newest";
  EXPECT_THAT(to_tool_config(table).error().message, HasSubstr("revision must be automatic"));
  table.revision = "automatic";
  table.url = "https://example.com/mcp";
  EXPECT_THAT(to_tool_config(table).error().message, HasSubstr("one of them"));
  table.command.clear();
  EXPECT_EQ(std::get<tool::McpToolConfig>(to_tool_config(table)->how).url, table.url);
}

TEST(ToolConfig, knows_builtins_and_refuses_other_kinds) {
  const auto builtin = to_tool_config(full_table("builtin"));
  EXPECT_EQ(std::get<tool::BuiltinToolConfig>(builtin->how).builtin, "clock");
  EXPECT_FALSE(to_tool_config(full_table("magic")));
  ToolTable stubborn = full_table("builtin");
  stubborn.on_error = "panic";
  EXPECT_THAT(to_tool_config(stubborn).error().message, HasSubstr("on_error must be"));
}

TEST(ToolSet, has_hooks_with_all_that_they_need) {
  Config config;
  HookTable table;
  table.name = "h";
  table.url = "http://h/";
  table.when = {"after"};
  table.tools = {"a*"};
  table.keys = {"k*"};
  table.headers = {{"a", "b"}};
  table.timeout = Milliseconds(1);
  table.on_failure = "allow";
  table.answer_bytes.count = 2;
  table.addresses = {"10.0.0.0/8"};
  table.ca_file = "/ca.pem";
  config.hooks.push_back(table);
  const auto set = to_tool_set(config);
  ASSERT_TRUE(set) << set.error().message;
  const tool::HookConfig& hook = set->hooks.at(0);
  EXPECT_EQ(hook.name, "h");
  EXPECT_EQ(hook.url, "http://h/");
  EXPECT_FALSE(hook.before);
  EXPECT_TRUE(hook.after);
  EXPECT_EQ(hook.tools, table.tools);
  EXPECT_EQ(hook.keys, table.keys);
  EXPECT_EQ(hook.headers, table.headers);
  EXPECT_EQ(hook.timeout, net::Millis(1));
  EXPECT_TRUE(hook.allow_on_failure);
  EXPECT_EQ(hook.answer_bytes, 2u);
  EXPECT_EQ(hook.network.addresses, table.addresses);
  EXPECT_EQ(hook.network.ca_file, "/ca.pem");
  config.hooks[0].when = {"approval", "loop_start", "round", "loop_end"};
  using tool::HookMoment;
  const auto told = to_tool_set(config);
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_FALSE(told->hooks.at(0).before || told->hooks.at(0).after);
  EXPECT_EQ(told->hooks.at(0).told, (std::vector{HookMoment::approval, HookMoment::loop_start,
                                                 HookMoment::round, HookMoment::loop_end}));
  config.hooks[0].when = {"later"};
  EXPECT_NE(to_tool_set(config).error().message.find("round, loop_end, prompt or answer"),
            std::string::npos);
  config.hooks[0].when = {"before"};
  config.hooks[0].on_failure = "deny";
  const auto other = to_tool_set(config);
  EXPECT_TRUE(other->hooks.at(0).before);
  EXPECT_FALSE(other->hooks.at(0).after);
  EXPECT_FALSE(other->hooks.at(0).allow_on_failure);
}

TEST(LoopOptions, have_every_key_of_the_table) {
  LoopConfig config;
  config.max_tool_rounds = 1;
  config.max_calls = 2;
  config.max_calls_per_tool = 3;
  config.calls_per_round = 4;
  config.parallel = 0;
  config.loop_timeout = Milliseconds(5);
  config.tool_timeout = Milliseconds(6);
  config.approval_timeout = Milliseconds(7);
  config.show_tool_calls = true;
  config.repeated_calls = 8;
  config.repeats_to_force = 9;
  config.repeated_results = 10;
  config.empty_retries = 11;
  config.turn_retries = 12;
  config.evict_bytes.count = 13;
  config.evict_preview_bytes.count = 14;
  config.evicted_results = 15;
  config.evicted_bytes.count = 16;
  config.find_tools_above = 17;
  config.find_tools_limit = 18;
  config.notice_preview_bytes.count = 19;
  config.return_reasoning = false;
  config.round_separator = "--";
  const auto options = to_loop_options(config);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->max_tool_rounds, 1u);
  EXPECT_EQ(options->max_calls, 2u);
  EXPECT_EQ(options->max_calls_per_tool, 3u);
  EXPECT_EQ(options->calls_per_round, 4u);
  EXPECT_EQ(options->parallel, 1u) << "at least one";
  EXPECT_EQ(options->loop_timeout, 5);
  EXPECT_EQ(options->tool_timeout, 6);
  EXPECT_EQ(options->approval_timeout, 7);
  EXPECT_TRUE(options->show_tool_calls);
  EXPECT_EQ(options->repeated_calls, 8u);
  EXPECT_EQ(options->repeats_to_force, 9u);
  EXPECT_EQ(options->repeated_results, 10u);
  EXPECT_EQ(options->empty_retries, 11u);
  EXPECT_EQ(options->turn_retries, 12u);
  EXPECT_EQ(options->evict_bytes, 13u);
  EXPECT_EQ(options->evict_preview_bytes, 14u);
  EXPECT_EQ(options->evicted_results, 15u);
  EXPECT_EQ(options->evicted_bytes, 16u);
  EXPECT_EQ(options->find_tools_above, 17u);
  EXPECT_EQ(options->find_tools_limit, 18u);
  EXPECT_EQ(options->notice_preview_bytes, 19u);
  EXPECT_FALSE(options->return_reasoning);
  EXPECT_EQ(options->round_separator, "--");
  config.parallel = 20;
  EXPECT_EQ(to_loop_options(config)->parallel, 20u);
  config.max_calls = std::int64_t{1} << 40;
  EXPECT_EQ(to_loop_options(config)->max_calls, UINT32_MAX);
}

TEST(ToolConfig, reads_a_web_search_and_says_what_is_wrong_with_one) {
  ToolTable table;
  table.name = "search";
  table.kind = "web_search";
  const auto message = [&] {
    const auto made = to_tool_config(table);
    return made ? std::string() : made.error().message;
  };
  EXPECT_EQ(message(), "tool \"search\": url is missing");
  table.url = "https://search.example/";
  table.max_results = 51;
  EXPECT_EQ(message(), "tool \"search\": max_results: expected 1 to 50, got 51");
  table.max_results = 3;
  table.results = "web.results";
  table.headers = {{"x-key", "k"}};
  const auto made = to_tool_config(table);
  ASSERT_TRUE(made) << made.error().message;
  const auto& search = std::get<tool::SearchToolConfig>(made->how);
  EXPECT_EQ(search.reply.list, "web.results");
  EXPECT_EQ(search.max_results, 3u);
  EXPECT_EQ(search.http.headers.size(), 1u);
}

TEST(ToolConfig, reads_a_sandbox_which_only_commands_have) {
  ToolTable table;
  table.name = "run";
  table.kind = "command";
  table.command = {"true"};
  const auto message = [&] {
    const auto made = to_tool_config(table);
    return made ? std::string() : made.error().message;
  };
  table.sandbox_writable = {"scratch"};
  EXPECT_EQ(message(), "tool \"run\": sandbox_writable and sandbox_network need sandbox = true");
  table.sandbox = true;
  EXPECT_EQ(message(), "tool \"run\": sandbox_writable: expected whole paths, got \"scratch\"");
  table.sandbox_writable = {"/no/such/folder"};
  const auto made = to_tool_config(table);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(std::get<tool::CommandToolConfig>(made->how).sandbox->writable,
            std::vector<std::string>{"/no/such/folder"});
  Config config;
  config.tools.push_back(table);
  const std::vector<Mistake> missing = find_missing_files(config);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].path, "tool[0].sandbox");
  EXPECT_THAT(missing[0].message, testing::StartsWith("tool \"run\": sandbox: "));
  table.kind = "http";
  EXPECT_EQ(message(), "tool \"run\": sandbox is for kind command, got http");
}

}  // namespace
}  // namespace callgate::server::tool_config_test
