#include "client/openai_responses/responses_items.h"

#include <algorithm>
#include <array>
#include <utility>

#include "chat/content.h"
#include "client/openai_responses/responses_seal.h"
#include "json/member.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

constexpr std::string_view kCompactNow =
    "Summarise this conversation so that the work can go on from the summary alone. Keep the "
    "user's goals and "
    "constraints, what was decided, the names of files, functions and other things that matter, "
    "results of tools that "
    "are still needed, what is done and what is left to do. Write the summary only.";
constexpr std::string_view kSummaryIs = "Summary of the conversation so far:\n";

std::string string_in(std::string_view json) {
  json::Reader in(json);
  return in.peek() == json::Kind::string ? std::string(in.string()) : std::string();
}

bool is_quoted(std::string_view json) { return json.starts_with('"'); }

// Appends {"type":"image_url","image_url":{"url":"...","detail":"low"}}; an image that only its server can find stays as it is.
void append_image(std::string& list, std::string_view part) {
  const std::string_view url = json::given_member(part, "image_url");
  if (!is_quoted(url)) {
    list.append(part);
    return;
  }
  json::ObjectWriter object(list);
  object.string("type", "image_url");
  json::ObjectWriter image(object.key("image_url"));
  image.raw("url", url);
  const std::string_view detail = json::given_member(part, "detail");
  if (!detail.empty()) image.raw("detail", detail);
  image.close();
  object.close();
}

void append_file(std::string& list, std::string_view part) {
  json::ObjectWriter object(list);
  object.string("type", "file");
  json::ObjectWriter file(object.key("file"));
  for (const std::string_view name : {"filename", "file_data", "file_id", "file_url", "detail"}) {
    const std::string_view value = json::given_member(part, name);
    if (!value.empty()) file.raw(name, value);
  }
  file.close();
  object.close();
}

void append_text_part(std::string& list, std::string_view type, std::string_view text) {
  json::ObjectWriter object(list);
  object.string("type", type);
  object.raw(type, text);
  object.close();
}

// What an item of an unknown kind says in words.
std::string words_of_item(std::string_view item) {
  for (const std::string_view name : {"content", "output", "text", "result"}) {
    const std::string_view value = json::given_member(item, name);
    if (value.empty()) continue;
    const std::string text = is_quoted(value) ? string_in(value) : text_of({std::string(value)});
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace

bool ResponsesItemReader::read() {
  if (in_.peek() == json::Kind::string) {
    request_.messages.push_back({.role = Role::user, .content = {std::string(in_.raw())}});
    return true;
  }
  if (in_.peek() != json::Kind::array)
    return fault_kind({"input"}, "a string or an array of items");
  for (at_ = 0; in_.next_element(); ++at_) {
    if (!read_item()) return false;
  }
  return true;
}

bool ResponsesItemReader::read_members(Item& item) {
  struct Row {
    std::string_view name;
    std::string_view Item::*member;
  };
  static constexpr std::array<Row, 15> kRows = {{{"type", &Item::type},
                                                 {"id", &Item::id},
                                                 {"role", &Item::role},
                                                 {"content", &Item::content},
                                                 {"call_id", &Item::call_id},
                                                 {"name", &Item::name},
                                                 {"namespace", &Item::space},
                                                 {"arguments", &Item::arguments},
                                                 {"input", &Item::input},
                                                 {"output", &Item::output},
                                                 {"summary", &Item::summary},
                                                 {"encrypted_content", &Item::encrypted},
                                                 {"tools", &Item::tools},
                                                 {"text", &Item::text},
                                                 {"author", &Item::author}}};
  if (in_.peek() != json::Kind::object) return fault_kind(here(), "an object");
  item.json = in_.raw();
  json::Reader members(item.json);
  for (std::string_view key; members.next_member(key);) {
    const auto row =
        std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) { return each.name == key; });
    if (row == kRows.end()) {
      members.skip();
      continue;
    }
    const std::string_view value = members.raw();
    item.*(row->member) = value == "null" ? std::string_view() : value;
  }
  return true;
}

ResponsesItemReader::Add ResponsesItemReader::find_kind(std::string_view type) {
  struct Row {
    std::string_view type;
    Add add;
  };
  static constexpr std::array<Row, 13> kRows = {{
      {"message", &ResponsesItemReader::add_message},
      {"function_call", &ResponsesItemReader::add_function_call},
      {"function_call_output", &ResponsesItemReader::add_output},
      {"custom_tool_call", &ResponsesItemReader::add_custom_call},
      {"custom_tool_call_output", &ResponsesItemReader::add_output},
      {"reasoning", &ResponsesItemReader::add_reasoning},
      {"compaction", &ResponsesItemReader::add_compaction},
      {"compaction_summary", &ResponsesItemReader::add_compaction},
      {"compaction_trigger", &ResponsesItemReader::add_trigger},
      {"tool_search_call", &ResponsesItemReader::add_search_call},
      {"tool_search_output", &ResponsesItemReader::add_search_output},
      {"agent_message", &ResponsesItemReader::add_agent_message},
      {"item_reference", &ResponsesItemReader::add_reference},
  }};
  for (const Row& row : kRows) {
    if (row.type == type) return row.add;
  }
  return &ResponsesItemReader::keep_unknown;
}

bool ResponsesItemReader::read_item() {
  Item item;
  if (!read_members(item)) return false;
  std::string type;
  if (!text_member(item.type, "type", false, type)) return false;
  if (type.empty()) {
    // Messages may leave their type out, and so may references.
    if (item.role.empty() && item.content.empty()) {
      return item.id.empty() ? fault(here().with("type"), "missing", "the type of an item")
                             : skip_item(item);
    }
    type = "message";
  }
  return (this->*find_kind(type))(item);
}

bool ResponsesItemReader::text_member(std::string_view json, std::string_view name, bool required,
                                      std::string& text) {
  if (json.empty()) {
    return required ? fault(here().with(name), "missing", "a string") : true;
  }
  json::Reader in(json);
  if (in.peek() != json::Kind::string) {
    return fault(here().with(name), name_of(in.peek()), "a string");
  }
  text = in.string();
  return true;
}

// The assistant message that items of an answer belong to: calls must stay together with what was said beside them.
Message& ResponsesItemReader::answer() {
  std::vector<Message>& messages = request_.messages;
  if (messages.empty() || messages.back().role != Role::assistant) {
    messages.push_back({.role = Role::assistant});
    position_ = 0;
  }
  return messages.back();
}

bool ResponsesItemReader::add_message(const Item& item) {
  std::string role;
  if (!text_member(item.role, "role", true, role)) return false;
  const std::optional<Role> who = find_role(role);
  if (!who || *who == Role::tool) {
    std::string found;
    json::append_string(found, role);
    return fault(here().with("role"), found, "user|system|developer|assistant");
  }
  if (item.content.empty()) return fault(here().with("content"), "missing", "a string or an array");
  RawJson content;
  if (!read_content(item.content, "content", content)) return false;
  if (*who != Role::assistant) {
    request_.messages.push_back({.role = *who, .content = std::move(content)});
    return true;
  }
  Message* said = &answer();
  // What was said after calls of the same answer joins them; two messages in a row stay two.
  if (!said->content.empty()) {
    request_.messages.push_back({.role = Role::assistant});
    said = &request_.messages.back();
    position_ = 0;
  }
  said->content = std::move(content);
  ++position_;
  return true;
}

bool ResponsesItemReader::read_content(std::string_view json, std::string_view member,
                                       RawJson& content) {
  if (!json.starts_with('[')) {
    if (is_quoted(json)) {
      content.text = json;
    } else if (member == "output") {  // a result that some clients send as it is
      json::append_string(content.text, json);
    } else {
      json::Reader in(json);
      return fault(here().with(member), name_of(in.peek()), "a string or an array");
    }
    return true;
  }
  std::string list;
  std::string text;
  bool plain = true;
  std::size_t count = 0;
  json::Reader parts(json);
  while (parts.next_element()) {
    FieldPath path = here().with(member);
    path.inner_index = count++;
    if (parts.peek() != json::Kind::object) {
      return fault(path, name_of(parts.peek()), "an object");
    }
    if (list.empty()) list.push_back('[');
    if (list.size() > 1) list.push_back(',');
    if (!append_part(parts.raw(), path, list, text, plain)) return false;
  }
  if (plain && count == 1) {
    content.text = std::move(text);
  } else {
    content.text = list.empty() ? "[]" : list + "]";
  }
  return true;
}

// `text` gets the JSON of the part's words; `plain` becomes false for what is more than that.
bool ResponsesItemReader::append_part(std::string_view part, const FieldPath& path,
                                      std::string& list, std::string& text, bool& plain) {
  const std::string_view type_json = json::given_member(part, "type");
  if (!is_quoted(type_json)) {
    json::Reader in(type_json);
    return fault(path.with("type"), type_json.empty() ? "missing" : name_of(in.peek()), "a string");
  }
  const std::string type = string_in(type_json);
  if (type == "input_image" || type == "input_file") {
    plain = false;
    return append_medium(type == "input_image", part, path, list);
  }
  const bool refusal = type == "refusal";
  const std::string_view said = json::given_member(part, refusal ? "refusal" : "text");
  const bool wants_text = type == "input_text" || type == "output_text" || type == "text";
  if (is_quoted(said)) {
    plain = plain && !refusal;
    text = said;
    append_text_part(list, refusal ? "refusal" : "text", said);
  } else if (wants_text || refusal) {
    json::Reader in(said);
    return fault(path.with(refusal ? "refusal" : "text"),
                 said.empty() ? "missing" : name_of(in.peek()), "a string");
  } else {  // audio, and kinds to come
    plain = false;
    list.append(part);
  }
  return true;
}

// An image or a file: its bytes, its address, or the id that a server knows it by.
bool ResponsesItemReader::append_medium(bool image, std::string_view part, const FieldPath& path,
                                        std::string& list) {
  static constexpr std::array<std::string_view, 4> kPlaces = {"image_url", "file_data", "file_url",
                                                              "file_id"};
  bool found = false;
  for (const std::string_view name : kPlaces) {
    const std::string_view value = json::given_member(part, name);
    if (value.empty()) continue;
    if (!is_quoted(value)) {
      json::Reader in(value);
      return fault(path.with(name), name_of(in.peek()), "a string");
    }
    found = found || image != (name == "file_data" || name == "file_url") || name == "file_id";
  }
  if (!found) {
    return fault(path.with(image ? "image_url" : "file_data"), "missing",
                 image ? "the image, or a file_id" : "the file, a file_url or a file_id");
  }
  image ? append_image(list, part) : append_file(list, part);
  return true;
}

bool ResponsesItemReader::add_call(const Item& item, std::string arguments) {
  CallRecord call{.arguments = std::move(arguments)};
  std::string name;
  std::string space;
  if (!text_member(item.call_id, "call_id", true, call.id) ||
      !text_member(item.name, "name", true, name) ||
      !text_member(item.space, "namespace", false, space)) {
    return false;
  }
  call.name = tools_.function_name(space, name);
  answer().calls.push_back(std::move(call));
  ++position_;
  return true;
}

bool ResponsesItemReader::add_function_call(const Item& item) {
  std::string arguments;
  if (!text_member(item.arguments, "arguments", true, arguments)) return false;
  return add_call(item, std::move(arguments));
}

bool ResponsesItemReader::add_custom_call(const Item& item) {
  std::string input;
  if (!text_member(item.input, "input", true, input)) return false;
  std::string arguments;
  json::ObjectWriter object(arguments);
  object.string("input", input);
  object.close();
  return add_call(item, std::move(arguments));
}

bool ResponsesItemReader::add_output(const Item& item) {
  Message result{.role = Role::tool};
  if (!text_member(item.call_id, "call_id", true, result.tool_call_id)) return false;
  if (item.output.empty()) {
    return fault(here().with("output"), "missing", "a string or an array of content");
  }
  if (!read_content(item.output, "output", result.content)) return false;
  request_.messages.push_back(std::move(result));
  return true;
}

// {"type":"tool_search_call","call_id":"call_1","execution":"client","arguments":{"query":"calendar"}}. The server's own searches
// have no call_id and concern nobody else.
bool ResponsesItemReader::add_search_call(const Item& item) {
  std::string id;
  if (!text_member(item.call_id, "call_id", false, id)) return false;
  if (id.empty()) return skip_item(item);
  answer().calls.push_back({.id = std::move(id),
                            .name = tools_.function_name({}, kToolSearch),
                            .arguments = is_quoted(item.arguments) ? string_in(item.arguments)
                                                                   : std::string(item.arguments)});
  ++position_;
  return true;
}

// The tools that were found can be called from now on.
bool ResponsesItemReader::add_search_output(const Item& item) {
  Message result{.role = Role::tool};
  if (!text_member(item.call_id, "call_id", false, result.tool_call_id)) return false;
  if (!item.tools.empty() && !tools_.add_found(item.tools, at_)) {
    error_ = tools_.take_error();
    return false;
  }
  if (result.tool_call_id.empty()) return true;
  json::append_string(result.content.text, item.tools.empty() ? "[]" : item.tools);
  request_.messages.push_back(std::move(result));
  return true;
}

bool ResponsesItemReader::add_reasoning(const Item& item) {
  std::string sealed;
  if (!text_member(item.encrypted, "encrypted_content", false, sealed)) return false;
  for (const auto& [name, list] :
       {std::pair<std::string_view, std::string_view>{"summary", item.summary},
        {"content", item.content}}) {
    if (list.empty() || list.starts_with('[')) continue;
    json::Reader in(list);
    return fault(here().with(name), name_of(in.peek()), "an array");
  }
  Message& message = answer();
  const std::size_t index = position_++;
  if (const auto element = unseal_detail(sealed)) {
    add_detail(message, *element);
    return true;
  }
  each_openai_detail({.summary = item.summary,
                      .content = item.content,
                      .encrypted = item.encrypted,
                      .index = index},
                     [&](std::string_view element) { add_detail(message, element); });
  if (!sealed.empty()) return true;
  // In the open: a model that wants its own thoughts back finds them where Chat Completions has them.
  std::string thoughts = text_of({std::string(item.content)});
  if (thoughts.empty()) thoughts = summary_text(item.summary);
  if (thoughts.empty()) return true;
  const std::string before = field_text(message.extra, "reasoning_content");
  if (!before.empty()) thoughts = before + "\n\n" + thoughts;
  std::erase_if(message.extra,
                [](const ExtraField& field) { return field.name == "reasoning_content"; });
  message.extra.push_back({"reasoning_content", text_content(thoughts)});
  return true;
}

void ResponsesItemReader::add_detail(Message& message, std::string_view element) {
  for (ExtraField& field : message.extra) {
    if (field.name != "reasoning_details") continue;
    field.value.text.back() = ',';
    field.value.text.append(element).push_back(']');
    return;
  }
  message.extra.push_back({"reasoning_details", {"[" + std::string(element) + "]"}});
}

bool ResponsesItemReader::add_compaction(const Item& item) {
  std::string sealed;
  if (!text_member(item.encrypted, "encrypted_content", false, sealed)) return false;
  const auto summary = unseal_summary(sealed);
  if (!summary) return skip_item(item);
  request_.messages.push_back(
      {.role = Role::user, .content = text_content(std::string(kSummaryIs) + *summary)});
  return true;
}

bool ResponsesItemReader::add_trigger(const Item&) {
  request_.client.compacts = true;
  request_.messages.push_back({.role = Role::user, .content = text_content(kCompactNow)});
  return true;
}

// {"type":"agent_message","author":"/root/a","recipient":"/root","content":[{"type":"input_text","text":"..."}]}
bool ResponsesItemReader::add_agent_message(const Item& item) {
  const std::string said = words_of_item(item.json);
  if (said.empty()) return skip_item(item);
  const std::string author = string_in(item.author);
  std::string text = author.empty() ? "Message from another agent" : "Message from agent " + author;
  text.append(":\n").append(said);
  request_.messages.push_back({.role = Role::user, .content = text_content(text)});
  return true;
}

bool ResponsesItemReader::keep_unknown(const Item& item) {
  const std::string said = words_of_item(item.json);
  if (said.empty()) return skip_item(item);
  const std::string type = string_in(item.type);
  request_.messages.push_back(
      {.role = Role::user, .content = text_content("[" + type + "]\n" + said)});
  return true;
}

// The gateway puts the item in its place; what is left here is for an upstream that knows it.
bool ResponsesItemReader::add_reference(const Item& item) {
  std::string id;
  return text_member(item.id, "id", true, id) && skip_item(item);
}

bool ResponsesItemReader::skip_item(const Item&) {
  request_.client.own_fields.push_back({here().text(), false});
  return true;
}

}  // namespace callgate::client
