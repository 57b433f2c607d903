#include "response/response_body.h"

#include <unordered_set>

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

bool is_well_formed(std::string_view json) {
  json::Reader in(json);
  in.skip();
  return in.finish();
}

std::string text_in(std::string_view json) {
  json::Reader in(json);
  return in.peek() == json::Kind::string ? std::string(in.string()) : std::string();
}

}  // namespace

ResponseFields read_response_fields(std::string_view body) {
  ResponseFields fields;
  if (!is_well_formed(body)) return fields;
  json::Reader in(body);
  if (in.peek() != json::Kind::object) return fields;
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view value = in.raw();
    if (name == "input") fields.input = value == "null" ? std::string_view() : value;
    if (name == "previous_response_id") fields.previous = text_in(value);
    if (name == "conversation" || name == "callgate") {
      fields.history_elsewhere = fields.history_elsewhere || value != "null";
    }
    // What is not a string is refused like a string that is not an id.
    const bool text = value.starts_with('"') || value == "null";
    if (name == "stream_id") fields.stream_id = text ? text_in(value) : " ";
    if (name == "type") fields.type = text_in(value);
    if (name == "store") fields.store = value != "false";
    if (name == "background") fields.background = value == "true";
    if (name == "stream") fields.stream = value == "true";
    if (name == "generate") fields.generate = value != "false";
  }
  return fields;
}

std::string input_items(std::string_view input) {
  if (input.starts_with('"')) {
    std::string item = R"({"type":"message","role":"user","content":)";
    return item.append(input).append("}");
  }
  std::string items;
  json::Reader in(input);
  if (input.empty() || in.peek() != json::Kind::array) return items;
  while (in.next_element()) items = join_items(std::move(items), in.raw());
  return items;
}

void each_item(std::string_view items, FunctionRef<void(std::string_view item)> visit) {
  if (items.empty()) return;
  std::string list = "[";
  list.append(items).push_back(']');
  json::Reader in(list);
  while (in.next_element()) visit(in.raw());
}

std::string join_items(std::string first, std::string_view second) {
  if (!first.empty() && !second.empty()) first.push_back(',');
  return std::move(first.append(second));
}

std::string with_item_ids(std::string_view items, std::string_view prefix) {
  std::string named;
  std::int64_t number = 0;
  each_item(items, [&](std::string_view item) {
    if (!named.empty()) named.push_back(',');
    const bool lacks_id = item.starts_with('{') && json::given_member(item, "id").empty();
    if (!lacks_id) {
      named.append(item);
    } else {
      named.append("{\"id\":\"").append(prefix);
      json::append_integer(named, number);
      const bool empty = item.find_first_not_of(" \t\r\n", 1) == item.size() - 1;
      named.append(empty ? "\"" : "\",").append(item.substr(1));
    }
    ++number;
  });
  return named;
}

std::string with_input(std::string_view body, std::string_view items) {
  std::string made;
  json::ObjectWriter object(made);
  json::Reader in(body);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view value = in.raw();
    if (name != "input") object.raw_escaped(name, value);
  }
  object.key("input").append("[").append(items).append("]");
  object.close();
  return made;
}

std::string abandoned_object(std::string_view object) {
  std::string made;
  json::ObjectWriter writer(made);
  json::Reader in(object);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view value = in.raw();
    if (name == "status") {
      writer.string("status", "failed");
    } else if (name == "error") {
      writer.raw("error",
                 R"({"code":"server_error","message":"the gateway that ran this response ended )"
                 R"(before the response was complete"})");
    } else {
      writer.raw_escaped(name, value);
    }
  }
  writer.close();
  return made;
}

std::string reference_id(std::string_view item) {
  const std::string type = json::member_text(item, "type");
  const bool bare = type.empty() && json::given_member(item, "role").empty() &&
                    json::given_member(item, "content").empty();
  return type == "item_reference" || bare ? json::member_text(item, "id") : std::string();
}

std::string response_of_item(std::string_view item_id) {
  const std::size_t first = item_id.find('_');
  const std::size_t last = item_id.rfind('_');
  if (first == std::string_view::npos || last <= first + 1) return {};
  return "resp_" + std::string(item_id.substr(first + 1, last - first - 1));
}

std::string unmatched_output(std::string_view before, std::string_view items) {
  if (items.find("_output\"") == std::string_view::npos) return {};  // most have no results
  std::unordered_set<std::string> made;
  std::string unmatched;
  bool hidden = false;
  const auto look = [&](std::string_view item) {
    const std::string type = json::member_text(item, "type");
    hidden = hidden || type == "compaction" || type == "compaction_summary";
    const std::string id = json::member_text(item, "call_id");
    if (type.ends_with("_output")) {
      if (!id.empty() && !made.contains(id) && unmatched.empty()) unmatched = id;
    } else if (!id.empty()) {
      made.insert(id);
    }
  };
  each_item(before, look);
  unmatched.clear();
  each_item(items, look);
  return hidden ? std::string() : unmatched;
}

}  // namespace callgate::server
