// Golden cases of dialects, for tests and benches:
//
//   === marker_in_arg
//   A marker inside a JSON string is data.
//   --- tools
//   [{"name": "run", "parameters": {"type": "object"}}]
//   --- options
//   reasoning_open
//   --- in
//   <tool_call>{"name": "run", "arguments": {"cmd": "</tool_call>"}}</tool_call>
//   --- out
//   call 0 run
//   args 0 {"cmd": "</tool_call>"}
//   end 0 complete
//
// Options, one a line: reasoning_open, commit=whole_call, channel=reasoning, max_held_back=N, special_tokens_only, no_tools,
// cut_off (the upstream did not end the turn normally). `--- in json` holds a JSON string. A case that a dialect cannot
// have says `n/a: why` instead.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_path_testing.h"
#include "callgate/dialect.h"
#include "json/reader.h"

namespace callgate::dialect::golden {

struct Case {
  std::string name;
  std::string reason;  // of n/a
  std::vector<ToolSpec> tools;
  bool no_tools = false;  // the request declares none
  bool special_tokens_only = false;
  bool reasoning_open = false;
  bool cut_off = false;
  Commit commit = Commit::eager;
  Channel channel = Channel::text;
  std::size_t max_held_back = std::size_t{1} << 20;
  std::string in;
  std::string out;

  DialectOptions options() const {
    return {.tools = tools,
            .special_tokens_only = special_tokens_only,
            .start = reasoning_open ? Channel::reasoning : Channel::text,
            .commit = commit,
            .max_held_back = max_held_back};
  }

  std::unique_ptr<DialectParser> make(const Dialect& dialect) const {
    return no_tools ? make_without_calls(dialect, options()) : dialect.make(options());
  }
};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<ToolSpec> read_tools(std::string_view json) {
  std::vector<ToolSpec> tools;
  json::Reader in(json);
  while (in.next_element()) {
    ToolSpec tool;
    for (std::string_view key; in.next_member(key);) {
      if (key == "name") {
        tool.name = in.string();
      } else if (key == "parameters") {
        tool.parameters.text = in.raw();
      } else {
        in.skip();
      }
    }
    tools.push_back(std::move(tool));
  }
  EXPECT_TRUE(in.finish()) << "tools are not JSON: " << json;
  return tools;
}

inline void take_option(Case& into, std::string_view option) {
  constexpr std::string_view kLimit = "max_held_back=";
  if (option == "reasoning_open") {
    into.reasoning_open = true;
  } else if (option == "no_tools") {
    into.no_tools = true;
  } else if (option == "special_tokens_only") {
    into.special_tokens_only = true;
  } else if (option == "cut_off") {
    into.cut_off = true;
  } else if (option == "commit=whole_call") {
    into.commit = Commit::whole_call;
  } else if (option == "channel=reasoning") {
    into.channel = Channel::reasoning;
  } else if (option.starts_with(kLimit)) {
    into.max_held_back = std::stoul(std::string(option.substr(kLimit.size())));
  } else {
    ADD_FAILURE() << into.name << ": unknown option " << option;
  }
}

inline void take_section(Case& into, std::string_view title, std::string body) {
  if (title == "tools") {
    into.tools = read_tools(body);
  } else if (title == "options") {
    std::istringstream lines(body);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) take_option(into, line);
    }
  } else if (title == "in") {
    into.in = std::move(body);
  } else if (title == "in json") {
    json::Reader in(body);
    into.in = in.string();
    EXPECT_TRUE(in.finish()) << into.name << ": the input is no JSON string";
  } else if (title == "out") {
    while (body.ends_with('\n')) body.pop_back();
    into.out = body.empty() ? body : body + "\n";
  } else if (title.empty()) {
    if (const std::size_t at = body.find("n/a: "); at != std::string::npos) {
      into.reason = body.substr(at);
    }
  } else {
    ADD_FAILURE() << into.name << ": unknown section " << title;
  }
}

// What stands before the first case is a comment.
inline std::vector<Case> read_cases(const std::string& text) {
  std::vector<Case> cases;
  std::string title;
  std::string body;
  const auto close_section = [&] {
    if (body.ends_with('\n')) body.pop_back();
    if (!cases.empty()) take_section(cases.back(), title, std::move(body));
    body.clear();
    title.clear();
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("=== ")) {
      close_section();
      cases.push_back({.name = line.substr(4)});
    } else if (line.starts_with("--- ")) {
      close_section();
      title = line.substr(4);
    } else {
      body += line;
      body += '\n';
    }
  }
  close_section();
  return cases;
}

inline std::string path_of(std::string_view dialect) {
  return source_path("golden/dialect/").append(dialect).append(".golden");
}

inline std::vector<Case> cases_of(const Dialect& dialect) {
  return read_cases(read_text(path_of(dialect.name)));
}

}  // namespace callgate::dialect::golden
