// A dialect that somebody describes as data. The templates show one call as the model writes it:
//
//   call = "<call>{json}</call>"                     {"name": "f", "arguments": {...}}, one or a list
//   call = "<calls>{python}</calls>"                 f(k="v"), g()
//   call = "[CALL]{name}[ARGS]{arguments}[/CALL]"    f[ARGS]{...}
//   call = "<fn={name}>{parameters}</fn>"            with  parameter = "<p={key}>{value}</p>"
//
// White space around the texts of a template does not matter.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace callgate::dialect {

struct Definition {
  std::string name;
  std::string description;
  std::vector<std::string> models;  // glob patterns
  std::vector<std::string> call;    // several: ways to write the same {json} or {python}
  std::string parameter;
  std::string section;  // <calls>{calls}</calls>
  std::vector<std::string> reasoning{"<think>{text}</think>"};
  std::vector<std::string> end;  // tokens at the end of a turn
  bool special_tokens = false;   // the markers of calls are special tokens of the model
  std::vector<std::string> name_member;
  std::vector<std::string> arguments_member;
  std::vector<std::string> id_member;
  std::string untyped = "text";  // what a parameter is that the schema says nothing of: text, json
  bool trim_newline = false;     // one line end on each side of a parameter's value is structure
  std::string raw;               // <![CDATA[{value}]]>
  std::string commit = "eager";
  std::string golden;  // cases: a file, or their text
};

inline constexpr std::size_t kMaxDefinitions = 32;
inline constexpr std::size_t kMaxMarker = 64;          // bytes
inline constexpr std::size_t kMaxDefinitionList = 16;  // markers, members or patterns of one key

struct Flaw {
  std::string key;
  std::string message;
};

// What is wrong with a definition. Without flaws it can be made into a dialect.
std::vector<Flaw> find_flaws(const Definition& definition);

// `a{x}b` is the texts "a", "b" and the slot "x".
struct Template {
  std::vector<std::string> texts;  // one more than slots, without white space around them
  std::vector<std::string> slots;
};
Template read_template(std::string_view text);

}  // namespace callgate::dialect
