#include "replay/call_distance.h"

#include <string>

#include "dialect/render/render.h"

namespace callgate::replay {
namespace {

std::string without_space(std::string_view text) {
  std::string dense(text);
  std::erase_if(dense, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
  return dense;
}

}  // namespace

int distance(const Dialect& dialect, const LoggedCall& call, std::string_view said) {
  const CallRecord record{
      .id = call.id, .name = call.name, .arguments = call.arguments, .extra = {}};
  std::string text;
  if (!dialect::render_calls(dialect.name, {&record, 1}, text)) return 2;
  if (said.find(text) != std::string_view::npos) return 0;
  return without_space(said).find(without_space(text)) != std::string::npos ? 1 : 2;
}

}  // namespace callgate::replay
