#include "chat/field_fold.h"

#include <algorithm>

#include "base/text.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate {
namespace {

constexpr std::size_t kMaxNames = 256;

bool is_enclosed(std::string_view json, char open, char close) {
  return json.size() >= 2 && json.front() == open && json.back() == close;
}

// ["a"] and ["b"] -> ["a","b"]
void append_elements(std::string& list, std::string_view json) {
  const std::string_view elements = json.substr(1, json.size() - 2);
  if (is_blank(elements)) return;
  list.pop_back();
  if (list.size() > 1) list.push_back(',');
  list.append(elements).push_back(']');
}

}  // namespace

FieldFold::Rule FieldFold::rule_of(FieldReported::Scope scope, std::string_view name) {
  using Scope = FieldReported::Scope;
  if (scope == Scope::choice && name == "logprobs") return Rule::by_member;
  if (scope != Scope::message) return Rule::last;
  if (name == "audio") return Rule::by_member;
  const bool list = name == "reasoning_details" || name == "annotations" || name == "images" ||
                    name == "citations" || name == "parts";
  return list ? Rule::append : Rule::last;
}

FieldFold::Rule FieldFold::rule_of_member(std::string_view name) {
  if (name == "content" || name == "refusal") return Rule::append;  // of logprobs
  if (name == "data" || name == "transcript") return Rule::join;    // of audio
  return Rule::last;
}

// nullptr: there are too many.
FieldFold::Field* FieldFold::find_or_add(std::vector<Field>& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.name == name; });
  if (found != fields.end()) return &*found;
  if (fields.size() == kMaxNames) return nullptr;
  return &fields.emplace_back(Field{std::string(name), {}, {}});
}

void FieldFold::add(FieldReported::Scope scope, std::string_view name, std::string_view json) {
  Field* field = find_or_add(fields_, name);
  if (field == nullptr) return;
  const bool is_new = field->json.empty() && field->members.empty();
  const std::size_t before = is_new ? 0 : bytes_of(*field);
  fold(*field, rule_of(scope, name), json);
  bytes_ += bytes_of(*field) - before;
}

// A report that does not have the form that the rule is for counts as the last one.
void FieldFold::fold(Field& field, Rule rule, std::string_view json) {
  if (rule == Rule::by_member && is_enclosed(json, '{', '}')) return fold_members(field, json);
  field.members.clear();
  if (rule == Rule::append && is_enclosed(json, '[', ']')) {
    if (!is_enclosed(field.json, '[', ']')) field.json = "[]";
    return append_elements(field.json, json);
  }
  const bool strings = is_enclosed(json, '"', '"') && is_enclosed(field.json, '"', '"');
  if (rule == Rule::append && json == "null" && !field.json.empty()) return;
  if (rule == Rule::join && strings) {
    field.json.pop_back();
    field.json.append(json.substr(1));
    return;
  }
  field.json = json;
}

void FieldFold::fold_members(Field& field, std::string_view json) {
  field.json.clear();
  json::Reader in(json);
  std::string name;
  for (std::string_view key; in.next_member(key);) {
    name = key;
    const std::string_view value = in.raw();
    Field* member = find_or_add(field.members, name);
    if (member != nullptr) fold(*member, rule_of_member(name), value);
  }
  if (field.members.empty()) field.json = json;
}

std::size_t FieldFold::bytes_of(const Field& field) {
  std::size_t bytes = field.name.size() + field.json.size();
  for (const Field& member : field.members) bytes += member.name.size() + member.json.size();
  return bytes;
}

void FieldFold::each(FunctionRef<void(std::string_view, std::string_view)> visit) const {
  for (const Field& field : fields_) {
    if (field.members.empty()) {
      visit(field.name, field.json);
      continue;
    }
    std::string json;
    json::ObjectWriter object(json);
    for (const Field& member : field.members) object.raw_escaped(member.name, member.json);
    object.close();
    visit(field.name, json);
  }
}

}  // namespace callgate
