// Reads members whose kind matters, and names the one that is wrong:
//
//   messages[3].tool_calls[0].function.name: a number, expected a string
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/error.h"
#include "callgate/request.h"
#include "json/reader.h"

namespace callgate {

// Where a field is: `messages[3].tool_calls[0].function.name`. Becomes text only for a fault.
struct FieldPath {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::string_view root;
  std::size_t index = kNone;
  std::string_view inner = {};
  std::size_t inner_index = kNone;
  std::string_view leaf = {};

  FieldPath with(std::string_view name) const;
  std::string text() const;
};

// A base for readers of well-formed JSON. Every function that returns bool returns false after the first fault, which is
// then in error_.
class FieldReader {
 public:
  // `in` must outlive the reader.
  explicit FieldReader(json::Reader& in) : in_(in) {}

  Error take_error() { return std::move(error_); }

 protected:
  bool read_boolean(const FieldPath& path, bool& value);
  // A string; null leaves `value` as it is.
  bool read_string(const FieldPath& path, std::string& value);
  void keep(std::vector<ExtraField>& extra, std::string_view name);
  // A string or an array of strings; nothing is kept of an empty array.
  bool keep_texts(std::vector<ExtraField>& extra, std::string_view name, FieldPath path);
  bool is_null();
  bool fault(const FieldPath& path, std::string_view found, std::string_view expected);
  bool fault_kind(const FieldPath& path, std::string_view expected);

  json::Reader& in_;
  Error error_;
};

// "a string", "null": what a value is, for an error.
std::string_view name_of(json::Kind kind);

}  // namespace callgate
