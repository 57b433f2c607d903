// Reads single values of a configuration: what a node of TOML must be for a key of some type, and the words for what it is not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/mistakes.h"
#include "config/toml.h"

namespace callgate::server {

std::string join_path(std::string_view path, std::string_view key);

// `path` is the table, as messages name it, and `key` its key. What cannot be read is reported and left as it is.
class ValueReader {
 public:
  explicit ValueReader(std::vector<Mistake>& mistakes) : mistakes_(mistakes) {}

  void fail(const toml::node& node, std::string message);

  void read(std::string& into, const toml::node& node, std::string_view path, std::string_view key);
  void read(Secret& into, const toml::node& node, std::string_view path, std::string_view key);
  void read(bool& into, const toml::node& node, std::string_view path, std::string_view key);
  void read(std::int64_t& into, const toml::node& node, std::string_view path,
            std::string_view key);
  void read(double& into, const toml::node& node, std::string_view path, std::string_view key);
  void read(Milliseconds& into, const toml::node& node, std::string_view path,
            std::string_view key);
  void read(Bytes& into, const toml::node& node, std::string_view path, std::string_view key);
  void read(std::vector<std::string>& into, const toml::node& node, std::string_view path,
            std::string_view key);
  void read(std::vector<std::pair<std::string, std::string>>& into, const toml::node& node,
            std::string_view path, std::string_view key);
  // { upstream = "a", priority = 1, weight = 3 }, or a name alone.
  void read(std::vector<PoolPlace>& into, const toml::node& node, std::string_view path,
            std::string_view key);
  // A table, or the same written as JSON, which is handier for a schema.
  void read(JsonMembers& into, const toml::node& node, std::string_view path, std::string_view key);

 protected:
  std::string key_;  // the path of what is read: `upstream[1].url`

 private:
  void expected(const toml::node& node, std::string_view path, std::string_view key,
                std::string_view what);
  // With what ${...} stands for.
  std::optional<std::string> text(const toml::node& node, std::string_view path,
                                  std::string_view key);
  void read_place(PoolPlace& place, const toml::table& table, const std::string& path);
  void read_json(JsonMembers& into, const toml::node& node, std::string_view path,
                 std::string_view key);
  void append_json(std::string& out, const toml::node& node, std::string_view path,
                   std::string_view key);

  std::vector<Mistake>& mistakes_;
};

}  // namespace callgate::server
