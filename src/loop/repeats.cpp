#include "loop/repeats.h"

#include <algorithm>

#include "base/sha256.h"
#include "loop/canonical.h"

namespace callgate::loop {
namespace {

// Sixteen bytes of it, as hex: enough to rule out a collision by chance, and short in a saved state.
std::string digest(std::string_view name, std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const Sha256::Digest bytes = Sha256().push_field(name).push_field(text).finish();
  std::string hex;
  for (std::size_t i = 0; i < 16; ++i) {
    hex += kDigits[bytes[i] >> 4];
    hex += kDigits[bytes[i] & 15];
  }
  return hex;
}

std::vector<State::Count> to_counts(const std::unordered_map<std::string, std::uint32_t>& counts) {
  std::vector<State::Count> out;
  for (const auto& [name, count] : counts) out.push_back({name, count});
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

}  // namespace

std::uint32_t Repeats::add_call(std::string_view name, std::string_view arguments) {
  return ++calls_[digest(name, canonical_json(arguments))];
}

std::uint32_t Repeats::add_result(std::string_view name, std::string_view text) {
  return ++results_[digest(name, text)];
}

void Repeats::load(const State& state) {
  for (const State::Count& count : state.repeated_calls) calls_[count.name] = count.count;
  for (const State::Count& count : state.repeated_results) results_[count.name] = count.count;
}

void Repeats::save(State& state) const {
  state.repeated_calls = to_counts(calls_);
  state.repeated_results = to_counts(results_);
}

}  // namespace callgate::loop
