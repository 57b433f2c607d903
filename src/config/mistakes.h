// What is wrong with a configuration: everything at once, each with its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace callgate::server {

struct Mistake {
  std::string path;  // of the key at fault: `upstream[1].url`, `upstream[1]`, `listen`
  std::string message;
  bool warning = false;  // it is accepted, and is rarely what was meant
  std::size_t line = 0;  // 0: not known
};

// `upstream[1].url`.
inline std::string path_of(std::string_view section, std::size_t index, std::string_view key) {
  return std::string(section) + "[" + std::to_string(index) + "]." + std::string(key);
}

// Where keys and tables stand in a file.
class SourceLines {
 public:
  void add(std::string path, std::size_t line) { lines_.emplace(std::move(path), line); }
  // Of the key, else of the table that it is in; 0: neither is in the file.
  std::size_t find(std::string_view path) const;

 private:
  std::map<std::string, std::size_t, std::less<>> lines_;
};

// Rules between keys, and values that no key takes. In the order of the sections.
std::vector<Mistake> find_mistakes(const Config& config);
// What only shows when files are opened: certificates, scripts, folders, programs.
std::vector<Mistake> find_missing_files(const Config& config);
// Golden cases of [[dialect]] tables that do not come out as they should, at one of all cuts.
std::vector<Mistake> find_golden_failures(const Config& config);
// What is allowed and is rarely meant.
std::vector<Mistake> find_oddities(const Config& config);
// The part of these that is about patterns without a match.
void add_idle_patterns(const Config& config, std::vector<Mistake>& found);

struct ExaminedConfig {
  Config config;
  SourceLines lines;
  std::vector<Mistake> mistakes;  // by line
};
// Reads a file to its end, whatever is wrong in it. Without find_missing_files() and find_oddities().
ExaminedConfig examine_config(const ConfigSource& source);
// The [[tool]] tables of a file of their own.
std::vector<ToolTable> read_tool_tables(const std::string& file, std::vector<Mistake>& mistakes);
// Adds lines and sorts by them; those without one come last.
void locate(std::vector<Mistake>& mistakes, const SourceLines& lines);
// `FILE:LINE: message`, one per line.
std::string to_text(const std::vector<Mistake>& mistakes, std::string_view file);

// What differs from the defaults, as TOML with secrets masked.
std::string print_differences(const Config& config);
// The JSON Schema of the file.
std::string print_schema();

}  // namespace callgate::server
