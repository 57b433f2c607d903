#include "dial/text_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "gateway/gateway.h"
#include "json/writer.h"
#include "net/client.h"
#include "net/net_testing.h"
#include "net/server.h"

namespace callgate::server::text_tools_test {
namespace {

using testing::HasSubstr;
using testing::Not;

UpstreamConfig upstream_of(std::string_view server, std::string_view wire = "openai_chat") {
  UpstreamConfig upstream;
  upstream.name = "u";
  upstream.server = server;
  upstream.wire = wire;
  return upstream;
}

TEST(TextTools, asks_each_server_in_its_own_way) {
  const struct {
    std::string_view server;
    std::string_view dialect;
    bool none;
    bool special;
  } cases[] = {
      {"", "kimi_k2", true, true},           {"", "auto", true, true},
      {"vllm", "mistral_v13", true, true},   {"vllm", "olmo3", true, false},
      {"llama_cpp", "kimi_k2", true, false}, {"sglang", "kimi_k2", false, false},
      {"ollama", "hermes", false, false},    {"lm_studio", "hermes", false, false},
  };
  for (const auto& row : cases) {
    const engine::TextTools text = text_tools_of(upstream_of(row.server), row.dialect);
    EXPECT_EQ(text.choose_none, row.none) << row.server;
    EXPECT_EQ(text.keep_special_tokens, row.special) << row.server << " " << row.dialect;
  }
  // Its wire format says that it is Ollama.
  EXPECT_FALSE(text_tools_of(upstream_of("", "ollama"), "hermes").choose_none);
}

TEST(TextTools, are_for_models_that_ask_for_them_or_upstreams_that_need_them) {
  LearnedPairs learned;
  const UpstreamConfig upstream = upstream_of("");
  ModelConfig model;
  model.name = "m";
  EXPECT_FALSE(text_tools_for(upstream, model, "hermes", learned));
  EXPECT_TRUE(learned.add("u", "m"));
  EXPECT_FALSE(learned.add("u", "m"));
  EXPECT_TRUE(text_tools_for(upstream, model, "hermes", learned));
  model.name = "other";
  EXPECT_FALSE(text_tools_for(upstream, model, "hermes", learned));
  model.tools = "text";
  EXPECT_TRUE(text_tools_for(upstream, model, "hermes", learned));
  EXPECT_FALSE(text_tools_for(upstream_of("", "gemini"), model, "hermes", learned));
  model.tools = "prompt";
  model.name = "m";
  EXPECT_FALSE(text_tools_for(upstream, model, "hermes", learned));
}

TEST(TextTools, knows_the_refusals_of_a_server_without_a_parser) {
  for (const char* message :
       {R"("auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set)",
        R"(tool_choice="required" requires --tool-call-parser to be set)",
        R"(tool_choice=function "f" requires --tool-call-parser to be set)"}) {
    EXPECT_TRUE(lacks_call_parser({.message = message, .status = 400})) << message;
    EXPECT_FALSE(lacks_call_parser({.message = message, .status = 500})) << message;
  }
  EXPECT_FALSE(lacks_call_parser({.message = "max_tokens is too large", .status = 400}));
}

constexpr std::string_view kRefusal =
    R"({"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and )"
    R"(--tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}})";
constexpr std::string_view kCall =
    "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>";

// A gateway with a model `m` at a server that was started without a parser for calls, all on one loop.
class Parserless {
 public:
  explicit Parserless(const ModelConfig& given) {
    const auto at = upstream_server_.listen({.host = "127.0.0.1"});
    EXPECT_TRUE(at);
    UpstreamConfig upstream;
    upstream.name = "stock";
    upstream.url = "http://127.0.0.1:" + std::to_string(at->port) + "/v1";
    config_.upstreams.push_back(upstream);
    ModelConfig model = given;
    model.name = "m";
    model.upstream = {"stock"};
    model.retries = 0;
    config_.models.push_back(model);
    reload();
    const auto bound = server_.listen({.host = "127.0.0.1"});
    EXPECT_TRUE(bound);
    target_ = {.host = "127.0.0.1", .port = bound->port};
  }

  void reload() {
    EXPECT_TRUE(gateway_.apply(std::make_shared<Snapshot>(config_, Access({}, nullptr))));
  }

  // Status and body.
  std::string ask(std::string_view choice = R"("auto")", bool stream = false) {
    std::string body = R"({"model":"m","messages":[{"role":"user","content":"x"}],"tools":)"
                       R"([{"type":"function","function":{"name":"f"}}],"tool_choice":)";
    body.append(choice).append(stream ? ",\"stream\":true}" : "}");
    std::string answer;
    net::run_to_end(loop_, ask_on_loop(body, answer));
    return answer;
  }

  std::string said = std::string(kCall);  // by the model
  std::vector<std::string> bodies;        // that the server got
  std::string log;

 private:
  net::Task<> serve(net::Exchange& exchange) {
    const auto body = co_await exchange.body();
    bodies.emplace_back(body ? *body : "");
    if (bodies.back().find(R"("tool_choice":"none")") == std::string::npos) {
      co_await exchange.respond(400, "application/json", kRefusal);
      co_return;
    }
    const bool stream = bodies.back().find(R"("stream":true)") != std::string::npos;
    std::string answer = stream ? "data: " : "";
    answer += R"({"id":"1","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",)";
    answer += stream ? R"("delta":)" : R"("message":)";
    answer += R"({"role":"assistant","content":)";
    json::append_string(answer, said);
    answer += stream ? "}}]}\n\ndata: [DONE]\n\n" : "}}]}";
    co_await exchange.respond(200, stream ? "text/event-stream" : "application/json", answer);
  }

  net::Task<> ask_on_loop(const std::string& body, std::string& answer) {
    net::ClientExchange exchange(client_, target_);
    net::ClientRequest request{
        .method = "POST", .path = "/v1/chat/completions", .headers = {}, .body = body};
    request.headers.add("content-type", "application/json");
    const auto sent = co_await exchange.send(request);
    if (!sent) co_return;
    auto all = co_await exchange.read_all(std::size_t{1} << 20);
    answer = std::to_string(exchange.status()) + " " + (all ? *all : "");
  }

  telemetry::Logger logger_{{.level = telemetry::LogLevel::warning,
                             .write = [this](std::string_view line) { log += line; }}};
  telemetry::Metrics metrics_;
  store::NullRequestLog requests_;
  World world_{logger_, metrics_, requests_, 100};
  Rooms rooms_;
  Config config_;
  net::Loop loop_;
  net::HttpServer upstream_server_{loop_, {}, [this](net::Exchange& e) { return serve(e); }};
  Gateway gateway_{world_, rooms_, loop_, 7};
  net::HttpServer server_{loop_, {}, [this](net::Exchange& e) { return gateway_.answer(e); }};
  net::HttpClient client_{loop_, {}};
  net::Target target_;
};

ModelConfig hermes(std::string_view tools) {
  ModelConfig model;
  model.dialect = "hermes";
  model.tools = tools;
  return model;
}

TEST(Parserless, gives_a_call_at_once_where_the_configuration_says_text) {
  Parserless gateway(hermes("text"));
  EXPECT_THAT(gateway.ask(), HasSubstr(R"("tool_calls":[)"));
  EXPECT_THAT(gateway.ask(R"("auto")", true), HasSubstr(R"("name":"f")"));
  ASSERT_EQ(gateway.bodies.size(), 2u);
  EXPECT_THAT(gateway.bodies[0], HasSubstr(R"("tools":[)"));
  EXPECT_THAT(gateway.bodies[0], HasSubstr(R"("skip_special_tokens":false)"));
  EXPECT_EQ(gateway.log, "");
}

TEST(Parserless, is_found_out_once_until_the_next_reload) {
  Parserless gateway(hermes("native"));
  EXPECT_THAT(gateway.ask(), HasSubstr(R"("tool_calls":[)"));
  EXPECT_EQ(gateway.bodies.size(), 2u) << "refused, then asked again";
  EXPECT_THAT(gateway.log, HasSubstr("tools = \"text\""));
  EXPECT_THAT(gateway.log, HasSubstr("upstream=stock"));
  gateway.log.clear();
  EXPECT_THAT(gateway.ask(R"("auto")", true), HasSubstr(R"("name":"f")"));
  EXPECT_EQ(gateway.bodies.size(), 3u) << "remembered";
  EXPECT_EQ(gateway.log, "") << "said once";
  gateway.reload();
  EXPECT_THAT(gateway.ask(), HasSubstr(R"("tool_calls":[)"));
  EXPECT_EQ(gateway.bodies.size(), 5u) << "forgotten";
}

TEST(Parserless, is_asked_once_more_for_a_call_that_must_be_made) {
  Parserless gateway(hermes("native"));
  gateway.said = "I would rather not.";
  EXPECT_THAT(gateway.ask(R"("required")"), HasSubstr("I would rather not."));
  ASSERT_EQ(gateway.bodies.size(), 3u) << "refused, answered without a call, asked again";
  EXPECT_THAT(gateway.bodies[1], HasSubstr("You must use a tool in this answer."));
}

TEST(Parserless, refuses_still_where_nobody_would_read_the_text) {
  ModelConfig native;
  native.dialect = "native";
  Parserless gateway(native);
  EXPECT_THAT(gateway.ask(), HasSubstr("400 "));
  EXPECT_EQ(gateway.bodies.size(), 1u);
  EXPECT_THAT(gateway.log, Not(HasSubstr("tools = ")));
}

}  // namespace
}  // namespace callgate::server::text_tools_test
