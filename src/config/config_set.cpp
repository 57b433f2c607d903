#include "config/config_set.h"

#include <charconv>
#include <cstddef>
#include <string>

#include "base/quoted.h"
#include "config/config_text.h"

namespace callgate::server {
namespace {

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

tl::unexpected<Error> no_such_table(std::string_view set, std::string_view list,
                                    std::string_view segment) {
  segment = segment.substr(0, segment.find('.'));
  return callgate::fail(ErrorCode::invalid_request,
                        "--set " + shortened(set.substr(0, set.find('='))) + ": there is no [[" +
                            std::string(list) + "]] " + in_quotes(segment));
}

}  // namespace

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

}  // namespace callgate::server
