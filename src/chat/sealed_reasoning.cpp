#include "chat/sealed_reasoning.h"

#include "base/base64.h"
#include "json/reader.h"

namespace callgate {
namespace {

bool is_detail(std::string_view text) {
  json::Reader in(text);
  if (in.peek() != json::Kind::object) return false;
  in.skip();
  return in.finish();
}

}  // namespace

std::optional<std::string> seal_reasoning(std::string_view detail) {
  if (detail.size() > kMaxSealedReasoning) return std::nullopt;
  std::string sealed(kReasoningSeal);
  base64::append_encoded(sealed, detail);
  return sealed;
}

std::optional<std::string> unseal_reasoning(std::string_view text) {
  if (!text.starts_with(kReasoningSeal) ||
      text.size() > kReasoningSeal.size() + kMaxSealedReasoning * 4 / 3 + 4) {
    return std::nullopt;
  }
  auto detail = base64::decode(text.substr(kReasoningSeal.size()));
  if (!detail || !is_detail(*detail)) return std::nullopt;
  return detail;
}

}  // namespace callgate
