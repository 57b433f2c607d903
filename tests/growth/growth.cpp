// What work costs as it grows: encoders, decoders, protocols, the prompt renderer, dialects, session identities, the demo model
// and the tool loop, each with n and with 4n of something that a client or a model may send many of.
//
//   valgrind --tool=callgrind --instr-atstart=no build/dev/tests/callgate_growth [part of a name]
//
// counts the instructions of each case; check.py runs that and compares. Nothing is measured outside of valgrind.
#include <valgrind/callgrind.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/dialect.h"
#include "callgate/loop.h"
#include "callgate/pipeline.h"
#include "chat/message_json.h"
#include "client/protocol.h"
#include "dialect/render/render.h"
#include "engine/prepare_request.h"
#include "odd_cases.h"
#include "script/demo_model.h"
#include "script/reply/reply_encoder.h"
#include "session/conversation_identity.h"
#include "upstream/wire_format.h"

namespace callgate {
namespace {

// Prepares what is not counted, and gives what is.
using Work = std::function<void()>;
using Case = std::function<Work(std::size_t n)>;

std::size_t sink = 0;  // results go here, so that no compiler leaves them out

std::string number(std::string_view prefix, std::size_t i) {
  return std::string(prefix) + std::to_string(i);
}

CallRecord call(std::size_t i, std::size_t tools = 1) {
  return {number("call_", i),
          number("tool_", i % tools),
          R"({"city": "Paris", "n": )" + std::to_string(i) + "}",
          {}};
}

Message result(std::size_t i) {
  Message message{.role = Role::tool, .content = {"\"sunny " + std::to_string(i) + "\""}};
  message.tool_call_id = number("call_", i);
  return message;
}

ToolSpec tool(std::size_t i) {
  return {
      .name = number("tool_", i),
      .description = "Looks something up.",
      .parameters =
          {R"({"type":"object","properties":{"city":{"type":"string"},"n":{"type":"integer"}}})"},
      .extra = {},
      .outer_extra = {}};
}

Request question() {
  Request request;
  request.model = "m";
  request.stream = true;
  request.extra.push_back({"max_tokens", {"100"}});
  request.messages.push_back({.role = Role::user, .content = {"\"Where is it sunny?\""}});
  request.tools.push_back(tool(0));
  return request;
}

// What a conversation may have many of.
struct Shape {
  std::string_view name;
  Request (*make)(std::size_t n);
};

Request with_rounds(std::size_t n) {
  Request request = question();
  for (std::size_t i = 0; i < n; ++i) {
    request.messages.push_back({.role = Role::assistant, .content = {"\"I look.\""}});
    request.messages.back().calls.push_back(call(i));
    request.messages.push_back(result(i));
  }
  request.messages.push_back({.role = Role::user, .content = {"\"And now?\""}});
  return request;
}

Request with_calls(std::size_t n) {
  Request request = question();
  request.messages.push_back({.role = Role::assistant, .content = {"\"I look.\""}});
  for (std::size_t i = 0; i < n; ++i) request.messages.back().calls.push_back(call(i));
  for (std::size_t i = 0; i < n; ++i) request.messages.push_back(result(i));
  return request;
}

Request with_tools(std::size_t n) {
  Request request = question();
  for (std::size_t i = 1; i < n; ++i) request.tools.push_back(tool(i));
  return request;
}

Request with_parts(std::size_t n) {
  Request request = question();
  std::string parts = "[";
  for (std::size_t i = 0; i < n; ++i) {
    parts += (i == 0 ? "" : ",") + std::string(R"({"type":"text","text":"part"})");
  }
  request.messages.back().content.text = parts + "]";
  return request;
}

constexpr Shape kShapes[] = {
    {"rounds", with_rounds}, {"calls", with_calls}, {"tools", with_tools}, {"parts", with_parts}};

std::string body_for(const WireFormat& wire, const Request& request) {
  EncodeOptions options;
  options.model = "m";
  auto encoded = wire.encode(request, options);
  return encoded ? std::move(encoded->body) : std::string();
}

// A stream of that wire format with n calls of n tools, or n pieces of text.
std::string stream_of(std::string_view wire, std::size_t n, bool calls) {
  const script::ReplyFormat* format = script::find_reply_format(wire);
  if (format == nullptr) return {};
  const script::Faults faults{};
  script::ReplyIdentity identity;
  identity.id = "x";
  identity.model = "m";
  identity.place = {"chat", "parent", "response"};
  const auto encoder = format->make_encoder(identity, faults);
  script::Tape tape;
  for (CallIndex i = 0; i < n; ++i) {
    if (!calls || !format->call_dialect.empty()) {
      encoder->push(0, TextDelta{"word "}, tape);
      continue;
    }
    const CallRecord made = call(i, n);
    encoder->push(0, CallStarted{i, made.name, made.id}, tape);
    encoder->push(0, ArgumentsDelta{i, made.arguments}, tape);
    encoder->push(0, CallFinished{i, CallOutcome::complete}, tape);
  }
  encoder->push(0, TurnFinished{calls ? FinishReason::tool_calls : FinishReason::stop}, tape);
  encoder->end(true, tape);
  return std::move(tape).finish({}, true).bytes;
}

Work read_stream(std::string_view wire, const Protocol& protocol, Request asked,
                 std::string stream) {
  auto request = std::make_shared<Request>(std::move(asked));
  auto bytes = std::make_shared<std::string>(std::move(stream));
  PipelineOptions options;
  options.wire = wire;
  options.protocol = protocol.name;
  options.dialect = dialect::find("auto");
  options.policy.dedupe_calls = true;
  options.policy.tool_call_max = 0;
  options.keep = std::size_t{1} << 30;
  options.max_body = std::size_t{1} << 30;
  return [request, bytes, options] {
    auto pipeline = Pipeline::make(*request, options);
    std::string out;
    for (std::size_t at = 0; at < bytes->size(); at += 4096) {
      pipeline->push(std::string_view(*bytes).substr(at, 4096), out);
    }
    pipeline->finish(out);
    sink += out.size() + pipeline->kept().events.size();
  };
}

Work answer(std::string_view wire, const Protocol& protocol, std::size_t n, bool calls,
            bool stream) {
  Request request = with_tools(calls ? n : 1);
  request.stream = stream;
  return read_stream(wire, protocol, std::move(request), stream_of(wire, n, calls));
}

// `text` n times, with the number for each `@`, and `between` them.
std::string times(std::size_t n, std::string_view text, std::string_view between = "") {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) out += between;
    for (const char c : text) out += c == '@' ? std::to_string(i) : std::string(1, c);
  }
  return out;
}

// One frame with n members of a choice that nobody knows.
Work unknown_members(std::size_t n) {
  auto request = std::make_shared<Request>(question());
  auto frame = std::make_shared<std::string>(
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}");
  for (std::size_t i = 0; i < n; ++i) *frame += number(",\"member_", i) + "\":1";
  *frame += "}]}\n\ndata: [DONE]\n\n";
  return [request, frame] {
    auto pipeline = Pipeline::make(*request, {});
    std::string out;
    pipeline->push(*frame, out);
    pipeline->finish(out);
    sink += out.size();
  };
}

class Nobody final : public loop::ClientSink {
 public:
  void accept(const Event&) override { ++sink; }
  void notice(const loop::Notice&) override { ++sink; }
};

// One turn with n calls, each of which runs, or is refused by a limit.
Work loop_turn(std::size_t n, bool limits) {
  loop::Options options;
  if (!limits) {
    options.max_calls = options.max_calls_per_tool = options.calls_per_round = 0;
    options.max_calls_read = 0;
    options.max_turn_bytes = 0;
  }
  options.show_tool_calls = true;
  Request request = question();
  request.tools.clear();
  return [options, request, n] {
    Nobody nobody;
    loop::Tool known;
    known.spec = tool(0);
    auto machine = loop::ToolLoop::make(request, options, {known}, nobody);
    machine->start(0);
    std::vector<loop::RunId> running;
    const auto perform = [&] {
      for (const loop::Action& action : machine->take_actions()) {
        if (const auto* run = std::get_if<loop::RunTool>(&action)) running.push_back(run->run);
      }
      sink += machine->approvals().size() + (machine->deadline() ? 1u : 0u);
    };
    perform();
    for (CallIndex i = 0; i < n; ++i) {
      const CallRecord made = call(i);
      machine->accept(CallStarted{i, made.name, made.id});
      machine->accept(ArgumentsDelta{i, made.arguments});
      machine->accept(CallFinished{i, CallOutcome::complete});
      perform();
    }
    machine->accept(TurnFinished{FinishReason::tool_calls});
    perform();
    for (std::size_t i = 0; i < running.size(); ++i) {
      machine->finish_run(running[i], {.text = number("result ", i)}, 1);
      perform();
    }
  };
}

// n answers that ended with calls for the client come back with their results.
Work loop_legs(std::size_t n) {
  auto request = std::make_shared<Request>(with_rounds(n));
  loop::State state;
  for (std::size_t i = 0; i < n; ++i) {
    loop::State::Leg& leg = state.legs.emplace_back();
    leg.messages.push_back({.role = Role::assistant, .content = {"null"}});
    leg.messages.back().calls = {call(i), call(n + i)};
    leg.results.push_back(result(n + i));
  }
  return [request, state] {
    Nobody nobody;
    auto machine = loop::ToolLoop::make(*request, {}, {}, nobody, {}, state);
    machine->start(0);
    sink += machine->take_actions().size();
  };
}

Work render_and_parse(const Dialect& dialect, std::size_t n) {
  auto request = std::make_shared<Request>(with_tools(16));
  std::vector<CallRecord> calls;
  for (std::size_t i = 0; i < n; ++i) calls.push_back(call(i, 16));
  return [&dialect, request, calls] {
    std::string text;
    dialect::render_calls(dialect.name, calls, text);
    Nobody nobody;
    const auto parser = dialect.make({.tools = request->tools});
    for (std::size_t at = 0; at < text.size(); at += 64) {
      parser->push(std::string_view(text).substr(at, 64), Channel::text, nobody);
    }
    parser->finish(nobody);
  };
}

using Cases = std::vector<std::pair<std::string, Case>>;

// Of a turn, with a name for the model where the path has one.
std::string path_of(const Protocol& protocol) {
  for (const Endpoint& endpoint : protocol.endpoints) {
    if (endpoint.kind != Endpoint::Kind::turn) continue;
    std::string path(endpoint.path);
    if (const std::size_t star = path.find('*'); star != std::string::npos)
      path.replace(star, 1, "m");
    return path;
  }
  return {};
}

void add_requests(Cases& cases) {
  for (const Shape& shape : kShapes) {
    const auto name = [&](std::string_view what, std::string_view who) {
      return std::string(what) + " " + std::string(who) + " " + std::string(shape.name);
    };
    for (const WireFormat* wire : upstream::all()) {
      cases.emplace_back(name("encode", wire->name), [wire, &shape](std::size_t n) -> Work {
        return [wire, request = shape.make(n)] { sink += body_for(*wire, request).size(); };
      });
    }
    for (const Protocol* protocol : client::all()) {
      // Upstreams of the same name speak what these clients speak. Completions have one prompt and nothing that grows.
      const WireFormat* wire = upstream::find(protocol->name);
      if (wire == nullptr) continue;
      cases.emplace_back(
          name("protocol", protocol->name), [protocol, wire, &shape](std::size_t n) -> Work {
            return [protocol, path = path_of(*protocol), body = body_for(*wire, shape.make(n))] {
              const auto request = protocol->decode({.body = body, .path = path});
              sink += request ? request->messages.size() : 0;
              if (!request) std::printf("%s\n", request.error().message.c_str());
            };
          });
    }
    for (const std::string_view dialect : {"hermes", "qwen3_coder"}) {
      cases.emplace_back(name("prompt", dialect), [dialect, &shape](std::size_t n) -> Work {
        engine::RequestRules rules;
        rules.prompt_dialect = dialect;
        return [rules, request = shape.make(n)] {
          sink += engine::prepare_request(request, rules).messages.size();
        };
      });
    }
    cases.emplace_back(name("request", "mistral_ids"), [&shape](std::size_t n) -> Work {
      engine::RequestRules rules;
      rules.call_ids = engine::CallIdForm::mistral;
      return [rules, request = shape.make(n)] {
        sink += engine::prepare_request(request, rules).messages.size();
      };
    });
    cases.emplace_back(name("session", "identify"), [&shape](std::size_t n) -> Work {
      return [request = shape.make(n)] { sink += server::identify(request, {}).answered; };
    });
    cases.emplace_back(name("demo", "model"), [&shape](std::size_t n) -> Work {
      return [request = shape.make(n)] { sink += script::demo_turn(request).size(); };
    });
  }
}

void add_answers(Cases& cases) {
  const auto add = [&](std::string_view wire, const Protocol& protocol) {
    for (const bool calls : {true, false}) {
      for (const bool stream : {true, false}) {
        std::string name = "answer " + std::string(wire) + " > " + std::string(protocol.name);
        name += calls ? " calls" : " text";
        if (!stream) name += " whole";
        cases.emplace_back(std::move(name), [=, &protocol](std::size_t n) {
          return answer(wire, protocol, n, calls, stream);
        });
      }
    }
  };
  for (const WireFormat* wire : upstream::all()) add(wire->name, *client::all().front());
  for (const Protocol* protocol : client::all().subspan(1)) add("openai_chat", *protocol);
}

void add_odd_answers(Cases& cases) {
  for (const OddAnswer& odd : kOddAnswers) {
    for (const Protocol* protocol : client::all()) {
      for (const bool stream : {true, false}) {
        std::string name = "answer " + std::string(odd.wire) + " > " + std::string(protocol->name) +
                           " " + std::string(odd.name) + (stream ? "" : " whole");
        cases.emplace_back(std::move(name), [=, &odd](std::size_t n) {
          Request request = question();
          request.stream = stream;
          return read_stream(odd.wire, *protocol, std::move(request),
                             std::string(odd.begin) + times(n, odd.each) + std::string(odd.end));
        });
      }
    }
  }
}

void add_odd_bodies(Cases& cases) {
  for (const OddBody& odd : kOddBodies) {
    const Protocol* protocol = client::find(odd.protocol);
    std::string name = "body " + std::string(odd.protocol) + " " + std::string(odd.name);
    cases.emplace_back(std::move(name), [=, &odd](std::size_t n) -> Work {
      std::string body = std::string(odd.begin) + times(n, odd.each, ",") + std::string(odd.end);
      return [protocol, body = std::move(body), path = path_of(*protocol)] {
        const auto request = protocol->decode({.body = body, .path = path});
        if (!request) return (void)std::printf("%s\n", request.error().message.c_str());
        for (const WireFormat* wire : upstream::all()) sink += body_for(*wire, *request).size();
      };
    });
  }
}

Cases all_cases() {
  Cases cases;
  add_requests(cases);
  add_answers(cases);
  add_odd_answers(cases);
  add_odd_bodies(cases);
  for (const Dialect* dialect : dialect::all()) {
    if (dialect::writes_calls_as_text(dialect->name)) {
      cases.emplace_back("dialect " + std::string(dialect->name) + " calls",
                         [dialect](std::size_t n) { return render_and_parse(*dialect, n); });
    }
    cases.emplace_back("dialect " + std::string(dialect->name) + " tools",
                       [dialect](std::size_t n) -> Work {
                         return [dialect, request = with_tools(n)] {
                           sink += dialect->make({.tools = request.tools}) != nullptr ? 1u : 0u;
                         };
                       });
  }
  cases.emplace_back("answer unknown members", unknown_members);
  cases.emplace_back("loop calls", [](std::size_t n) { return loop_turn(n, false); });
  cases.emplace_back("loop calls limited", [](std::size_t n) { return loop_turn(n, true); });
  cases.emplace_back("loop legs", loop_legs);
  return cases;
}

}  // namespace
}  // namespace callgate

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  for (const auto& [name, make] : callgate::all_cases()) {
    if (name.find(wanted) == std::string::npos) continue;
    for (const std::size_t n : {std::size_t{500}, std::size_t{2000}}) {
      const callgate::Work work = make(n);
      const std::string label = name + "|" + std::to_string(n);
      CALLGRIND_START_INSTRUMENTATION;
      CALLGRIND_ZERO_STATS;
      work();
      CALLGRIND_DUMP_STATS_AT(label.c_str());
      CALLGRIND_STOP_INSTRUMENTATION;
    }
  }
  return callgate::sink == 0 ? 1 : 0;
}
