#include "dialect/custom/golden_case.h"

#include <utility>

#include "base/quoted.h"
#include "base/text.h"
#include "chat/event_log.h"
#include "json/reader.h"

namespace callgate::dialect::golden {
namespace {

class CaseReader {
 public:
  Result<std::vector<Case>> read(std::string_view text);

 private:
  Result<void> wrong(std::string message) const {
    return fail(ErrorCode::invalid_request,
                "line " + std::to_string(section_line_) + ": " + std::move(message));
  }
  Result<void> read_line(std::string_view line);
  Result<void> close_section();
  Result<void> take_section(Case& into);
  Result<void> take_tools(Case& into);
  Result<void> take_options(Case& into);
  Result<void> take_option(Case& into, std::string_view option);

  std::vector<Case> cases_;
  std::string title_;
  std::string body_;
  std::size_t line_ = 0;
  std::size_t section_line_ = 0;
};

Result<void> CaseReader::take_tools(Case& into) {
  json::Reader in(body_);
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
    into.tools.push_back(std::move(tool));
  }
  if (!in.finish()) return wrong("the tools are not a JSON list of objects");
  return {};
}

Result<void> CaseReader::take_option(Case& into, std::string_view option) {
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
  } else if (const auto limit = option.starts_with(kLimit)
                                    ? saturated_number(option.substr(kLimit.size()))
                                    : std::nullopt) {
    into.max_held_back = *limit;
  } else {
    return wrong("unknown option " + in_quotes(option));
  }
  return {};
}

Result<void> CaseReader::take_options(Case& into) {
  std::string_view rest = body_;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.empty()) continue;
    if (auto done = take_option(into, line); !done) return done;
  }
  return {};
}

Result<void> CaseReader::take_section(Case& into) {
  if (title_ == "tools") return take_tools(into);
  if (title_ == "options") return take_options(into);
  if (title_ == "in") {
    into.in = std::move(body_);
  } else if (title_ == "in json") {
    json::Reader in(body_);
    into.in = in.string();
    if (!in.finish()) return wrong("the input is not a JSON string");
  } else if (title_ == "out") {
    while (body_.ends_with('\n')) body_.pop_back();
    into.out = body_.empty() ? body_ : body_ + "\n";
  } else if (title_.empty()) {
    const std::size_t at = body_.find("n/a: ");
    if (at != std::string::npos) into.reason = body_.substr(at);
  } else {
    return wrong("unknown section " + in_quotes(title_) +
                 ", expected tools, options, in, in json or out");
  }
  return {};
}

Result<void> CaseReader::close_section() {
  if (body_.ends_with('\n')) body_.pop_back();
  Result<void> done;
  if (!cases_.empty()) done = take_section(cases_.back());
  body_.clear();
  title_.clear();
  section_line_ = line_;
  return done;
}

Result<void> CaseReader::read_line(std::string_view line) {
  const bool names_case = line.starts_with("=== ");
  if (!names_case && !line.starts_with("--- ")) {
    body_.append(line) += '\n';
    return {};
  }
  if (auto done = close_section(); !done) return done;
  if (names_case) {
    cases_.push_back({.name = std::string(line.substr(4)), .line = line_});
  } else {
    title_ = line.substr(4);
  }
  return {};
}

Result<std::vector<Case>> CaseReader::read(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++line_;
    if (auto done = read_line(line); !done) return tl::unexpected(std::move(done.error()));
  }
  if (auto done = close_section(); !done) return tl::unexpected(std::move(done.error()));
  return std::move(cases_);
}

std::string differs(std::string_view how, const Case& test, const std::string& got) {
  const auto first_line = [](std::string_view a, std::string_view b) {
    std::size_t from = 0;
    for (std::size_t i = 0; i < a.size() && i < b.size() && a[i] == b[i]; ++i) {
      if (a[i] == '\n') from = i + 1;
    }
    const std::string_view rest = a.substr(std::min(from, a.size()));
    const std::string_view line = rest.substr(0, rest.find('\n'));
    return line.empty() ? std::string("nothing") : "`" + shortened(line, 200) + "`";
  };
  return "case " + in_quotes(test.name) + std::string(how) + ": expected " +
         first_line(test.out, got) + ", got " + first_line(got, test.out);
}

}  // namespace

Result<std::vector<Case>> read_cases(std::string_view text) { return CaseReader().read(text); }

std::string print_case(const Dialect& dialect, const Case& test,
                       const std::vector<std::size_t>& cuts) {
  EventLog log;
  const std::unique_ptr<DialectParser> parser = test.make(dialect);
  const std::string_view in = test.in;
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    parser->push(in.substr(from, cut - from), test.channel, log);
    from = cut;
  }
  parser->push(in.substr(from), test.channel, log);
  if (test.cut_off) parser->cut_off();
  parser->finish(log);
  return print(log.events());
}

std::string check_case(const Dialect& dialect, const Case& test) {
  if (std::string got = print_case(dialect, test, {}); got != test.out) {
    return differs("", test, got);
  }
  std::vector<std::size_t> each;
  for (std::size_t cut = 1; cut < test.in.size(); ++cut) {
    each.push_back(cut);
    const std::string got = print_case(dialect, test, {cut});
    if (got != test.out) return differs(" cut at byte " + std::to_string(cut), test, got);
  }
  if (std::string got = print_case(dialect, test, each); got != test.out) {
    return differs(" byte by byte", test, got);
  }
  return {};
}

}  // namespace callgate::dialect::golden
