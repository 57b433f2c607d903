// What must hold for every dialect and every input, for property tests and the fuzzer: the output does not depend on the
// cuts, the event grammar holds, every byte is accounted for, and complete arguments are JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "callgate/dialect.h"
#include "chat/event_grammar.h"
#include "chat/event_log.h"
#include "dialect/output.h"
#include "json/reader.h"

namespace callgate::dialect::oracle {

// Notes the first breach and passes on.
class GrammarSink final : public EventSink {
 public:
  explicit GrammarSink(EventSink& next) : next_(next) {}
  void accept(const Event& event) override {
    if (breach_.empty()) breach_ = grammar_.check(event);
    next_.accept(event);
  }
  std::string_view breach() { return breach_.empty() ? grammar_.check_calls_closed() : breach_; }

 private:
  EventSink& next_;
  EventGrammar grammar_;
  std::string_view breach_;
};

inline bool is_json(std::string_view text) {
  json::Reader reader(text);
  reader.skip();
  return reader.finish();
}

// Pushes of 1 to `longest` bytes by a small generator; 0: all at once. The seed also says whether the turn is cut off.
// Empty, or what is wrong.
inline std::string parse(const Dialect& dialect, const DialectOptions& options, Channel channel,
                         std::string_view text, std::size_t longest, std::uint64_t seed,
                         std::string& printed) {
  EventLog log;
  GrammarSink sink(log);
  const std::unique_ptr<DialectParser> parser = dialect.make(options);
  const bool cut_off = seed % 4 == 3;
  for (std::size_t at = 0; at < text.size();) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const std::size_t size = longest == 0 ? text.size() : 1 + (seed >> 33) % longest;
    parser->push(text.substr(at, size), channel, sink);
    at += std::min(size, text.size() - at);
  }
  if (cut_off) parser->cut_off();
  parser->finish(sink);
  printed = print(log.events());
  if (!sink.breach().empty()) return std::string(sink.breach());
  const auto* audited = dynamic_cast<const AuditedParser*>(parser.get());
  if (audited != nullptr && audited->audit().sum() != text.size()) return "bytes went astray";
  for (const LoggedCall& call : log.calls()) {
    if (call.outcome == CallOutcome::complete && !is_json(call.arguments)) {
      return "complete arguments are not JSON: " + call.arguments;
    }
  }
  return {};
}

// Empty when all holds.
inline std::string check(const Dialect& dialect, const DialectOptions& options, Channel channel,
                         std::string_view text, std::uint64_t seed) {
  std::string whole;
  if (std::string fault = parse(dialect, options, channel, text, 0, seed, whole); !fault.empty()) {
    return fault + "\n" + whole;
  }
  for (const std::size_t longest : {std::size_t{1}, std::size_t{3}, std::size_t{17}}) {
    std::string cut;
    if (std::string fault = parse(dialect, options, channel, text, longest, seed, cut);
        !fault.empty()) {
      return fault + " in cuts of up to " + std::to_string(longest) + "\n" + cut;
    }
    if (cut != whole) {
      return "cuts of up to " + std::to_string(longest) + " change the output\nwhole:\n" + whole +
             "cut:\n" + cut;
    }
  }
  return {};
}

}  // namespace callgate::dialect::oracle
