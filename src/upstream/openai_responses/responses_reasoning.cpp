#include "upstream/openai_responses/responses_reasoning.h"

#include <algorithm>
#include <utility>

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

void append_detail(std::string& out, const ResponsesItem& item, std::size_t index,
                   std::string_view type, std::string_view field, std::string_view text) {
  if (text.empty()) return;
  if (out.back() != '[') out.push_back(',');
  json::ObjectWriter detail(out);
  detail.string("type", type);
  detail.string(field, text);
  if (!item.id.empty()) detail.string("id", item.id.view());
  detail.string("format", kResponsesReasoning);
  detail.integer("index", static_cast<std::int64_t>(index));
  detail.close();
}

// The details of one item, in the order in which they came.
struct Gathered {
  std::string id;  // JSON
  std::int64_t index = 0;
  std::string summary;
  std::string content;
  std::string encrypted;  // JSON
};

void append_part(std::string& out, std::string_view type, std::string_view text) {
  if (!out.empty()) out.push_back(',');
  json::ObjectWriter part(out);
  part.string("type", type);
  part.raw("text", text);
  part.close();
}

void gather(std::string_view detail, Gathered& item) {
  const std::string_view type = json::given_member(detail, "type");
  const auto text_in = [&](std::string_view name) {
    const std::string_view text = json::given_member(detail, name);
    return text.starts_with('"') ? text : std::string_view("\"\"");
  };
  if (type == "\"reasoning.summary\"") {
    append_part(item.summary, "summary_text", text_in("summary"));
  } else if (type == "\"reasoning.text\"") {
    append_part(item.content, "reasoning_text", text_in("text"));
  } else if (type == "\"reasoning.encrypted\"") {
    item.encrypted = text_in("data");
  }
}

// An item that is not sealed and shows no text is one that the upstream would have to remember.
void add_item(const Gathered& gathered, std::vector<ReasoningParam>& items) {
  if (gathered.encrypted.empty() && gathered.content.empty()) return;
  ReasoningParam made{.index = gathered.index};
  json::ObjectWriter item(made.json);
  item.string("type", "reasoning");
  if (!gathered.id.empty()) item.raw("id", gathered.id);
  item.raw("summary", "[" + gathered.summary + "]");
  if (!gathered.content.empty()) item.raw("content", "[" + gathered.content + "]");
  if (!gathered.encrypted.empty()) item.raw("encrypted_content", gathered.encrypted);
  item.close();
  items.push_back(std::move(made));
}

std::int64_t index_in(std::string_view detail) {
  json::Reader in(json::given_member(detail, "index"));
  return in.peek() == json::Kind::number ? in.integer().value_or(0) : 0;
}

}  // namespace

std::string reasoning_details_of(const ResponsesItem& item, std::size_t index) {
  const bool shows_text = std::any_of(item.content.begin(), item.content.end(),
                                      [](const auto& part) { return !part.text.empty(); });
  if (item.encrypted.empty() && !shows_text) return {};
  std::string out = "[";
  for (const ResponsesPart& part : item.summary) {
    append_detail(out, item, index, "reasoning.summary", "summary", part.text.view());
  }
  for (const ResponsesPart& part : item.content) {
    append_detail(out, item, index, "reasoning.text", "text", part.text.view());
  }
  append_detail(out, item, index, "reasoning.encrypted", "data", item.encrypted.view());
  out.push_back(']');
  return out;
}

std::vector<ReasoningParam> reasoning_items(const Message& message) {
  std::vector<ReasoningParam> items;
  const std::string_view details = find_field(message.extra, "reasoning_details");
  if (details.empty()) return items;
  json::Reader in(details);
  if (in.peek() != json::Kind::array) return items;
  Gathered open;
  while (in.next_element()) {
    const std::string_view detail = in.raw();
    if (json::given_member(detail, "format") != "\"" + std::string(kResponsesReasoning) + "\"")
      continue;
    const std::string_view id = json::given_member(detail, "id");
    // One that is sealed is complete: what follows without an id is another.
    if (id != open.id || (id.empty() && !open.encrypted.empty())) {
      add_item(std::exchange(open, {}), items);
      open.id = id;
      open.index = index_in(detail);
    }
    gather(detail, open);
  }
  add_item(open, items);
  std::stable_sort(items.begin(), items.end(),
                   [](const auto& a, const auto& b) { return a.index < b.index; });
  return items;
}

}  // namespace callgate::upstream
