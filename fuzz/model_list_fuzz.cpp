// Lists of models are foreign bytes: whatever comes, what is read of them has names and is bounded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "upstream/model_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using callgate::upstream::kMostModels;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const char* wire : {"openai_chat", "anthropic_messages", "ollama", "gemini", "qwen_web"}) {
    const auto models = callgate::upstream::read_model_list(wire, body);
    if (!models) continue;
    if (models->size() > kMostModels) std::abort();
    for (const auto& model : *models) {
      if (model.id.empty()) std::abort();
    }
  }
  return 0;
}
