// For models of which nobody said what they write. The openers of all dialects are watched; what looks like a call is
// handed to its dialect and kept until it is known that the model made the call instead of quoting one:
//
//   Let me see.<|tool_calls_section_begin|>...      a special token: kimi_k2
//   <tool_call>{"name": ...                         at the start of a line: hermes; with <function= qwen3_coder
//   {"name": "declared_tool", "parameters": ...     at the start of a line: a call; other JSON is text
//   Write `<tool_call>...` to call it.              code, a quotation, not at the start of a line: text
//
// docs/dialects.md has the rules.
#include "dialect/auto_parser.h"

namespace callgate::dialect {
namespace {

constexpr std::string_view kSpec = "whatever the first opener says";

// The list of a parser: what was given, or that of this library.
const WatchList& list_of(const void* data) {
  return data == nullptr ? watch_list() : *static_cast<const WatchList*>(data);
}

std::unique_ptr<DialectParser> make_auto(const void* list, const DialectOptions& options) {
  return std::make_unique<AutoParser>(options, TurnGate::Calls::declared, list_of(list));
}

}  // namespace

extern const Dialect automatic;
constinit const Dialect automatic{.name = "auto", .spec = kSpec, .make = {make_auto, nullptr}};

Dialect automatic_with(const WatchList& list) {
  return {.name = "auto", .spec = kSpec, .make = {make_auto, &list}};
}

std::unique_ptr<DialectParser> make_without_calls(const Dialect& dialect,
                                                  const DialectOptions& options) {
  if (dialect.make.calls(make_auto)) {
    return std::make_unique<AutoParser>(options, TurnGate::Calls::none,
                                        list_of(dialect.make.data()));
  }
  std::unique_ptr<DialectParser> parser = dialect.make(options);
  if (dynamic_cast<AuditedParser*>(parser.get()) == nullptr) return parser;
  std::unique_ptr<AuditedParser> audited(static_cast<AuditedParser*>(parser.release()));
  return std::make_unique<TurnGate>(std::move(audited), options, TurnGate::Calls::none);
}

}  // namespace callgate::dialect
