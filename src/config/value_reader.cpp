#include "config/value_reader.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/quoted.h"
#include "config/config_text.h"
#include "config/text_expansion.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

// What stands there instead of what was expected. What may be a credential is not shown.
std::string found_text(const toml::node& node, std::string_view key) {
  constexpr std::array<std::string_view, 8> kPrivate{"headers", "env", "environment", "command",
                                                     "key",     "url", "secret",      "endpoint"};
  const bool hidden = std::find(kPrivate.begin(), kPrivate.end(), key) != kPrivate.end();
  if (hidden && node.is_string()) return "a string";
  if (node.is_string()) return in_quotes(node.as_string()->get());
  if (node.is_integer()) return std::to_string(node.as_integer()->get());
  if (node.is_boolean()) return node.as_boolean()->get() ? "true" : "false";
  if (node.is_floating_point()) return "a number with a fraction";
  if (node.is_array()) return "a list";
  if (node.is_table()) return "a table";
  return "a date or time";
}

}  // namespace

void ValueReader::fail(const toml::node& node, std::string message) {
  mistakes_.push_back(
      {.path = key_, .message = std::move(message), .line = node.source().begin.line});
}

std::string join_path(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : std::string(path) + "." + std::string(key);
}

void ValueReader::expected(const toml::node& node, std::string_view path, std::string_view key,
                           std::string_view what) {
  fail(node,
       join_path(path, key) + ": expected " + std::string(what) + ", got " + found_text(node, key));
}

std::optional<std::string> ValueReader::text(const toml::node& node, std::string_view path,
                                             std::string_view key) {
  if (!node.is_string()) {
    expected(node, path, key, "a string");
    return std::nullopt;
  }
  const auto dollars = key == "command" ? Dollars::before_braces : Dollars::everywhere;
  auto value = expand_text(node.as_string()->get(), dollars);
  if (!value) {
    fail(node, join_path(path, key) + ": " + value.error().message);
    return std::nullopt;
  }
  return std::move(*value);
}

void ValueReader::read(std::string& into, const toml::node& node, std::string_view path,
                       std::string_view key) {
  if (auto value = text(node, path, key)) into = std::move(*value);
}

void ValueReader::read(Secret& into, const toml::node& node, std::string_view path,
                       std::string_view key) {
  if (!node.is_string()) return fail(node, join_path(path, key) + ": expected a string");
  if (auto value = text(node, path, key)) into = Secret(std::move(*value));
}

void ValueReader::read(bool& into, const toml::node& node, std::string_view path,
                       std::string_view key) {
  if (!node.is_boolean()) return expected(node, path, key, "true or false");
  into = node.as_boolean()->get();
}

void ValueReader::read(std::int64_t& into, const toml::node& node, std::string_view path,
                       std::string_view key) {
  if (!node.is_integer() || node.as_integer()->get() < 0)
    return expected(node, path, key, "a whole number, 0 or more");
  into = node.as_integer()->get();
}

void ValueReader::read(double& into, const toml::node& node, std::string_view path,
                       std::string_view key) {
  const std::optional<double> value = node.value<double>();
  if (!node.is_number() || !value) return expected(node, path, key, "a number");
  into = *value;
}

void ValueReader::read(Milliseconds& into, const toml::node& node, std::string_view path,
                       std::string_view key) {
  const auto value = node.is_string() ? parse_duration(node.as_string()->get()) : std::nullopt;
  if (!value) return expected(node, path, key, "a duration such as \"300ms\", \"5s\" or \"2m\"");
  into = *value;
}

void ValueReader::read(Bytes& into, const toml::node& node, std::string_view path,
                       std::string_view key) {
  std::optional<Bytes> value;
  if (node.is_string()) value = parse_bytes(node.as_string()->get());
  if (node.is_integer() && node.as_integer()->get() >= 0)
    value = Bytes{static_cast<std::uint64_t>(node.as_integer()->get())};
  if (!value) return expected(node, path, key, "a size such as 4096, \"64KiB\" or \"32MiB\"");
  into = *value;
}

void ValueReader::read(std::vector<std::string>& into, const toml::node& node,
                       std::string_view path, std::string_view key) {
  into.clear();
  if (node.is_string()) {
    if (auto value = text(node, path, key)) into.push_back(std::move(*value));
    return;
  }
  if (!node.is_array()) return expected(node, path, key, "a string or a list of strings");
  for (const toml::node& item : *node.as_array()) {
    if (auto value = text(item, path, key)) into.push_back(std::move(*value));
  }
}

void ValueReader::read(std::vector<std::pair<std::string, std::string>>& into,
                       const toml::node& node, std::string_view path, std::string_view key) {
  if (!node.is_table()) return expected(node, path, key, "a table of names and values");
  for (const auto& [name, item] : *node.as_table()) {
    if (auto value = text(item, path, key))
      into.emplace_back(std::string(name.str()), std::move(*value));
  }
}

void ValueReader::read(std::vector<PoolPlace>& into, const toml::node& node, std::string_view path,
                       std::string_view key) {
  constexpr std::string_view kForm = "a list such as [{ upstream = \"a\", weight = 2 }]";
  into.clear();
  if (!node.is_array()) return expected(node, path, key, kForm);
  for (const toml::node& item : *node.as_array()) {
    PoolPlace& place = into.emplace_back();
    if (item.is_string()) {
      read(place.upstream, item, path, key);
    } else if (item.is_table()) {
      read_place(place, *item.as_table(), join_path(path, key));
    } else {
      return expected(item, path, key, kForm);
    }
  }
}

void ValueReader::read_place(PoolPlace& place, const toml::table& table, const std::string& path) {
  static constexpr std::array<std::string_view, 3> kKeys{"upstream", "priority", "weight"};
  for (const auto& [name, item] : table) {
    if (name.str() == "upstream") {
      read(place.upstream, item, path, "upstream");
    } else if (name.str() == "priority") {
      read(place.priority, item, path, "priority");
    } else if (name.str() == "weight") {
      read(place.weight, item, path, "weight");
    } else {
      std::string message = "unknown key `" + join_path(path, shortened(name.str())) + "`";
      const std::string_view near = nearest(name.str(), kKeys);
      if (!near.empty()) message += ", did you mean `" + join_path(path, near) + "`?";
      fail(item, std::move(message));
    }
  }
}

void ValueReader::read(JsonMembers& into, const toml::node& node, std::string_view path,
                       std::string_view key) {
  if (node.is_string()) return read_json(into, node, path, key);
  if (!node.is_table()) return expected(node, path, key, "a table of names and values");
  for (const auto& [name, item] : *node.as_table()) {
    ExtraField& member = into.members.emplace_back();
    member.name = name.str();
    append_json(member.value.text, item, path, key);
  }
}

void ValueReader::read_json(JsonMembers& into, const toml::node& node, std::string_view path,
                            std::string_view key) {
  const std::optional<std::string> given = text(node, path, key);
  if (!given) return;
  json::Reader in(*given);
  for (std::string_view name; in.next_member(name);) {
    ExtraField& member = into.members.emplace_back();
    member.name = name;
    member.value.text = in.raw();
  }
  if (!in.finish()) expected(node, path, key, "a table, or a JSON object as a string");
}

void ValueReader::append_json(std::string& out, const toml::node& node, std::string_view path,
                              std::string_view key) {
  if (const auto* number = node.as_integer()) return json::append_integer(out, number->get());
  if (const auto* truth = node.as_boolean()) {
    out += truth->get() ? "true" : "false";
  } else if (const auto* real = node.as_floating_point()) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), real->get());
    out.append(digits.data(), end.ptr);
  } else if (node.is_string()) {
    if (const auto value = text(node, path, key)) json::append_string(out, *value);
  } else if (const toml::array* items = node.as_array()) {
    char separator = '[';
    for (const toml::node& item : *items) {
      out.push_back(std::exchange(separator, ','));
      append_json(out, item, path, key);
    }
    out += items->empty() ? "[]" : "]";
  } else if (const toml::table* members = node.as_table()) {
    json::ObjectWriter object(out);
    for (const auto& [name, item] : *members) {
      std::string value;
      append_json(value, item, path, key);
      object.raw_escaped(name.str(), value);
    }
    object.close();
  } else {
    expected(node, path, key, "values that JSON has");
  }
}

}  // namespace callgate::server
