// What a turn costs between the client's bytes and the client's bytes: a whole answer of 1 KB and one frame of a stream, for the
// three protocols that most clients speak, with and without tools.
//
//   valgrind --tool=callgrind --instr-atstart=no build/run/tests/cost/callgate_cost
//
// counts the instructions; the allocations are counted here. check.py runs that and compares with expected.tsv.
#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "callgate/dialect.h"
#include "callgate/pipeline.h"
#include "client/protocol.h"
#include "upstream/wire_format.h"

namespace {

std::size_t allocations = 0;

void* counted(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace callgate {
namespace {

constexpr int kWarmUp = 20;  // not counted: it fills what is used again
constexpr int kTimes = 100;

std::size_t sink = 0;  // results go here, so that no compiler leaves them out

// What one of the protocols asks.
struct Question {
  std::string_view protocol;
  std::string_view begin;
  std::string_view tools;
};

constexpr Question kQuestions[] = {
    {"openai_chat", R"({"model":"m","messages":[{"role":"user","content":"Say a kilobyte."}])",
     R"(,"tools":[{"type":"function","function":{"name":"weather","description":"Looks it up.",)"
     R"("parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}])"},
    {"openai_responses", R"({"model":"m","input":"Say a kilobyte.")",
     R"(,"tools":[{"type":"function","name":"weather","description":"Looks it up.",)"
     R"("parameters":{"type":"object","properties":{"city":{"type":"string"}}}}])"},
    {"anthropic_messages",
     R"({"model":"m","max_tokens":2000,"messages":[{"role":"user","content":"Say a kilobyte."}])",
     R"(,"tools":[{"name":"weather","description":"Looks it up.",)"
     R"("input_schema":{"type":"object","properties":{"city":{"type":"string"}}}}])"},
};

std::string body_of(const Question& question, bool tools, bool stream) {
  std::string body(question.begin);
  if (tools) body += question.tools;
  if (stream) body += R"(,"stream":true)";
  return body + "}";
}

std::string whole_answer() {
  std::string text;
  while (text.size() < 1024)
    text += "Sixty-four bytes of text make sixteen times one whole kilobyte. ";
  return R"({"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,)"
         R"("message":{"role":"assistant","content":")" +
         text +
         R"(","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,)"
         R"("completion_tokens":256,"total_tokens":265,"prompt_tokens_details":{"cached_tokens":0},)"
         R"("completion_tokens_details":{"reasoning_tokens":0}}})";
}

std::string frame(std::string_view delta) {
  return R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m",)"
         R"("system_fingerprint":"fp","choices":[{"index":0,"delta":)" +
         std::string(delta) + R"(,"logprobs":null,"finish_reason":null}]})" + "\n\n";
}

const Dialect* automatic() { return dialect::find("auto"); }

Request decode(const Protocol& protocol, std::string_view body) {
  auto request = protocol.decode({.body = body});
  if (!request) {
    std::fprintf(stderr, "%s\n", request.error().message.c_str());
    std::exit(2);
  }
  return std::move(*request);
}

PipelineOptions options_for(const Protocol& protocol) {
  PipelineOptions options;
  options.protocol = protocol.name;
  options.dialect = automatic();
  options.dialect_is_default = true;
  options.id_seed = 7;
  return options;
}

// Decodes a request, encodes it for an upstream and writes its answer.
void run_whole(const Protocol& protocol, std::string_view body, std::string_view answer) {
  const Request request = decode(protocol, body);
  const auto encoded = upstream::find("openai_chat")->encode(request, {.model = "m", .key = "k"});
  sink += encoded->body.size();
  auto pipeline = Pipeline::make(request, options_for(protocol));
  std::string out;
  pipeline->push(answer, out);
  pipeline->finish(out);
  sink += out.size();
}

void count(const std::string& name, const std::function<void()>& once) {
  for (int i = 0; i < kWarmUp; ++i) once();
  const std::size_t before = allocations;
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  for (int i = 0; i < kTimes; ++i) once();
  CALLGRIND_DUMP_STATS_AT(name.c_str());
  CALLGRIND_STOP_INSTRUMENTATION;
  std::printf("%s\t%zu\t%d\n", name.c_str(), allocations - before, kTimes);
}

void count_whole(const Question& question, bool tools) {
  const Protocol& protocol = *client::find(question.protocol);
  const std::string body = body_of(question, tools, false);
  const std::string answer = whole_answer();
  count(std::string(question.protocol) + " whole" + (tools ? " tools" : ""),
        [&] { run_whole(protocol, body, answer); });
}

void count_frames(const Question& question, bool tools) {
  const Protocol& protocol = *client::find(question.protocol);
  const Request request = decode(protocol, body_of(question, tools, true));
  auto pipeline = Pipeline::make(request, options_for(protocol));
  std::string out;
  pipeline->push(frame(R"({"role":"assistant","content":""})"), out);
  const auto push = [&](std::string_view bytes) {
    out.clear();
    pipeline->push(bytes, out);
    sink += out.size();
  };
  const std::string name = std::string(question.protocol) + " frame" + (tools ? " tools" : "");
  const std::string word = frame(R"({"content":"word "})");
  count(name, [&] { push(word); });
  if (!tools) return;
  push(frame(R"({"tool_calls":[{"index":0,"id":"call_1","type":"function",)"
             R"("function":{"name":"weather","arguments":"{\"city\":\""}}]})"));
  const std::string piece =
      frame(R"({"tool_calls":[{"index":0,"function":{"arguments":"word "}}]})");
  count(name + " arguments", [&] { push(piece); });
}

}  // namespace
}  // namespace callgate

int main() {
  std::printf("%s\n", __VERSION__);
  for (const callgate::Question& question : callgate::kQuestions) {
    for (const bool tools : {false, true}) {
      callgate::count_whole(question, tools);
      callgate::count_frames(question, tools);
    }
  }
  return callgate::sink == 0 ? 1 : 0;
}
