// Any bytes as the answer that `callgate smoke` judges, in every protocol: no crash, one verdict per rule, and the same verdicts
// however the bytes were cut.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "contract/stream_contract.h"

namespace {

using callgate::ToolSpec;
using callgate::contract::ContractTerms;
using callgate::contract::RuleVerdict;

constexpr std::string_view kFuzzMarkers[] = {"<tool_call>"};
constexpr std::string_view kFuzzSecrets[] = {"secret-0123456789"};

std::string judged(std::string_view protocol, const ContractTerms& terms, std::string_view bytes,
                   std::size_t step) {
  const auto contract = callgate::contract::make_contract(protocol, terms);
  contract->accept_head(200, protocol == "ollama" ? "application/x-ndjson" : "text/event-stream");
  for (std::size_t at = 0; at < bytes.size(); at += step) contract->push(bytes.substr(at, step));
  contract->finish();
  std::string out = contract->transcript();
  for (const RuleVerdict& verdict : contract->verdicts()) {
    CALLGATE_CHECK(!verdict.rule.empty());
    CALLGATE_CHECK(verdict.seen.find(kFuzzSecrets[0]) == std::string::npos);
    out.append(verdict.rule).append(to_string(verdict.verdict)).push_back('\n');
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ToolSpec tool = [] {
    ToolSpec made;
    made.name = "get_weather";
    made.parameters.text = R"({"type":"object","required":["city"]})";
    return made;
  }();
  ContractTerms terms;
  terms.tools = {&tool, 1};
  terms.call_expected = true;
  terms.markers = kFuzzMarkers;
  terms.secrets = kFuzzSecrets;
  if (size < 1) return 0;
  const auto protocols = callgate::contract::contract_protocols();
  const std::string_view protocol = protocols[data[0] % protocols.size()];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = judged(protocol, terms, bytes, bytes.size() + 1);
  CALLGATE_CHECK(judged(protocol, terms, bytes, 1) == whole);
  return 0;
}
