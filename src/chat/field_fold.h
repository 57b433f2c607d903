// What several reports of one field mean together: the value that a whole answer has for it.
//
//   citations, annotations, images, parts, reasoning_details    of a message: the elements of all reports, one after the other
//   audio                     of a message: `data` and `transcript` are joined, of its other members the last counts
//   logprobs                  of a choice: the elements of each member, one after the other
//   any other field           the last report counts
//
// Time and memory are linear in what was reported. Fields beyond 256 names, and members of one field, are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "callgate/event.h"

namespace callgate {

// The fields of one choice, turn, message or call.
class FieldFold {
 public:
  // REQUIRES: `json` is a whole JSON value.
  void add(FieldReported::Scope scope, std::string_view name, std::string_view json);
  bool empty() const { return fields_.empty(); }
  // Of names and values.
  std::size_t bytes() const { return bytes_; }
  // In the order in which the fields were first reported.
  void each(FunctionRef<void(std::string_view name, std::string_view json)> visit) const;

 private:
  enum class Rule : std::uint8_t { last, append, join, by_member };
  struct Field {
    std::string name;
    std::string json;            // empty: what the members say
    std::vector<Field> members;  // Rule::by_member, in the order in which they came
  };

  static Rule rule_of(FieldReported::Scope scope, std::string_view name);
  static Rule rule_of_member(std::string_view name);
  static Field* find_or_add(std::vector<Field>& fields, std::string_view name);
  static void fold(Field& field, Rule rule, std::string_view json);
  static void fold_members(Field& field, std::string_view json);
  static std::size_t bytes_of(const Field& field);

  std::vector<Field> fields_;
  std::size_t bytes_ = 0;
};

}  // namespace callgate
