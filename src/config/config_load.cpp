#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/impl/preprocessor.h>
// A file with `[[[` breaks an assertion of the parser, whose next lines report it as the mistake that it is.
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expr) static_assert(true)
#include <toml++/toml.h>

#include "base/quoted.h"
#include "base/text.h"
#include "config/config.h"
#include "config/config_fields.h"
#include "config/config_text.h"
#include "config/mistakes.h"
#include "config/skill.h"
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

// Collects everything that is wrong, and where each key stands.
class Loader {
 public:
  Loader(SourceLines& lines, std::vector<Mistake>& mistakes) : lines_(lines), mistakes_(mistakes) {}

  void fail(const toml::node& node, std::string message) {
    mistakes_.push_back(
        {.path = key_, .message = std::move(message), .line = node.source().begin.line});
  }

  template <class T>
  void read_section(T& into, const toml::table& table, std::string_view path) {
    lines_.add(place_, table.source().begin.line);
    for (const auto& [key, node] : table) {
      if (is_subsection<T>(key.str())) continue;
      key_ = join_path(place_, key.str());
      lines_.add(key_, key.source().begin.line);
      bool known = false;
      std::apply(
          [&, &key = key, &node = node](const auto&... field) {
            ((field.key == key.str()
                  ? (known = true, read(into.*(field.member), node, path, field.key))
                  : void()),
             ...);
          },
          Section<T>::fields);
      if (!known) unknown_key<T>(node, key.str(), path);
    }
    key_ = place_;
    std::apply([&](const auto&... field) { (read_default(into, table, field), ...); },
               Section<T>::fields);
  }

  // Code that needs the names alone finds them in `upstream`, whichever way they were given.
  void join_pool(ModelConfig& model, const toml::table& root) {
    if (model.pool.empty()) return;
    if (!model.upstream.empty()) {
      fail(root, "model \"" + model.name + "\": upstream and pool exclude each other");
    }
    for (const PoolPlace& place : model.pool) model.upstream.push_back(place.upstream);
  }

  template <class T>
  void read_table(T& into, const toml::table& root) {
    const toml::node* node = root.get(Section<T>::name);
    if (node == nullptr) return;
    if (!node->is_table())
      return fail(*node, std::string(Section<T>::name) + ": expected a table, written [" +
                             std::string(Section<T>::name) + "]");
    place_ = Section<T>::name;
    read_section(into, *node->as_table(), Section<T>::name);
    place_.clear();
  }

  template <class T>
  void read_list(std::vector<T>& into, const toml::table& root) {
    const std::string name(Section<T>::name);
    const toml::node* node = root.get(name);
    key_ = name;
    if (node == nullptr) return;
    if (!node->is_array())
      return fail(*node, name + ": expected a list of tables, written [[" + name + "]]");
    for (const toml::node& item : *node->as_array()) {
      if (!item.is_table()) {
        key_ = name;
        return fail(item, name + ": expected a list of tables, written [[" + name + "]]");
      }
      place_ = name + "[" + std::to_string(into.size()) + "]";
      read_section(into.emplace_back(), *item.as_table(), name);
    }
    place_.clear();
  }

 private:
  // A key that the file does not have may get its default from an environment variable.
  template <class T, class F>
  void read_default(T& into, const toml::table& table, const F& field) {
    if (field.env.empty() || table.contains(field.key)) return;
    const char* value = std::getenv(std::string(field.env).c_str());
    if (value == nullptr || *value == '\0') return;
    toml::table given;
    put_variable(given, value, into.*(field.member));
    read(into.*(field.member), *given.get("v"), "", field.env);
  }
  // Variables have no types: what a key's own type takes is made of the text.
  template <class M>
  static void put_variable(toml::table& given, std::string_view text, const M&) {
    std::int64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = fault == std::errc() && end == text.data() + text.size();
    const bool on = text == "1" || text == "true" || text == "yes" || text == "on";
    const bool off = text == "0" || text == "false" || text == "no" || text == "off";
    if (std::is_same_v<M, bool> && (on || off)) {
      given.insert("v", on);
    } else if (std::is_same_v<M, Milliseconds> && is_number) {
      given.insert("v", std::string(text) + "ms");
    } else if (std::is_same_v<M, std::int64_t> && is_number) {
      given.insert("v", number);
    } else {
      given.insert("v", std::string(text));
    }
  }

  template <class T>
  static bool is_subsection(std::string_view key) {
    if constexpr (!std::is_same_v<T, Config>) return false;
    return std::find(kSections.begin(), kSections.end(), key) != kSections.end();
  }

  template <class T>
  void unknown_key(const toml::node& node, std::string_view key, std::string_view path) {
    std::vector<std::string_view> valid;
    std::apply([&](const auto&... field) { (valid.push_back(field.key), ...); },
               Section<T>::fields);
    if constexpr (std::is_same_v<T, Config>)
      valid.insert(valid.end(), kSections.begin(), kSections.end());
    std::string message = "unknown key `" + join_path(path, shortened(key)) + "`";
    const std::string_view near = nearest(key, valid);
    if (!path.empty() && is_top_level(key)) {
      message = "`" + std::string(key) +
                "` is a top-level key: write it above the first [table], not in [" +
                std::string(path) + "]";
    } else if (!near.empty()) {
      message += ", did you mean `" + join_path(path, near) + "`?";
    }
    fail(node, std::move(message));
  }
  static bool is_top_level(std::string_view key) {
    bool found = false;
    std::apply([&](const auto&... field) { ((found = found || field.key == key), ...); },
               Section<Config>::fields);
    return found;
  }

  static std::string join_path(std::string_view path, std::string_view key) {
    return path.empty() ? std::string(key) : std::string(path) + "." + std::string(key);
  }
  void expected(const toml::node& node, std::string_view path, std::string_view key,
                std::string_view what) {
    fail(node, join_path(path, key) + ": expected " + std::string(what) + ", got " +
                   found_text(node, key));
  }

  // With what ${...} stands for.
  std::optional<std::string> text(const toml::node& node, std::string_view path,
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

  void read(std::string& into, const toml::node& node, std::string_view path,
            std::string_view key) {
    if (auto value = text(node, path, key)) into = std::move(*value);
  }
  void read(Secret& into, const toml::node& node, std::string_view path, std::string_view key) {
    if (!node.is_string()) return fail(node, join_path(path, key) + ": expected a string");
    if (auto value = text(node, path, key)) into = Secret(std::move(*value));
  }
  void read(bool& into, const toml::node& node, std::string_view path, std::string_view key) {
    if (!node.is_boolean()) return expected(node, path, key, "true or false");
    into = node.as_boolean()->get();
  }
  void read(std::int64_t& into, const toml::node& node, std::string_view path,
            std::string_view key) {
    if (!node.is_integer() || node.as_integer()->get() < 0)
      return expected(node, path, key, "a whole number, 0 or more");
    into = node.as_integer()->get();
  }
  void read(double& into, const toml::node& node, std::string_view path, std::string_view key) {
    const std::optional<double> value = node.value<double>();
    if (!node.is_number() || !value) return expected(node, path, key, "a number");
    into = *value;
  }
  void read(Milliseconds& into, const toml::node& node, std::string_view path,
            std::string_view key) {
    const auto value = node.is_string() ? parse_duration(node.as_string()->get()) : std::nullopt;
    if (!value) return expected(node, path, key, "a duration such as \"300ms\", \"5s\" or \"2m\"");
    into = *value;
  }
  void read(Bytes& into, const toml::node& node, std::string_view path, std::string_view key) {
    std::optional<Bytes> value;
    if (node.is_string()) value = parse_bytes(node.as_string()->get());
    if (node.is_integer() && node.as_integer()->get() >= 0)
      value = Bytes{static_cast<std::uint64_t>(node.as_integer()->get())};
    if (!value) return expected(node, path, key, "a size such as 4096, \"64KiB\" or \"32MiB\"");
    into = *value;
  }
  void read(std::vector<std::string>& into, const toml::node& node, std::string_view path,
            std::string_view key) {
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
  void read(std::vector<std::pair<std::string, std::string>>& into, const toml::node& node,
            std::string_view path, std::string_view key) {
    if (!node.is_table()) return expected(node, path, key, "a table of names and values");
    for (const auto& [name, item] : *node.as_table()) {
      if (auto value = text(item, path, key))
        into.emplace_back(std::string(name.str()), std::move(*value));
    }
  }

  // { upstream = "a", priority = 1, weight = 3 }, or a name alone.
  void read(std::vector<PoolPlace>& into, const toml::node& node, std::string_view path,
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
  void read_place(PoolPlace& place, const toml::table& table, const std::string& path) {
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

  void read(JsonMembers& into, const toml::node& node, std::string_view path,
            std::string_view key) {
    if (node.is_string()) return read_json(into, node, path, key);
    if (!node.is_table()) return expected(node, path, key, "a table of names and values");
    for (const auto& [name, item] : *node.as_table()) {
      ExtraField& member = into.members.emplace_back();
      member.name = name.str();
      append_json(member.value.text, item, path, key);
    }
  }
  // The same written as JSON, which is handier for a schema.
  void read_json(JsonMembers& into, const toml::node& node, std::string_view path,
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
  void append_json(std::string& out, const toml::node& node, std::string_view path,
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

  static constexpr std::array<std::string_view, 17> kSections{
      "tls",       "limits", "log",  "cors", "store", "capture", "otlp",     "loop", "rooms",
      "responses", "tool",   "hook", "key",  "price", "dialect", "upstream", "model"};
  SourceLines& lines_;
  std::vector<Mistake>& mistakes_;
  std::string place_;  // the table that is read: `upstream[1]`
  std::string key_;    // and its key
};

// The child of `node` that a path segment names: a key, a position, or the `name` of a list's table.
toml::node* child(toml::node& node, std::string_view segment) {
  if (toml::table* table = node.as_table()) return table->get(segment);
  toml::array* array = node.as_array();
  if (array == nullptr) return nullptr;
  std::size_t index = 0;
  const auto [end, fault] = std::from_chars(segment.data(), segment.data() + segment.size(), index);
  if (fault == std::errc() && end == segment.data() + segment.size()) return array->get(index);
  for (toml::node& item : *array) {
    if (toml::table* table = item.as_table();
        table != nullptr && (*table)["name"].value_or(std::string_view()) == segment)
      return &item;
  }
  return nullptr;
}

void put(toml::table& table, std::string_view key, std::string_view value) {
  // A value that is not TOML is a plain string, so that --set listen=0.0.0.0:80 needs no quotes.
  toml::parse_result parsed = toml::parse("v = " + std::string(value));
  if (parsed) {
    table.insert_or_assign(key, std::move(*parsed.table().get("v")));
  } else {
    table.insert_or_assign(key, std::string(value));
  }
}

bool is_list(std::string_view section) {
  constexpr std::array<std::string_view, 6> kLists{"tool",    "hook",     "key",
                                                   "dialect", "upstream", "model"};
  return std::find(kLists.begin(), kLists.end(), section) != kLists.end();
}

tl::unexpected<Error> no_such_table(std::string_view set, std::string_view list,
                                    std::string_view segment) {
  segment = segment.substr(0, segment.find('.'));
  return callgate::fail(ErrorCode::invalid_request,
                        "--set " + shortened(set.substr(0, set.find('='))) + ": there is no [[" +
                            std::string(list) + "]] " + in_quotes(segment));
}

Result<void> apply_set(toml::table& root, std::string_view set) {
  const std::size_t equals = set.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return callgate::fail(ErrorCode::invalid_request,
                          "--set " + shortened(set) + ": expected key=value");
  }
  std::string_view path = set.substr(0, equals);
  std::string_view list;  // the one that the path leads into
  toml::node* at = &root;
  for (std::size_t dot; (dot = path.find('.')) != std::string_view::npos;
       path.remove_prefix(dot + 1)) {
    const std::string_view segment = path.substr(0, dot);
    toml::node* next = child(*at, segment);
    const bool in_list = at == &root && is_list(segment);
    if (next == nullptr && in_list) {
      return no_such_table(set, segment, path.substr(dot + 1));
    }
    if (next == nullptr && at->is_table()) {
      at->as_table()->insert(segment, toml::table{});
      next = at->as_table()->get(segment);
    }
    if (next == nullptr) return no_such_table(set, list, segment);
    if (in_list) list = segment;
    at = next;
  }
  if (!at->is_table())
    return callgate::fail(ErrorCode::invalid_request,
                          "--set " + std::string(set.substr(0, equals)) + ": not a table");
  put(*at->as_table(), path, set.substr(equals + 1));
  return {};
}

// The parser's words for the mistakes that are made most often say little.
std::string hint_for(std::string_view description) {
  const auto says = [&](std::string_view words) {
    return description.find(words) != std::string_view::npos;
  };
  if (says("parsing time") || says("parsing date") || says("could not determine value type") ||
      says("parsing floating-point") || says("parsing integer") || says("parsing value") ||
      says("parsing boolean")) {
    return "; strings are written in quotes: listen = \"127.0.0.1:8080\"";
  }
  if (says("unescaped control characters") || says("encountered end-of-file")) {
    return "; is a closing quote or bracket missing?";
  }
  return {};
}

// What an override says has no line in the file.
void place_at_overrides(std::vector<Mistake>& mistakes, const std::vector<std::string>& sets) {
  for (const std::string& set : sets) {
    const std::string key(trimmed(std::string_view(set).substr(0, set.find('='))));
    for (Mistake& mistake : mistakes) {
      const bool names = mistake.message.find("`" + key + "`") != std::string::npos;
      if ((mistake.path != key && !names) || mistake.message.starts_with("--set ")) continue;
      mistake = {.path = {}, .message = "--set " + key + ": " + mistake.message};
    }
  }
}

void read_all(Loader& loader, Config& config, const toml::table& root) {
  loader.read_section(config, root, "");
  loader.read_table(config.tls, root);
  loader.read_table(config.limits, root);
  loader.read_table(config.log, root);
  loader.read_table(config.cors, root);
  loader.read_table(config.store, root);
  loader.read_table(config.capture, root);
  loader.read_table(config.otlp, root);
  loader.read_table(config.loop, root);
  loader.read_table(config.rooms, root);
  loader.read_table(config.responses, root);
  loader.read_list(config.tools, root);
  loader.read_list(config.hooks, root);
  loader.read_list(config.keys, root);
  loader.read_list(config.prices, root);
  loader.read_list(config.dialects, root);
  loader.read_list(config.upstreams, root);
  loader.read_list(config.models, root);
  for (ModelConfig& model : config.models) loader.join_pool(model, root);
}

ExaminedConfig examine(toml::parse_result parsed, const std::vector<std::string>& sets) {
  ExaminedConfig examined;
  std::vector<Mistake>& mistakes = examined.mistakes;
  if (!parsed) {
    const std::string description(parsed.error().description());
    mistakes.push_back({.path = {},
                        .message = description + hint_for(description),
                        .line = parsed.error().source().begin.line});
    return examined;
  }
  toml::table& root = parsed.table();
  for (const std::string& set : sets) {
    if (auto done = apply_set(root, set); !done) {
      mistakes.push_back({.path = {}, .message = done.error().message});
    }
  }
  Loader loader(examined.lines, mistakes);
  read_all(loader, examined.config, root);
  add_skills(examined.config, mistakes);
  // What could not be read has its default: a rule that this breaks is no mistake of its own.
  std::vector<Mistake> rules = find_mistakes(examined.config);
  locate(rules, examined.lines);
  for (Mistake& rule : rules) {
    const bool follows = std::any_of(mistakes.begin(), mistakes.end(), [&](const Mistake& read) {
      const bool refers = rule.message.find("[[" + read.path + "]]") != std::string::npos;
      return !read.path.empty() && (rule.path == read.path || refers);
    });
    if (!follows) mistakes.push_back(std::move(rule));
  }
  place_at_overrides(mistakes, sets);
  locate(mistakes, examined.lines);
  for (UpstreamConfig& upstream : examined.config.upstreams) {
    const bool fetched = !upstream.key_command.empty() || !upstream.key_file.empty();
    if (fetched && upstream.key.empty()) upstream.key = Secret(std::string(kKeyPlaceholder));
  }
  return examined;
}

Result<Config> decode(toml::parse_result parsed, std::string_view name,
                      const std::vector<std::string>& sets) {
  ExaminedConfig examined = examine(std::move(parsed), sets);
  if (examined.mistakes.empty()) return std::move(examined.config);
  return callgate::fail(ErrorCode::invalid_request, to_text(examined.mistakes, name));
}

// Nothing: it can be read.
std::optional<Mistake> problem_of_file(const std::string& file) {
  std::error_code fault;
  const auto status = std::filesystem::status(file, fault);
  if (fault) return Mistake{.path = {}, .message = fault.message()};
  if (std::filesystem::is_directory(status)) {
    return Mistake{.path = {}, .message = "it is a folder"};
  }
  return std::nullopt;
}

}  // namespace

std::vector<ToolTable> read_tool_tables(const std::string& file, std::vector<Mistake>& mistakes) {
  std::vector<ToolTable> tools;
  const toml::parse_result parsed = toml::parse_file(file);
  if (!parsed) {
    mistakes.push_back({.path = {},
                        .message = std::string(parsed.error().description()),
                        .line = parsed.error().source().begin.line});
    return tools;
  }
  SourceLines lines;
  Loader loader(lines, mistakes);
  loader.read_list(tools, parsed.table());
  for (const auto& [key, node] : parsed.table()) {
    if (key.str() != "tool") loader.fail(node, "expected [[tool]] tables alone");
  }
  return tools;
}

Result<Config> parse_config(std::string_view text, std::string_view name,
                            const std::vector<std::string>& sets) {
  return decode(toml::parse(text, name), name, sets);
}

ExaminedConfig examine_config(const ConfigSource& source) {
  if (source.file.empty()) return examine(toml::parse(std::string_view()), source.sets);
  if (auto problem = problem_of_file(source.file)) {
    ExaminedConfig none;
    none.mistakes.push_back(std::move(*problem));
    return none;
  }
  return examine(toml::parse_file(source.file), source.sets);
}

Result<Config> load_config(const ConfigSource& source) {
  ExaminedConfig examined = examine_config(source);
  if (examined.mistakes.empty()) return std::move(examined.config);
  const std::string_view name = source.file.empty() ? "defaults" : std::string_view(source.file);
  return callgate::fail(ErrorCode::invalid_request, to_text(examined.mistakes, name));
}

}  // namespace callgate::server
