// What the loop and voices read of others: text for the sentence splitter, which no cut may change, and saved states.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/loop.h"
#include "loop/canonical.h"
#include "policy/sentence_splitter.h"

namespace {

using namespace callgate::loop;
using callgate::policy::SentenceOptions;
using callgate::policy::SentenceSplitter;

std::vector<std::string> split(std::string_view text, std::size_t step, SentenceOptions options) {
  SentenceSplitter splitter(options);
  std::vector<std::string> out;
  const auto keep = [&](std::string_view sentence) { out.emplace_back(sentence); };
  for (std::size_t at = 0; at < text.size(); at += step) splitter.push(text.substr(at, step), keep);
  splitter.flush(keep);
  return out;
}

void expect(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const SentenceOptions options{.min_characters = data[0] % 16u,
                                .max_bytes = data[0] >= 128 ? 64u : 65536u};
  const std::vector<std::string> whole = split(text, text.size() + 1, options);
  expect(split(text, 1, options) == whole);
  expect(split(text, 1 + data[1] % 32u, options) == whole);
  std::string joined;
  for (const std::string& sentence : whole) joined += sentence;
  expect(joined == text);

  const std::string canonical = canonical_json(text);
  expect(canonical_json(canonical) == canonical);
  if (const auto state = decode_state(text)) {
    const std::string encoded = encode_state(*state);
    const auto again = decode_state(encoded);
    expect(again && encode_state(*again) == encoded);
  }
  return 0;
}
