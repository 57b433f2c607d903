// What dialect parsers cost: bytes per second by size of push and of arguments, allocations per push, and the most that
// was ever held back. Run with --benchmark_filter=hermes to look at one dialect.
//
// Each dialect's sample is its golden case `single`, with the argument's text grown.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "callgate/dialect.h"
#include "dialect/output.h"
#include "json/reader.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace callgate {
namespace {

class CountingSink final : public EventSink {
 public:
  void accept(const Event& event) override {
    if (const auto* delta = std::get_if<ArgumentsDelta>(&event)) bytes_ += delta->bytes.size();
    ++events_;
  }
  std::uint64_t events() const { return events_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t events_ = 0;
  std::uint64_t bytes_ = 0;
};

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The input of a golden case, empty when it has none.
std::string golden_input(std::string_view dialect, std::string_view name) {
  const std::string here = __FILE__;
  const std::string text = read_text(here.substr(0, here.rfind('/')) + "/../golden/dialect/" +
                                     std::string(dialect) + ".golden");
  const std::size_t at = text.find(std::string("=== ").append(name).append("\n"));
  const std::size_t in = text.find("--- in\n", at);
  const std::size_t out = text.find("\n--- out", at);
  if (at == std::string::npos || in > out) return {};
  return text.substr(in + 7, out - in - 7);
}

// The single-call sample with its city grown to `size` bytes.
std::string sample(std::string_view dialect, std::size_t size) {
  std::string text = golden_input(dialect, "single");
  const std::size_t at = text.find("Paris");
  if (at == std::string::npos) return {};
  constexpr std::string_view kLine = "The quick brown fox jumps over 13 lazy dogs, twice a day. ";
  std::string value;
  while (value.size() < size) value += kLine;
  return text.replace(at, 5, value);
}

void run(benchmark::State& state, const Dialect& dialect, std::size_t size, std::size_t step) {
  const std::string text = sample(dialect.name, size);
  if (text.empty()) {
    state.SkipWithError("no sample");
    return;
  }
  const std::vector<ToolSpec> tools = {
      {.name = "get_weather",
       .parameters = {R"({"type":"object","properties":{"city":{"type":"string"}}})"}}};
  const std::size_t pushes = (text.size() + step - 1) / step;
  std::uint64_t allocated = 0;
  std::size_t held = 0;
  for (auto _ : state) {
    CountingSink sink;
    const auto parser = dialect.make({.tools = tools, .commit = dialect.commit});
    const auto* audited = dynamic_cast<const dialect::AuditedParser*>(parser.get());
    const std::uint64_t before = allocations.load(std::memory_order_relaxed);
    for (std::size_t at = 0; at < text.size(); at += step) {
      parser->push(std::string_view(text).substr(at, step), Channel::text, sink);
      if (audited != nullptr) held = std::max(held, audited->held_size());
    }
    parser->finish(sink);
    allocated += allocations.load(std::memory_order_relaxed) - before;
    benchmark::DoNotOptimize(sink.bytes());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.counters["alloc/push"] =
      static_cast<double>(allocated) / static_cast<double>(state.iterations() * pushes);
  state.counters["held"] = static_cast<double>(held);
}

// Text without a call.
std::string prose(std::size_t size) {
  constexpr std::string_view kLine = "The quick brown fox jumps over 13 lazy dogs, twice a day.\n";
  std::string text;
  while (text.size() < size) text += kLine;
  return text;
}

bool parse_times(std::string_view name, const std::string& text, std::size_t times) {
  const Dialect* const dialect = dialect::find(name);
  if (dialect == nullptr || text.empty()) return false;
  const std::vector<ToolSpec> tools = {
      {.name = "get_weather",
       .parameters = {R"({"type":"object","properties":{"city":{"type":"string"}}})"}}};
  CountingSink sink;
  for (std::size_t i = 0; i < times; ++i) {
    // No limit in between: beyond it a dialect that holds a call back would go on at another price.
    const auto parser = dialect->make(
        {.tools = tools, .commit = dialect->commit, .max_held_back = 2 * text.size()});
    for (std::size_t at = 0; at < text.size(); at += 64) {
      parser->push(std::string_view(text).substr(at, 64), Channel::text, sink);
    }
    parser->finish(sink);
  }
  return times == 0 || sink.events() > 0;
}

void register_all() {
  constexpr std::size_t kSizes[] = {1 << 10, 100 << 10, 10 << 20};
  for (const Dialect* dialect : dialect::all()) {
    if (sample(dialect->name, 1).empty()) continue;
    for (const std::size_t size : kSizes) {
      for (const std::size_t step : {std::size_t{4}, std::size_t{64}, size * 2}) {
        const std::string name = std::string(dialect->name) + "/" + std::to_string(size >> 10) +
                                 "KB/" + (step > size ? "whole" : std::to_string(step));
        benchmark::RegisterBenchmark(
            name.c_str(), [=](benchmark::State& state) { run(state, *dialect, size, step); });
      }
    }
  }
}

}  // namespace
}  // namespace callgate

int main(int argc, char** argv) {
  // TIMES parses of a call, or of prose, of BYTES, for a tool that counts instructions:
  // dialect_bench parse|prose DIALECT BYTES TIMES
  if (argc == 5) {
    const auto number = [&](int at) { return std::strtoull(argv[at], nullptr, 10); };
    const bool call = std::string_view(argv[1]) == "parse";
    const std::string text =
        call ? callgate::sample(argv[2], number(3)) : callgate::prose(number(3));
    return callgate::parse_times(argv[2], text, number(4)) ? 0 : 1;
  }
  benchmark::Initialize(&argc, argv);
  callgate::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
