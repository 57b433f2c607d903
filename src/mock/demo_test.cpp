#include "mock/demo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "callgate/dialect.h"
#include "gateway/gateway_testing.h"
#include "json/reader.h"
#include "script/reply/reply_encoder.h"
#include "upstream/wire_format.h"

namespace callgate::server::demo_test {
namespace {

using testing::HasSubstr;

struct SaidCall {
  std::string id;
  std::string name;
  std::string arguments;
};

struct Answer {
  std::string text;
  std::map<std::int64_t, SaidCall> calls;
  std::string reason;
};

void read_function(json::Reader& in, SaidCall& call) {
  for (std::string_view key; in.next_member(key);) {
    if (key == "name") {
      call.name += in.string();
    } else if (key == "arguments") {
      call.arguments += in.string();
    } else {
      in.skip();
    }
  }
}

void read_calls(json::Reader& in, Answer& answer) {
  for (std::int64_t index = 0; in.next_element(); ++index) {
    SaidCall call;
    for (std::string_view key; in.next_member(key);) {
      if (key == "index") {
        index = in.integer().value_or(-1);
      } else if (key == "id") {
        call.id = in.string();
      } else if (key == "function") {
        read_function(in, call);
      } else {
        in.skip();
      }
    }
    SaidCall& all = answer.calls[index];
    all.id += call.id;
    all.name += call.name;
    all.arguments += call.arguments;
  }
}

void read_message(json::Reader& in, Answer& answer) {
  for (std::string_view key; in.next_member(key);) {
    if (key == "content" && in.peek() == json::Kind::string) {
      answer.text += in.string();
    } else if (key == "tool_calls" && in.peek() == json::Kind::array) {
      read_calls(in, answer);
    } else {
      in.skip();
    }
  }
}

// A whole answer, or one frame of a streamed one.
void read_object(std::string_view json, Answer& answer) {
  json::Reader in(json);
  for (std::string_view key; in.next_member(key);) {
    if (key != "choices") {
      in.skip();
      continue;
    }
    while (in.next_element()) {
      for (std::string_view field; in.next_member(field);) {
        if (field == "message" || field == "delta") {
          read_message(in, answer);
        } else if (field == "finish_reason" && in.peek() == json::Kind::string) {
          answer.reason += in.string();
        } else {
          in.skip();
        }
      }
    }
  }
  EXPECT_TRUE(in.finish()) << json;
}

Answer read_answer(std::string_view body, bool stream) {
  Answer answer;
  if (!stream) {
    read_object(body, answer);
    return answer;
  }
  EXPECT_TRUE(body.ends_with("data: [DONE]\n\n")) << body;
  for (std::size_t at = 0; (at = body.find("data: {", at)) != std::string_view::npos;) {
    at += 6;
    read_object(body.substr(at, body.find('\n', at) - at), answer);
  }
  return answer;
}

std::string question(std::string_view model, std::string_view text, bool stream) {
  std::string body = R"({"model":")";
  body.append(model).append(R"(","stream":)").append(stream ? "true" : "false");
  body.append(R"(,"messages":[{"role":"user","content":")").append(text);
  return body +
         R"("}],"tools":[{"type":"function","function":{"name":"get_weather","parameters":)"
         R"({"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},)"
         R"("required":["city","days"]}}},{"type":"function","function":{"name":"get_time",)"
         R"("parameters":{"type":"object","properties":{"utc":{"type":"boolean"}},)"
         R"("required":["utc"]}}}]})";
}

std::string script_file() {
  return testing::TempDir() + "callgate_demo_test." + std::to_string(::getpid());
}

// The demo models, whose replies are cut small and not paced.
Config demo_config() {
  const std::string script = script_file();
  std::ofstream(script) << "cut text 3\ncut arguments 3\ndemo\n";
  Config config;
  UpstreamConfig upstream;
  upstream.name = "demo";
  upstream.wire = "script";
  upstream.url = script;
  config.upstreams.push_back(upstream);
  for (const WireFormat* wire : upstream::all()) {
    upstream.name = "demo-" + std::string(wire->name);
    upstream.wire = wire->name;
    upstream.url = "script:" + script;
    config.upstreams.push_back(upstream);
  }
  add_demo(config);
  return config;
}

class DemoGateway {
 public:
  DemoGateway() { std::remove(script_file().c_str()); }

  // The body of a good answer, else nothing. `dialect`, if any, is what the text is read as.
  std::string ask(const std::string& body, const std::string& dialect = {}) {
    HeaderPairs headers;
    if (!dialect.empty()) headers.emplace_back("x-callgate-dialect", dialect);
    TestAnswer answer = gateway_.ask(body, headers);
    return answer.status == 200 ? std::move(answer.body) : std::string();
  }

 private:
  net::Loop loop_;
  TestGateway gateway_{loop_, demo_config()};
};

std::vector<std::string> demo_models() {
  Config config;
  add_demo(config);
  std::vector<std::string> names;
  for (const ModelConfig& model : config.models) names.push_back(model.name);
  return names;
}

TEST(Demo, has_a_model_for_every_dialect_that_writes_text_and_every_wire_format) {
  const std::vector<std::string> names = demo_models();
  // Three more, but none for native and auto; and one per wire format other than Chat Completions and those of a child.
  EXPECT_EQ(names.size(), dialect::all().size() + script::reply_formats().size() - 2);
  EXPECT_THAT(names, testing::Contains("demo-anthropic_messages"));
  EXPECT_THAT(names, testing::Contains("demo-kimi_k2"));
  EXPECT_THAT(names, testing::Contains("demo-tools"));
  EXPECT_THAT(names, testing::Contains("demo-loop"));
  EXPECT_THAT(names, testing::Not(testing::Contains("demo-native")));
}

TEST(Demo, keeps_models_that_are_configured) {
  Config config;
  ModelConfig own;
  own.name = "demo-hermes";
  own.upstream = {"mine"};
  config.models.push_back(own);
  add_demo(config);
  EXPECT_EQ(config.find_model("demo-hermes")->upstream, own.upstream);
  EXPECT_EQ(config.models.size(), demo_models().size());
}

TEST(Demo, calls_one_tool_in_every_dialect) {
  DemoGateway gateway;
  for (const std::string& model : demo_models()) {
    for (const bool stream : {false, true}) {
      const std::string body = gateway.ask(question(model, "The weather in Paris?", stream));
      ASSERT_NE(body, "") << model;
      const Answer answer = read_answer(body, stream);
      ASSERT_EQ(answer.calls.size(), 1u) << model << " " << body;
      const SaidCall& call = answer.calls.at(0);
      EXPECT_EQ(call.name, "get_weather") << model;
      EXPECT_NE(call.id, "") << model;
      EXPECT_THAT(call.arguments, HasSubstr("\"Paris\"")) << model;
      EXPECT_EQ(answer.reason, "tool_calls") << model << " " << body;
      EXPECT_EQ(answer.text, "Let me ask get_weather.") << model;
    }
  }
}

TEST(Demo, writes_calls_as_text) {
  DemoGateway gateway;
  const std::string body =
      gateway.ask(question("demo-kimi_k2", "The weather in Paris?", true), "native");
  const Answer answer = read_answer(body, true);
  EXPECT_TRUE(answer.calls.empty()) << body;
  EXPECT_THAT(answer.text, HasSubstr("<|tool_call_begin|>functions.get_weather:0"));
}

TEST(Demo, calls_both_tools_in_every_dialect_with_the_same_arguments) {
  DemoGateway gateway;
  std::string first;
  for (const std::string& model : demo_models()) {
    for (const bool stream : {false, true}) {
      const std::string body = gateway.ask(question(model, "Ask both about Paris", stream));
      const Answer answer = read_answer(body, stream);
      ASSERT_EQ(answer.calls.size(), 2u) << model << " " << body;
      EXPECT_EQ(answer.calls.at(0).name, "get_weather") << model;
      EXPECT_EQ(answer.calls.at(1).name, "get_time") << model;
      EXPECT_NE(answer.calls.at(0).id, answer.calls.at(1).id) << model;
      EXPECT_EQ(answer.reason, "tool_calls") << model;
      std::string said = answer.calls.at(0).arguments + answer.calls.at(1).arguments;
      std::erase(said, ' ');
      if (first.empty()) first = said;
      EXPECT_EQ(said, first) << model;
    }
  }
  EXPECT_THAT(first, HasSubstr(R"("days":)"));
}

}  // namespace
}  // namespace callgate::server::demo_test
