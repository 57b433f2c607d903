// Model text in, events out, without a server: text in the hermes dialect, pushed a few bytes at a time as a model
// writes it. The joined events do not depend on the cuts.
#include <cstdio>
#include <string>
#include <vector>

#include "callgate/dialect.h"

namespace {

using namespace callgate;

// Prints events, neighbouring deltas joined.
class Printer final : public EventSink {
 public:
  void accept(const Event& event) override {
    std::visit(Overloaded{
                   [&](const TextDelta& e) { say("text ", e.text); },
                   [&](const ReasoningDelta& e) { say("reasoning ", e.text); },
                   [&](const RefusalDelta& e) { say("refusal ", e.text); },
                   [&](const CallStarted& e) { say("call ", e.name, true); },
                   [&](const ArgumentsDelta& e) { say("arguments ", e.bytes); },
                   [&](const CallFinished&) { say("end", "", true); },
                   [](const FieldReported&) {},
                   [](const UsageReported&) {},
                   [](const TurnFinished&) {},
               },
               event);
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  void say(std::string_view word, std::string_view rest, bool always_new = false) {
    const bool joins = !always_new && !lines_.empty() && lines_.back().starts_with(word);
    if (!joins) lines_.emplace_back(word);
    lines_.back() += rest;
  }

  std::vector<std::string> lines_;
};

}  // namespace

int main() {
  const Dialect* hermes = dialect::find("hermes");
  if (hermes == nullptr) return 1;
  std::vector<ToolSpec> tools(1);
  tools[0].name = "find";
  const auto parser = hermes->make({.tools = tools});

  const std::string_view written =
      "Let me look.<tool_call>\n"
      "{\"name\": \"find\", \"arguments\": {\"q\": \"tea\"}}\n"
      "</tool_call>";
  Printer printer;
  constexpr std::size_t kPiece = 5;
  for (std::size_t at = 0; at < written.size(); at += kPiece) {
    parser->push(written.substr(at, kPiece), Channel::text, printer);
  }
  parser->finish(printer);

  for (const std::string& line : printer.lines()) std::printf("%s\n", line.c_str());
  const std::vector<std::string> expected = {"text Let me look.", "call find",
                                             "arguments {\"q\": \"tea\"}", "end"};
  return printer.lines() == expected ? 0 : 1;
}
