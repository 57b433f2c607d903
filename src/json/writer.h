// Appends JSON to a string that the caller reuses. Output is always valid UTF-8: invalid input bytes leave as U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace callgate::json {

// `text` escaped, without quotes.
void append_escaped(std::string& out, std::string_view text);
// `text` escaped, with quotes.
void append_string(std::string& out, std::string_view text);
// A JSON value without the white space around its tokens. REQUIRES: it is well-formed.
void append_compact(std::string& out, std::string_view json);
void append_integer(std::string& out, std::int64_t value);

// Writes the commas and keys of one object:
//   ObjectWriter object(out);
//   object.string("id", id);
//   object.key("choices") += "[]";
//   object.close();
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_.push_back('{'); }

  // `"name":` and returns the text, to append a value to. `name` is written as it is (no escaping).
  std::string& key(std::string_view name);
  void string(std::string_view name, std::string_view value) { append_string(key(name), value); }
  void integer(std::string_view name, std::int64_t value) { append_integer(key(name), value); }
  void boolean(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }
  void raw(std::string_view name, std::string_view json) { key(name).append(json); }
  void null(std::string_view name) { key(name) += "null"; }
  // A member with a name that may need escaping.
  void raw_escaped(std::string_view name, std::string_view json);
  void close() { out_.push_back('}'); }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace callgate::json
