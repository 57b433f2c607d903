#include "client/openai_responses/responses_seal.h"

#include "chat/sealed_reasoning.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

constexpr std::string_view kCompaction = "callgate.compaction";

void visit_detail(const ReasoningMembers& item, std::string_view type, std::string_view field,
                  std::string_view text, FunctionRef<void(std::string_view)> visit) {
  if (!text.starts_with('"') || text == "\"\"") return;
  std::string out;
  json::ObjectWriter detail(out);
  detail.string("type", type);
  detail.raw(field, text);
  detail.string("format", kOpenaiReasoning);
  detail.integer("index", static_cast<std::int64_t>(item.index));
  detail.close();
  visit(out);
}

void visit_parts(const ReasoningMembers& item, std::string_view parts, std::string_view type,
                 std::string_view field, FunctionRef<void(std::string_view)> visit) {
  if (!parts.starts_with('[')) return;
  json::Reader in(parts);
  while (in.next_element()) {
    visit_detail(item, type, field, json::given_member(in.raw(), "text"), visit);
  }
}

}  // namespace

void each_openai_detail(const ReasoningMembers& item, FunctionRef<void(std::string_view)> visit) {
  visit_parts(item, item.summary, "reasoning.summary", "summary", visit);
  visit_parts(item, item.content, "reasoning.text", "text", visit);
  visit_detail(item, "reasoning.encrypted", "data", item.encrypted, visit);
}

std::optional<std::string> unseal_detail(std::string_view sealed) {
  auto element = unseal_reasoning(sealed);
  if (!element || json::member_text(*element, "type") == kCompaction) return std::nullopt;
  return element;
}

std::string summary_text(std::string_view parts) {
  std::string text;
  if (!parts.starts_with('[')) return text;
  json::Reader in(parts);
  while (in.next_element()) {
    const std::string part = json::member_text(in.raw(), "text");
    if (part.empty()) continue;
    if (!text.empty()) text.append("\n\n");
    text.append(part);
  }
  return text;
}

std::optional<std::string> seal_summary(std::string_view text) {
  std::string element;
  json::ObjectWriter object(element);
  object.string("type", kCompaction);
  object.string("text", text);
  object.close();
  return seal_reasoning(element);
}

std::optional<std::string> unseal_summary(std::string_view sealed) {
  const auto element = unseal_reasoning(sealed);
  if (!element || json::member_text(*element, "type") != kCompaction) return std::nullopt;
  return json::member_text(*element, "text");
}

}  // namespace callgate::client
