// Any definition of a dialect, and any text for it. The input is a few lines, a template each, an empty line and model text.
// A definition without flaws gives a dialect that keeps the rules of all of them, by itself and in `auto`; golden cases are
// read from the same bytes.
#include <cstdio>
#include <cstdlib>

#include "dialect/custom/catalog.h"
#include "dialect/custom/golden_case.h"
#include "dialect/oracle_testing.h"

namespace {

std::string take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return std::string(line);
}

callgate::dialect::Definition definition_of(unsigned flags, std::string_view& text) {
  callgate::dialect::Definition made{.name = "own", .call = {take_line(text)}};
  made.parameter = take_line(text);
  made.section = take_line(text);
  made.raw = take_line(text);
  if (const std::string reasoning = take_line(text); !reasoning.empty()) {
    made.reasoning = {reasoning};
  }
  if (const std::string end = take_line(text); !end.empty()) made.end = {end};
  made.special_tokens = (flags & 1) != 0;
  made.trim_newline = (flags & 2) != 0;
  made.untyped = (flags & 4) != 0 ? "json" : "text";
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  (void)callgate::dialect::golden::read_cases(text);
  const callgate::dialect::Definition definition = definition_of(data[0], text);
  if (!callgate::dialect::find_flaws(definition).empty()) return 0;
  const callgate::dialect::Catalog catalog({definition});
  const std::vector<callgate::ToolSpec> tools = {
      {.name = "run",
       .parameters = {R"({"type":"object","properties":{"a":{"type":"integer"}}})"}}};
  for (const std::string_view name : {"own", "auto"}) {
    const std::string fault = callgate::dialect::oracle::check(
        *catalog.find(name), {.tools = tools}, callgate::Channel::text, text, data[1]);
    if (fault.empty()) continue;
    std::fprintf(stderr, "%s: %s\n", std::string(name).c_str(), fault.c_str());
    std::abort();
  }
  return 0;
}
