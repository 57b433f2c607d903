// The contract of protocols whose frames are whole objects: the Gemini API and Ollama's. A call stands in one of them with its
// arguments as an object, and the last one says how the turn ended.
//
//   data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"get_weather","args":{"city":"Paris"}}}],...
//   {"model":"m","message":{"role":"assistant","tool_calls":[{"function":{"name":"get_weather","arguments":{...}}}]},...
#pragma once

#include <memory>

#include "contract/stream_contract.h"

namespace callgate::contract {

struct ObjectRule {
  std::string_view name;
  std::string_view asks;  // one sentence
};
// In the order of their verdicts.
std::span<const ObjectRule> object_rules();

std::unique_ptr<StreamContract> make_gemini_contract(const ContractTerms& terms);
std::unique_ptr<StreamContract> make_ollama_contract(const ContractTerms& terms);

}  // namespace callgate::contract
