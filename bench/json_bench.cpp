// JSON on the hot path: one frame of a chat stream in, one out, and call arguments that stream past in small pieces.
#include <benchmark/benchmark.h>

#include <string>
#include <string_view>

#include "json/reader.h"
#include "json/scanner.h"
#include "json/writer.h"
#ifdef CALLGATE_BENCH_SIMDJSON
#include <simdjson.h>
#endif

namespace callgate::json {
namespace {

constexpr std::string_view kFrame =
    R"({"id":"chatcmpl-9xT3kPqLm2VbNc7RzYw8Hd1F","object":"chat.completion.chunk",)"
    R"("created":1733000000,"model":"kimi-k2-instruct","system_fingerprint":"fp_a1b2c3d4e5",)"
    R"("choices":[{"index":0,"delta":{"content":" Berlin"},"logprobs":null,"finish_reason":null}]})";

std::string_view read_delta(Reader& in) {
  std::string_view content;
  for (std::string_view key; in.next_member(key);) {
    if (key == "content") {
      content = in.string();
    } else {
      in.skip();
    }
  }
  return content;
}

std::string_view read_choice(Reader& in) {
  std::string_view content;
  for (std::string_view key; in.next_member(key);) {
    if (key == "delta") {
      content = read_delta(in);
    } else {
      in.skip();
    }
  }
  return content;
}

std::string_view read_content(Reader& in) {
  std::string_view content;
  for (std::string_view key; in.next_member(key);) {
    if (key == "choices") {
      while (in.next_element()) content = read_choice(in);
    } else {
      in.skip();
    }
  }
  return in.finish() ? content : std::string_view();
}

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
}

void reader_frame(benchmark::State& state) {
  Reader in;
  for (auto _ : state) {
    in.reset(kFrame);
    benchmark::DoNotOptimize(read_content(in));
  }
  count_bytes(state, kFrame.size());
}
BENCHMARK(reader_frame);

void reader_frame_skipped(benchmark::State& state) {
  Reader in;
  for (auto _ : state) {
    in.reset(kFrame);
    in.skip();
    benchmark::DoNotOptimize(in.finish());
  }
  count_bytes(state, kFrame.size());
}
BENCHMARK(reader_frame_skipped);

#ifdef CALLGATE_BENCH_SIMDJSON
// As a gateway would have to: bytes come from a socket without padding, and are copied to where there is some.
void simdjson_frame_copied(benchmark::State& state) {
  simdjson::ondemand::parser parser;
  std::string padded;
  padded.reserve(4096 + simdjson::SIMDJSON_PADDING);
  for (auto _ : state) {
    padded.assign(kFrame);
    simdjson::ondemand::document document = parser.iterate(padded);
    std::string_view content = document["choices"].at(0)["delta"]["content"];
    benchmark::DoNotOptimize(content);
  }
  count_bytes(state, kFrame.size());
}
BENCHMARK(simdjson_frame_copied);

void simdjson_frame_padded(benchmark::State& state) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(kFrame);
  for (auto _ : state) {
    simdjson::ondemand::document document = parser.iterate(padded);
    std::string_view content = document["choices"].at(0)["delta"]["content"];
    benchmark::DoNotOptimize(content);
  }
  count_bytes(state, kFrame.size());
}
BENCHMARK(simdjson_frame_padded);

// Visits every member, as our reader does, because an upstream may use other names and orders.
void simdjson_frame_every_member(benchmark::State& state) {
  simdjson::ondemand::parser parser;
  std::string padded;
  padded.reserve(4096 + simdjson::SIMDJSON_PADDING);
  for (auto _ : state) {
    padded.assign(kFrame);
    simdjson::ondemand::document document = parser.iterate(padded);
    std::string_view content;
    for (auto member : document.get_object()) {
      if (std::string_view(member.unescaped_key()) != "choices") continue;
      for (auto choice : member.value().get_array()) {
        for (auto part : choice.get_object()) {
          if (std::string_view(part.unescaped_key()) != "delta") continue;
          for (auto piece : part.value().get_object()) {
            if (std::string_view(piece.unescaped_key()) == "content") content = piece.value();
          }
        }
      }
    }
    benchmark::DoNotOptimize(content);
  }
  count_bytes(state, kFrame.size());
}
BENCHMARK(simdjson_frame_every_member);
#endif

void writer_frame(benchmark::State& state) {
  std::string out;
  for (auto _ : state) {
    out.clear();
    ObjectWriter frame(out);
    frame.string("id", "chatcmpl-9xT3kPqLm2VbNc7RzYw8Hd1F");
    frame.raw("object", "\"chat.completion.chunk\"");
    frame.integer("created", 1733000000);
    frame.string("model", "kimi-k2-instruct");
    std::string& choices = frame.key("choices");
    choices += "[";
    ObjectWriter choice(choices);
    choice.integer("index", 0);
    ObjectWriter delta(choice.key("delta"));
    delta.string("content", " Berlin");
    delta.close();
    choice.null("finish_reason");
    choice.close();
    choices += "]";
    frame.close();
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, out.size());
}
BENCHMARK(writer_frame);

void writer_escape(benchmark::State& state, std::string_view piece) {
  std::string text;
  while (text.size() < 4096) text += piece;
  std::string out;
  for (auto _ : state) {
    out.clear();
    append_escaped(out, text);
    benchmark::DoNotOptimize(out.data());
  }
  count_bytes(state, text.size());
}
BENCHMARK_CAPTURE(writer_escape, plain, "A sentence in plain words, without anything special. ");
BENCHMARK_CAPTURE(writer_escape, arguments, R"({"city": "Paris", "unit": "celsius"} )");
BENCHMARK_CAPTURE(writer_escape, chinese, "巴黎今天的天气怎么样？");

std::string arguments(std::size_t size, std::string_view filling) {
  std::string text = R"({"path": "src/main.cpp", "content": ")";
  while (text.size() < size) text += filling;
  return text + R"("})";
}

void scanner(benchmark::State& state, std::string_view filling) {
  const std::string text = arguments(64 << 10, filling);
  const auto piece = state.range(0) == 0 ? text.size() : static_cast<std::size_t>(state.range(0));
  std::size_t pushes = 0;
  for (auto _ : state) {
    Scanner scanner;
    std::size_t held = 0;
    for (std::size_t at = 0; at < text.size(); at += piece, ++pushes) {
      scanner.push(std::string_view(text).substr(at, piece));
      held += scanner.unsafe_tail();
    }
    benchmark::DoNotOptimize(held);
    if (scanner.state() != Scanner::State::closed) state.SkipWithError("not closed");
  }
  count_bytes(state, text.size());
  state.counters["per_push"] = benchmark::Counter(
      static_cast<double>(pushes), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(scanner, prose, "plain words without anything special ")->Arg(4)->Arg(16)->Arg(0);
BENCHMARK_CAPTURE(scanner, code, R"(  if (a == \"b\") {\n    return c;\n  }\n)")->Arg(4)->Arg(0);
BENCHMARK_CAPTURE(scanner, chinese, "巴黎今天的天气怎么样？")->Arg(4)->Arg(0);
BENCHMARK_CAPTURE(scanner, numbers, R"(", "n": [1, 22.5, -3e7, true, null], "t": ")")
    ->Arg(4)
    ->Arg(0);

}  // namespace
}  // namespace callgate::json

BENCHMARK_MAIN();
