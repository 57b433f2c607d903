#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/quoted.h"
#include "base/text.h"
#include "config/config.h"
#include "config/config_fields.h"
#include "config/config_set.h"
#include "config/config_text.h"
#include "config/mistakes.h"
#include "config/skill.h"
#include "config/value_reader.h"

namespace callgate::server {
namespace {

// Collects everything that is wrong, and where each key stands.
class Loader : public ValueReader {
 public:
  Loader(SourceLines& lines, std::vector<Mistake>& mistakes)
      : ValueReader(mistakes), lines_(lines) {}

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
    return std::is_same_v<T, Config> && is_section(key);
  }

  template <class T>
  void unknown_key(const toml::node& node, std::string_view key, std::string_view path) {
    std::vector<std::string_view> valid;
    std::apply([&](const auto&... field) { (valid.push_back(field.key), ...); },
               Section<T>::fields);
    if constexpr (std::is_same_v<T, Config>) {
      valid.insert(valid.end(), kTables.begin(), kTables.end());
      valid.insert(valid.end(), kLists.begin(), kLists.end());
    }
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

  SourceLines& lines_;
  std::string place_;  // the table that is read: `upstream[1]`
};

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
  // What could not be read has its default, so a rule that it breaks is not reported as another mistake.
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
