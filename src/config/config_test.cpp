#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/source_path_testing.h"
#include "config/config_fields.h"
#include "config/config_text.h"
#include "config/tool_config.h"

namespace callgate::server::config_test {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text, const std::vector<std::string>& sets = {}) {
  const auto config = parse_config(text, "test.toml", sets);
  return config ? "no error" : config.error().message;
}

constexpr std::string_view kGood = R"(
listen = "127.0.0.1:9000"
[limits]
max_body = "1MiB"
[[upstream]]
name = "local"
url = "http://127.0.0.1:1/v1"
idle_timeout = "90s"
headers = { x-team = "blue" }
[[model]]
name = "m"
upstream = "local"
)";

TEST(Config, reads_values_lists_and_tables) {
  const auto config = parse_config(kGood, "test.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->listen.at(0), "127.0.0.1:9000");
  EXPECT_EQ(config->limits.max_body.count, 1u << 20);
  EXPECT_EQ(config->upstreams.at(0).idle_timeout, Milliseconds(90'000));
  EXPECT_EQ(config->upstreams.at(0).headers.at(0).second, "blue");
  EXPECT_EQ(config->find_model("m")->upstream.at(0), "local");
}

TEST(Config, reads_tools_and_the_loop) {
  const auto config = parse_config(R"(
[loop]
max_tool_rounds = 3
[[tool]]
name = "a"
kind = "command"
command = ["wc"]
parameters = '{"type": "object"}'
[[tool]]
name = "b"
kind = "builtin"
parameters = { type = "object" }
)",
                                   "test.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->loop.max_tool_rounds, 3);
  for (const ToolTable& table : config->tools) {
    EXPECT_EQ(to_tool_config(table)->parameters.text, R"({"type":"object"})") << table.name;
  }
  EXPECT_THAT(error_of("[[tool]]\nname = \"a\"\nkind = \"htp\"\n"),
              HasSubstr("tool \"a\": kind must be http, command, mcp, web_search or builtin"));
  EXPECT_THAT(error_of("[[tool]]\nname = \"a\"\nkind = \"mcp\"\n"), HasSubstr("command or url"));
  EXPECT_THAT(error_of("[[tool]]\nname = \"a\"\nparameters = \"{\"\n"),
              HasSubstr("a JSON object as a string"));
  EXPECT_THAT(error_of("[loop]\non_limit = \"x\"\n"), HasSubstr("loop.on_limit must be"));
  const std::string hook = "[[hook]]\nname = \"a\"\nurl = \"http://h/\"\n";
  EXPECT_EQ(error_of(hook + "when = [\"before\", \"after\"]\non_failure = \"allow\"\n"),
            "no error");
  EXPECT_THAT(error_of(hook + "when = [\"during\"]\n"),
              HasSubstr("when must be before, after, approval"));
  EXPECT_THAT(error_of(hook + "on_failure = \"ask\"\n"), HasSubstr("must be deny or allow"));
  EXPECT_THAT(error_of("[[hook]]\nname = \"a\"\n"), HasSubstr("url is missing"));
}

TEST(Config, refuses_tools_with_the_names_of_the_loops_own) {
  for (const std::string name : {"read_result", "find_tools"}) {
    const std::string table = "[[tool]]\nname = \"" + name + "\"\n";
    EXPECT_THAT(error_of(table + "kind = \"builtin\"\n"),
                HasSubstr("tool \"" + name + "\": the tool loop has a tool of its own"));
    EXPECT_EQ(error_of(table + "kind = \"mcp\"\ncommand = [\"x\"]\n"), "no error")
        << "tools of servers are named differently";
  }
}

TEST(Config, names_file_line_key_and_the_nearest_valid_key) {
  EXPECT_EQ(error_of("listen = \"127.0.0.1:1\"\n\n[limits]\nmax_boddy = 3\n"),
            "test.toml:4: unknown key `limits.max_boddy`, did you mean `limits.max_body`?");
  EXPECT_EQ(error_of("[[modle]]\nname = \"x\"\n"),
            "test.toml:1: unknown key `modle`, did you mean `model`?");
}

TEST(Config, says_what_a_value_should_be) {
  EXPECT_EQ(error_of("threads = \"two\"\n"),
            "test.toml:1: threads: expected a whole number, 0 or more, got \"two\"");
  EXPECT_THAT(error_of("[limits]\nbody_timeout = 5\n"),
              HasSubstr("limits.body_timeout: expected a duration"));
  EXPECT_THAT(error_of("[[key]]\nname = \"a\"\nsecret = \"${CALLGATE_TEST_UNSET}\"\n"),
              HasSubstr("environment variable CALLGATE_TEST_UNSET is not set"));
  for (const std::string text :
       {"listen = ", "listen = [[[", "[[[", "[[", "[[=", "[[]]", "[", "[=", "=", "."}) {
    EXPECT_THAT(error_of(text), HasSubstr("test.toml:1: ")) << text;
  }
}

TEST(Config, refuses_words_that_a_key_does_not_know) {
  for (const std::string key : {"metrics",
                                "log.level",
                                "log.format",
                                "store.synchronous",
                                "store.when_down",
                                "store.overflow",
                                "upstream.0.dropped_fields",
                                "upstream.0.auth",
                                "upstream.0.server",
                                "upstream.0.parent_rule",
                                "upstream.0.conversation_conflict",
                                "upstream.0.conversation_fallback",
                                "upstream.0.codex_tools",
                                "upstream.0.codex_sandbox",
                                "model.0.balance",
                                "model.0.tools",
                                "model.0.commit",
                                "model.0.system",
                                "model.0.replayed_tools",
                                "model.0.upstream_call_ids"}) {
    const std::string name = key.substr(key.rfind('.') + 1);
    EXPECT_THAT(error_of(kGood, {key + "=nonsense"}), HasSubstr(name)) << key;
  }
}

TEST(Config, says_which_keys_no_longer_mean_anything) {
  EXPECT_TRUE(deprecations(*parse_config(kGood, "test.toml")).empty());
  EXPECT_TRUE(deprecations(*parse_config(kGood, "test.toml", {"store.overflow=shed"})).empty());
  const auto old =
      parse_config(kGood, "test.toml", {"store.overflow=block", "store.block_for=50ms"});
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_THAT(deprecations(*old), testing::ElementsAre(HasSubstr("store.overflow = \"block\""),
                                                       HasSubstr("store.block_for")));
  EXPECT_THAT(error_of("[store]\noverflow = \"nonsense\"\n"),
              HasSubstr("store.overflow must be shed or block"));
}

TEST(Config, expands_environment_variables) {
  ::setenv("CALLGATE_TEST_KEY", "s3cret", 1);
  const auto config =
      parse_config("[[key]]\nname = \"a\"\nsecret = \"x-${CALLGATE_TEST_KEY}\"\n", "test.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->keys.at(0).secret.reveal(), "x-s3cret");
}

// Sets an environment variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Config, takes_defaults_from_environment_variables) {
  const Variable stop("PROXY_STOP_AFTER_TOOLS", "true"),
      tail("PROXY_SUPPRESS_TAIL_AFTER_TOOLS", "1"), most("PROXY_TOOL_BLOCK_MAX", "4"),
      grace("PROXY_STOP_AFTER_TOOLS_GRACE_MS", "150"), dedupe("PROXY_TOOL_BLOCK_DEDUP", "yes");
  const auto config = parse_config(kGood, "test.toml");
  ASSERT_TRUE(config) << config.error().message;
  const ModelConfig& model = config->models.at(0);
  EXPECT_EQ(model.stop_after_tools_grace, Milliseconds(150));
  const auto policy = to_policy(model);
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->stop_after_tools, StopAfterTools::burst);
  EXPECT_TRUE(policy->suppress_tail_after_tools);
  EXPECT_EQ(policy->tool_call_max, 4u);
  EXPECT_TRUE(policy->dedupe_calls);

  const auto written = parse_config(kGood, "test.toml",
                                    {"model.m.tool_call_max=2", "model.m.stop_after_tools=first"});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->models.at(0).tool_call_max, 2);
  EXPECT_EQ(written->models.at(0).stop_after_tools, "first");
}

TEST(Config, names_an_environment_variable_that_is_wrong) {
  const Variable most("PROXY_TOOL_BLOCK_MAX", "many");
  EXPECT_THAT(error_of(kGood),
              HasSubstr("PROXY_TOOL_BLOCK_MAX: expected a whole number, 0 or more"));
}

TEST(Config, turns_the_keys_of_a_model_into_policies) {
  const auto config = parse_config(
      kGood, "test.toml",
      {"model.m.stop_after_tools=burst", "model.m.tool_call_max=0", "model.m.call_whitespace=false",
       "model.m.dedupe_calls=true", "model.m.suppress_tail_after_tools=true",
       "model.m.undeclared_tools=text", "model.m.reasoning=hide", "model.m.invalid_arguments=raw"});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(to_policy(config->models.at(0)).value(),
            (PolicyOptions{.stop_after_tools = StopAfterTools::burst,
                           .suppress_tail_after_tools = true,
                           .tool_call_max = 0,
                           .call_whitespace = false,
                           .dedupe_calls = true,
                           .undeclared_tools = UndeclaredTools::text,
                           .invalid_arguments = InvalidArguments::raw,
                           .reasoning = ReasoningForm::hide}));
  EXPECT_EQ(to_policy(ModelConfig{}).value(), PolicyOptions{});
  EXPECT_THAT(error_of(kGood, {"model.m.stop_after_tools=later"}),
              HasSubstr("model \"m\": stop_after_tools must be off, first or burst"));
}

TEST(Config, applies_overrides_by_path_and_by_name) {
  const auto config = parse_config(
      kGood, "test.toml",
      {"listen=127.0.0.1:7", "limits.max_streams=5", "model.m.dialect=native", "upstream.0.key=k"});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->listen.at(0), "127.0.0.1:7");
  EXPECT_EQ(config->limits.max_streams, 5);
  EXPECT_EQ(config->models.at(0).dialect, "native");
  EXPECT_EQ(config->upstreams.at(0).key.reveal(), "k");
  EXPECT_EQ(error_of(kGood, {"nonsense"}), "--set nonsense: expected key=value");
  for (const std::string list : {"tool", "hook", "key", "price", "dialect"}) {
    EXPECT_EQ(error_of(kGood, {list + ".x.name=y"}),
              "--set " + list + ".x.name: there is no [[" + list + "]] \"x\"");
  }
}

TEST(Config, tells_where_other_gateways_reach_this_one_only_where_listen_says_so) {
  const auto address = [](const std::string& text) {
    Config config;
    config.store.url = "postgresql://db/callgate";
    config.listen = {text};
    return room_address(config);
  };
  EXPECT_EQ(address("10.0.0.11:8080"), "http://10.0.0.11:8080");
  EXPECT_EQ(address("[2001:db8::1]:8080"), "http://[2001:db8::1]:8080");
  for (const char* unsafe : {"0.0.0.0:8080", ":8080", "[::]:8080", "127.0.0.1:8080", "10.0.0.11:0",
                             "unix:/run/x", "node.example:8080"}) {
    EXPECT_EQ(address(unsafe), "") << unsafe;
  }
  Config config;
  config.store.url = "postgresql://db/callgate";
  config.listen = {"10.0.0.11:8080"};
  config.tls.cert = "cert.pem";
  EXPECT_EQ(room_address(config), "");
  config.rooms.advertise = "https://node.example";
  EXPECT_EQ(room_address(config), "https://node.example");
  config.rooms.advertise = "off";
  EXPECT_EQ(room_address(config), "");
  config.rooms.advertise = "http://a";
  config.store.url = "sqlite:x.db";
  EXPECT_EQ(room_address(config), "");
}

TEST(Config, refuses_an_open_gateway_off_loopback) {
  EXPECT_THAT(error_of("listen = \"0.0.0.0:80\"\n"), HasSubstr("add a [[key]]"));
  EXPECT_EQ(error_of("listen = \"0.0.0.0:80\"\nallow_open = true\n"), "no error");
  EXPECT_EQ(error_of("listen = \"0.0.0.0:80\"\nrequire_key = true\n"), "no error");
  EXPECT_THAT(error_of("require_key = true\n[store]\nurl = \"none\"\n"),
              HasSubstr("neither a [[key]] nor a store"));
  EXPECT_EQ(error_of("listen = \"0.0.0.0:80\"\n[[key]]\nname = \"a\"\nsecret = \"b\"\n"),
            "no error");
  EXPECT_EQ(error_of("listen = [\"[::1]:80\", \"unix:/tmp/x\", \"localhost:1\"]\n"), "no error");
}

TEST(Config, resolves_references_between_tables) {
  EXPECT_THAT(error_of("[[model]]\nname = \"m\"\nupstream = \"nowhere\"\n"),
              HasSubstr("no [[upstream]] named \"nowhere\""));
  EXPECT_THAT(error_of("[[upstream]]\nname = \"u\"\nwire = \"openai_chatt\"\n"),
              HasSubstr("did you mean \"openai_chat\"?"));
  EXPECT_THAT(error_of("[[upstream]]\nname = \"u\"\nurl = \"ftp://x\"\n"),
              HasSubstr("must start with http://"));
}

TEST(Config, needs_a_folder_to_capture_models) {
  EXPECT_THAT(error_of("[capture]\nmodels = [\"*\"]\n"), HasSubstr("capture.dir is not set"));
}

TEST(Config, checks_where_spans_go) {
  const auto config = parse_config(
      "[otlp]\nendpoint = \"http://h:4318\"\nsample_ratio = 0.25\nheaders = { a = \"hidden\" }\n",
      "test.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->otlp.sample_ratio, 0.25);
  EXPECT_THAT(print_config(*config), HasSubstr("sample_ratio = 0.25"));
  EXPECT_THAT(print_config(*config), testing::Not(HasSubstr("hidden")));
  EXPECT_EQ(error_of("[otlp]\nsample_ratio = 1\n"), "no error");
  EXPECT_THAT(error_of("[otlp]\nsample_ratio = 1.5\n"), HasSubstr("expected 0 to 1"));
  EXPECT_THAT(error_of("[otlp]\nsample_ratio = \"1\"\n"), HasSubstr("expected a number"));
  EXPECT_THAT(error_of("[otlp]\nendpoint = \"h:4318\"\n"), HasSubstr("must start with http://"));
  EXPECT_THAT(error_of("[otlp]\nbatch = 5000\n"), HasSubstr("expected 1 to otlp.queue"));
  EXPECT_THAT(error_of("[otlp]\ninterval = \"0s\"\n"), HasSubstr("longer than 0"));
}

TEST(Config, masks_secrets_when_printed_and_reads_its_own_output) {
  const auto config =
      parse_config(std::string(kGood) + "[[key]]\nname=\"k\"\nsecret=\"topsecretvalue\"\n",
                   "test.toml", {"upstream.local.key=othersecret"});
  ASSERT_TRUE(config) << config.error().message;
  const std::string printed = print_config(*config);
  EXPECT_THAT(printed, testing::Not(HasSubstr("topsecret")));
  EXPECT_THAT(printed, testing::Not(HasSubstr("othersecret")));
  EXPECT_THAT(printed, testing::Not(HasSubstr("blue")));
  EXPECT_TRUE(parse_config(printed, "printed")) << parse_config(printed, "printed").error().message;
}

TEST(Config, shows_no_password_wherever_it_stands) {
  const auto config = parse_config(std::string(kGood) + R"(
[store]
url = "postgresql://me:hunter2@db/log?sslpassword=hunter2"
[[tool]]
name = "web"
kind = "http"
url = "https://host/{id}?api_key=hunter2&page=2"
[[tool]]
name = "run"
kind = "command"
command = ["prog", "--token", "hunter2", "--key=hunter2", "-phunter2"]
[[hook]]
name = "ask"
url = "https://host/ask?token=hunter2"
[[upstream]]
name = "child"
wire = "codex_proto"
command = ["codex", "-c", "key=hunter2"]
env = { TOKEN = "hunter2" }
[[upstream]]
name = "vault"
url = "https://host/v1"
key_command = ["vault", "--token", "hunter2", "-phunter2"]
[[tool]]
name = "search"
kind = "web_search"
url = "https://host/search?key=hunter2"
headers = { x-subscription-token = "hunter2" }
[otlp]
endpoint = "https://host"
headers = { authorization = "hunter2" }
)",
                                   "test.toml");
  ASSERT_TRUE(config) << config.error().message;
  const std::string printed = print_config(*config);
  EXPECT_THAT(printed, testing::Not(HasSubstr("hunter2")));
  for (const std::string_view shown :
       {"\"prog\", \"--token\"", "https://host/{id}?api_key=***&page=2", "\"codex\"", "@db/log"}) {
    EXPECT_THAT(printed, HasSubstr(std::string(shown)));
  }
}

TEST(Config, errors_show_no_password) {
  for (const std::string_view wrong : {
           "store.url = \"postgres//me:hunter2@db/log\"\n",
           "store.url = \"postgres:me:hunter2@db/log\"\n",
           "[[upstream]]\nname = \"u\"\nurl = \"htp://me:hunter2@h\"\n",
           "[[upstream]]\nname = \"u\"\nurl = \"http://me:hunter2@h\"\n",
           "[otlp]\nendpoint = \"http://me:hunter2@h\"\n",
           "[[tool]]\nname = \"t\"\nkind = \"http\"\nurl = \"http://me:hunter2@h/x\"\n",
           "[[tool]]\nname = \"t\"\nkind = \"http\"\nurl = \"me:hunter2@h/x\"\n",
           "[[tool]]\nname = \"t\"\nkind = \"mcp\"\nurl = \"http://me:hunter2@h/x\"\n",
           "[[hook]]\nname = \"t\"\nurl = \"http://me:hunter2@h/x\"\n",
       }) {
    EXPECT_NE(error_of(wrong), "no error") << wrong;
    EXPECT_THAT(error_of(wrong), testing::Not(HasSubstr("hunter2"))) << wrong;
  }
  EXPECT_THAT(error_of("", {"upstream.u.key=hunter2"}), testing::Not(HasSubstr("hunter2")));
}

// What the check lets pass, serving must not refuse.
TEST(Config, refuses_what_cannot_be_served) {
  for (const std::string_view wrong : {
           "store.url = \"postgres//db/log\"\n",
           "store.url = \"sqlite:\"\n",
           "listen = \"no space:80\"\n",
           "listen = \"127.0.0.1:99999\"\n",
           "metrics = \"nobody\"\n",
           "[[upstream]]\nname = \"u\"\nurl = \"http://h:0/v1\"\n",
           "[[upstream]]\nname = \"u\"\nurl = \"http://h/v1?key=x\"\n",
           "[[upstream]]\nname = \"u\"\nurl = \"http:///v1\"\n",
           "[[tool]]\nname = \"t\"\nkind = \"http\"\nurl = \"h/x\"\n",
       }) {
    EXPECT_NE(error_of(wrong), "no error") << wrong;
  }
}

TEST(ConfigText, suggests_names_near_short_ones_only) {
  const std::vector<std::string_view> names{"big", "small", std::string_view()};
  EXPECT_EQ(nearest("smal", names), "small");
  EXPECT_EQ(suggestion("bgi", names), ", did you mean \"big\"?");
  const std::string huge(30'000'000, 'a');
  EXPECT_EQ(nearest(huge, names), "");
  EXPECT_EQ(suggestion(huge, names), "");
  const std::string long_name(65, 'a');
  EXPECT_EQ(nearest("aaa", std::vector<std::string_view>{long_name}), "");
  EXPECT_EQ(nearest("aaa", std::vector<std::string_view>{}), "");
  EXPECT_EQ(nearest(std::string(64, 'a'), std::vector<std::string_view>{"b"}), "b");
}

TEST(Config, says_what_calls_in_the_text_need) {
  const auto with = [](std::string_view upstream, std::string_view model) {
    return "[[upstream]]\nname = \"u\"\nurl = \"http://h/v1\"\n" + std::string(upstream) +
           "\n[[model]]\nname = \"m\"\nupstream = \"u\"\n" + std::string(model);
  };
  EXPECT_EQ(error_of(with("server = \"sglang\"", "tools = \"text\"")), "no error");
  EXPECT_THAT(error_of(with("server = \"vlm\"", "")), HasSubstr("server must be vllm, sglang"));
  EXPECT_THAT(error_of(with("", "tools = \"txt\"")), HasSubstr("native, text or prompt"));
  EXPECT_THAT(error_of(with("", "tools = \"text\"\ndialect = \"native\"")),
              HasSubstr("needs a dialect that reads calls from text"));
  EXPECT_THAT(error_of(with("wire = \"gemini\"", "tools = \"text\"")),
              HasSubstr("\"u\" speaks gemini, use tools = \"prompt\""));
}

// The configurations of docs/recipes.md.
std::vector<std::string> recipes() {
  std::ifstream file(source_path("docs/recipes.md"));
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  constexpr std::string_view kFence = "```toml\n";
  std::vector<std::string> found;
  for (std::size_t at = text.find(kFence); at != std::string::npos; at = text.find(kFence, at)) {
    at += kFence.size();
    found.push_back(text.substr(at, text.find("```", at) - at));
  }
  return found;
}

TEST(Config, every_recipe_is_valid) {
  ::setenv("OPENROUTER_API_KEY", "sk-or-test", 1);
  const std::vector<std::string> all = recipes();
  EXPECT_GE(all.size(), 8u);
  for (const std::string& recipe : all) EXPECT_EQ(error_of(recipe), "no error") << recipe;
}

TEST(ConfigText, reads_durations_and_sizes) {
  EXPECT_EQ(parse_duration("300ms"), Milliseconds(300));
  EXPECT_EQ(parse_duration("2m"), Milliseconds(120'000));
  EXPECT_EQ(parse_duration("5"), std::nullopt);
  EXPECT_EQ(parse_duration("99999999999999h"), std::nullopt);
  EXPECT_EQ(print_duration(Milliseconds(90'000)), "90s");
  EXPECT_EQ(parse_bytes("64KiB"), Bytes{65536});
  EXPECT_EQ(print_bytes(Bytes{32u << 20}), "32MiB");
}

template <class T>
void expect_documented(const std::string& docs) {
  const auto has_row = [&](const auto& field) {
    EXPECT_THAT(docs, HasSubstr("| `" + std::string(field.key) + "` |"))
        << "[" << Section<T>::name << "] " << field.key << " has no row in docs/config.md";
    EXPECT_THAT(docs, HasSubstr("| " + std::string(field.help) + " |"))
        << "docs/config.md: the help of " << field.key << " differs";
    if (field.env.empty()) return;
    EXPECT_THAT(
        docs, HasSubstr("| `" + std::string(field.env) + "` | `" + std::string(field.key) + "` |"))
        << "docs/config.md does not list " << field.env;
  };
  std::apply([&](const auto&... field) { (has_row(field), ...); }, Section<T>::fields);
}

TEST(Config, every_key_has_its_row_in_the_docs) {
  std::ifstream file(source_path("docs/config.md"));
  std::stringstream text;
  text << file.rdbuf();
  const std::string docs = text.str();
  ASSERT_FALSE(docs.empty());
  expect_documented<Config>(docs);
  expect_documented<TlsConfig>(docs);
  expect_documented<LimitsConfig>(docs);
  expect_documented<LogConfig>(docs);
  expect_documented<CorsConfig>(docs);
  expect_documented<StoreConfig>(docs);
  expect_documented<CaptureConfig>(docs);
  expect_documented<OtlpConfig>(docs);
  expect_documented<LoopConfig>(docs);
  expect_documented<RoomsConfig>(docs);
  expect_documented<ResponsesConfig>(docs);
  expect_documented<ToolTable>(docs);
  expect_documented<HookTable>(docs);
  expect_documented<KeyConfig>(docs);
  expect_documented<PriceConfig>(docs);
  expect_documented<UpstreamConfig>(docs);
  expect_documented<ModelConfig>(docs);
}

}  // namespace
}  // namespace callgate::server::config_test
