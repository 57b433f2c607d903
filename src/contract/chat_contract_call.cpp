#include "contract/chat_contract_call.h"

#include <algorithm>

#include "contract/chat_contract_json.h"

namespace callgate::contract {
namespace {

bool is_json_object(std::string_view text) {
  json::Reader in(text);
  if (in.peek() != json::Kind::object) return false;
  in.skip();
  return in.finish();
}

// The JSON schema's word for a value, with `integer` for numbers that are one.
bool has_type(std::string_view raw, std::string_view type) {
  switch (kind_of(raw)) {
    case json::Kind::object:
      return type == "object";
    case json::Kind::array:
      return type == "array";
    case json::Kind::string:
      return type == "string";
    case json::Kind::number:
      return type == "number" || (type == "integer" && to_integer(raw));
    case json::Kind::boolean:
      return type == "boolean";
    case json::Kind::null:
      return type == "null";
    case json::Kind::invalid:
      return false;
  }
  return false;
}

// Calls on_member(name, raw value) for each.
template <class OnMember>
void for_each_member(std::string_view object, OnMember on_member) {
  json::Reader in(object);
  if (object.empty() || in.peek() != json::Kind::object) return;
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    on_member(name, in.raw());
  }
}

std::string_view member(std::string_view object, std::string_view name) {
  return members(object, {name})[0];
}

}  // namespace

std::string misfit(std::string_view arguments, std::string_view schema) {
  const auto [required, properties] = members(schema, {"required", "properties"});
  std::string fault;
  if (is_array(required)) {
    json::Reader in(required);
    while (in.next_element() && fault.empty()) {
      const std::string key(in.string());
      if (member(arguments, key).empty()) fault = "no \"" + key + "\"";
    }
  }
  for_each_member(properties, [&](const std::string& name, std::string_view property) {
    const std::string_view type = member(property, "type");
    const std::string_view value = member(arguments, name);
    if (!fault.empty() || value.empty() || !is_string(type)) return;
    if (!has_type(value, to_text(type))) {
      fault = "\"" + name + "\" is " + shown(value) + ", expected type " + to_text(type);
    }
  });
  return fault;
}

struct ContractCall::Field {
  std::string_view name;
  std::string_view expected;  // empty: any string that is not
  ContractRule first;
  ContractRule once;
};

CallDelta read_call_delta(std::string_view raw) {
  const auto [index, id, type, function] = members(raw, {"index", "id", "type", "function"});
  const auto [name, arguments] = members(function, {"name", "arguments"});
  return {index, id, type, name, arguments};
}

std::string ContractCall::accept(const CallDelta& delta, const std::string& where,
                                 VerdictSheet& sheet) {
  static constexpr Field kId{"id", "", ContractRule::call_id_first, ContractRule::call_id_once};
  static constexpr Field kName{"name", "", ContractRule::call_name_first,
                               ContractRule::call_name_once};
  static constexpr Field kType{"type", "function", ContractRule::call_type_first,
                               ContractRule::call_type_once};
  ++deltas_;
  accept_field(kId, delta.id, ids_, where, sheet);
  accept_field(kName, delta.name, names_, where, sheet);
  accept_field(kType, delta.type, types_, where, sheet);
  if (id_.empty() && is_string(delta.id)) id_ = to_text(delta.id);
  if (name_.empty() && is_string(delta.name)) name_ = to_text(delta.name);
  return accept_arguments(delta.arguments, where, sheet);
}

void ContractCall::accept_field(const Field& field, std::string_view raw, std::uint32_t& seen,
                                const std::string& where, VerdictSheet& sheet) const {
  const std::string what = where + ", " + label_ + ": `" + std::string(field.name) + "` ";
  if (deltas_ == 1) {
    const bool fine = is_string(raw) &&
                      (field.expected.empty() ? raw.size() > 2 : to_text(raw) == field.expected);
    if (!fine) sheet.fail(field.first, what + "is " + shown(raw));
  }
  if (is_nothing(raw)) return;
  if (++seen > 1) sheet.fail(field.once, what + "again: " + shown(raw));
}

std::string ContractCall::accept_arguments(std::string_view raw, const std::string& where,
                                           VerdictSheet& sheet) {
  if (!is_string(raw)) {
    sheet.fail(ContractRule::arguments_are_strings,
               where + ", " + label_ + ": `arguments` is " + shown(raw));
    if (is_nothing(raw)) return {};
  }
  std::string fragment = is_string(raw) ? to_text(raw) : std::string(raw);
  if (!arguments_.empty() && fragment.starts_with(arguments_)) repeats_ = true;
  arguments_ += fragment;
  scanner_.push(fragment);
  return fragment;
}

void ContractCall::finish(const ContractTerms& terms, VerdictSheet& sheet) const {
  const bool is_object = is_json_object(arguments_);
  if (!is_object) {
    sheet.fail(ContractRule::arguments_are_json, label_ + ": " + shown(arguments_));
  }
  // An object may begin with what stands before it, but then all of it is JSON.
  if (!is_object && repeats_) {
    sheet.fail(ContractRule::arguments_are_fragments,
               label_ + ": a fragment repeats all before it: " + shown(arguments_));
  }
  if (!name_.empty()) check_tool(terms, is_object, sheet);
}

void ContractCall::check_tool(const ContractTerms& terms, bool is_object,
                              VerdictSheet& sheet) const {
  const auto tool = std::find_if(terms.tools.begin(), terms.tools.end(),
                                 [this](const ToolSpec& spec) { return spec.name == name_; });
  if (tool == terms.tools.end()) {
    sheet.fail(ContractRule::tool_is_declared,
               label_ + ": \"" + excerpt(name_) + "\" is not a tool of the request");
    return;
  }
  if (!is_object) return;
  const std::string fault = misfit(arguments_, tool->parameters.text);
  if (!fault.empty()) {
    sheet.fail(ContractRule::arguments_fit_tool,
               label_ + ": " + fault + " in " + shown(arguments_));
  }
}

}  // namespace callgate::contract
