#include "tool/arguments.h"

#include <unordered_map>

#include "json/reader.h"
#include "json/writer.h"

namespace callgate::tool {

Result<std::vector<Argument>> read_arguments(std::string_view json) {
  std::vector<Argument> arguments;
  if (json.empty()) return arguments;
  json::Reader in(json);
  if (in.peek() != json::Kind::object) {
    return fail(ErrorCode::invalid_request, "arguments: expected a JSON object");
  }
  std::unordered_map<std::string, std::size_t> places;
  for (std::string_view key; in.next_member(key);) {
    std::string name(key);
    const std::string_view value = in.raw();
    const auto [known, is_new] = places.emplace(name, arguments.size());
    if (is_new) {
      arguments.push_back({std::move(name), std::string(value)});
    } else {
      arguments[known->second].json = value;
    }
  }
  if (!in.finish()) {
    return fail(ErrorCode::invalid_request, "arguments: not JSON at byte " +
                                                std::to_string(in.error().offset) + ": expected " +
                                                std::string(in.error().message));
  }
  return arguments;
}

const Argument* find_argument(const std::vector<Argument>& arguments, std::string_view name) {
  for (const Argument& argument : arguments) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

std::string to_plain_text(std::string_view json) {
  json::Reader in(json);
  return std::string(in.peek() == json::Kind::string ? in.string() : in.raw());
}

std::vector<std::string> to_plain_texts(std::string_view json) {
  json::Reader in(json);
  std::vector<std::string> texts;
  switch (in.peek()) {
    case json::Kind::array:
      while (in.next_element()) texts.push_back(to_plain_text(in.raw()));
      break;
    case json::Kind::null:
    case json::Kind::invalid:
      break;
    case json::Kind::object:
    case json::Kind::string:
    case json::Kind::number:
    case json::Kind::boolean:
      texts.push_back(to_plain_text(json));
  }
  return texts;
}

std::string to_object(const std::vector<Argument>& arguments,
                      const std::vector<std::string>& names) {
  std::string out;
  json::ObjectWriter object(out);
  for (const std::string& name : names) {
    if (const Argument* found = find_argument(arguments, name)) {
      object.raw_escaped(name, found->json);
    }
  }
  object.close();
  return out;
}

}  // namespace callgate::tool
