// A text about tool calls is a text: with `auto`, documents that show the markers and the calls of every dialect, in prose,
// in code and in quotations, arrive byte for byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/source_path_testing.h"
#include "base/utf8.h"
#include "chat/event_grammar.h"
#include "chat/event_log.h"
#include "dialect/auto_signs.h"
#include "dialect/golden_testing.h"

namespace callgate::dialect::document_test {
namespace {

using golden::Case;

enum class Tools : std::uint8_t { none, declared, unknown, special_tokens_only };

struct Document {
  std::string text;
  std::vector<ToolSpec> tools;  // every name that it shows
};

std::string parse(const Document& document, Tools tools, std::size_t longest) {
  EventLog log;
  CheckedSink sink(log);
  DialectOptions options;
  if (tools != Tools::unknown) options.tools = document.tools;
  options.special_tokens_only = tools == Tools::special_tokens_only;
  const Dialect& automatic = *find("auto");
  const std::unique_ptr<DialectParser> parser =
      tools == Tools::none ? make_without_calls(automatic, {}) : automatic.make(options);
  std::mt19937_64 random(11);
  for (std::string_view rest = document.text; !rest.empty();) {
    const std::size_t size = longest == 1 ? 1 : 1 + static_cast<std::size_t>(random() % longest);
    parser->push(rest.substr(0, size), Channel::text, sink);
    rest.remove_prefix(std::min(size, rest.size()));
  }
  parser->finish(sink);
  EXPECT_TRUE(log.calls().empty()) << "called " << log.calls()[0].name;
  EXPECT_EQ(log.reasoning(), "");
  return log.text();
}

void expect_verbatim(const Document& document, std::string_view what) {
  for (const Tools tools :
       {Tools::none, Tools::declared, Tools::unknown, Tools::special_tokens_only}) {
    for (const std::size_t longest : {std::size_t{1}, std::size_t{9}, document.text.size()}) {
      ASSERT_EQ(parse(document, tools, longest), document.text)
          << what << ", tools " << static_cast<int>(tools) << ", pushes of " << longest;
    }
  }
}

std::string block_quote(std::string_view text) {
  std::string out = "> ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "> ";
  }
  return out;
}

// Longer than any run of backticks in the text.
std::string ticks(std::string_view text, std::size_t least) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max(least, longest + 1), '`');
}

// The dialect itself takes what follows for prose.
bool is_over(const Dialect& dialect, const Case& test, std::string_view rest) {
  EventLog log;
  DialectOptions options = test.options();
  options.commit = Commit::eager;
  const std::unique_ptr<DialectParser> parser = dialect.make(options);
  parser->push(test.in, Channel::text, log);
  parser->push(rest, Channel::text, log);
  parser->finish(log);
  return log.text().ends_with(rest.substr(rest.find_first_not_of('\n')));
}

// One section per golden case of every dialect.
std::vector<Document> documents() {
  std::vector<Document> all;
  for (const Dialect* dialect : dialect::all()) {
    Document document{.text = "# How " + std::string(dialect->name) + " calls tools\n\n"};
    for (const Case& test : golden::cases_of(*dialect)) {
      if (!test.reason.empty() || !utf8::is_valid(test.in)) continue;
      std::string& text = document.text;
      const std::string fence = ticks(test.in, 3);
      text += "The case " + test.name + ":\n\n" + block_quote(test.in) + "\n\n";
      text += fence + "xml\n" + test.in + "\n" + fence + "\n\n";
      if (test.in.find('\n') == std::string::npos) {
        const std::string tick = ticks(test.in, 1);
        text += "Models write " + tick + " " + test.in + " " + tick + " for it.\n";
      }
      for (const ToolSpec& tool : test.tools) document.tools.push_back(tool);
    }
    all.push_back(std::move(document));
  }
  return all;
}

TEST(Document, shows_calls_of_every_dialect_in_code_and_quotations) {
  for (const Document& document : documents())
    expect_verbatim(document, document.text.substr(0, 40));
}

TEST(Document, shows_whole_calls_of_every_dialect_between_paragraphs) {
  for (const Dialect* dialect : dialect::all()) {
    for (const Case& test : golden::cases_of(*dialect)) {
      const std::string rest = "\n\nThat was " + test.name + ".\n";
      if (!test.reason.empty() || !utf8::is_valid(test.in)) continue;
      if (!is_over(*dialect, test, rest)) continue;
      const Document document{
          .text = "A call of " + std::string(dialect->name) + ":\n\n" + test.in + rest,
          .tools = test.tools};
      ASSERT_EQ(parse(document, Tools::declared, document.text.size()), document.text)
          << dialect->name << " " << test.name;
      ASSERT_EQ(parse(document, Tools::declared, 1), document.text)
          << dialect->name << " " << test.name;
    }
  }
}

TEST(Document, names_every_marker_in_prose) {
  Document document{.text = "Markers are", .tools = {{.name = "run"}}};
  for (const Sign& sign : auto_signs()) document.text.append(" ").append(sign.text).append(",");
  for (const Envelope& envelope : auto_reasoning()) {
    document.text.append(" ").append(envelope.open).append(" to ").append(envelope.close);
  }
  for (const std::string_view tail : auto_tails()) document.text.append(", ").append(tail);
  document.text += " and that is all.\n";
  expect_verbatim(document, "markers");
}

TEST(Document, is_one_of_our_own_pages) {
  const std::filesystem::path root = source_path("");
  std::vector<std::filesystem::path> pages = {root / "README.md", root / "ARCHITECTURE.md",
                                              root / "CHANGELOG.md", root / "CONTRIBUTING.md"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  for (const auto& page : pages) {
    const Document document{.text = golden::read_text(page.string()),
                            .tools = {{.name = "get_weather"}, {.name = "f"}, {.name = "bash"}}};
    expect_verbatim(document, page.string());
  }
}

}  // namespace
}  // namespace callgate::dialect::document_test
