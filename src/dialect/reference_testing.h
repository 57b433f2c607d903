// Holds a dialect's parser against its reference (reference/reference.h).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "callgate/dialect.h"
#include "chat/event_log.h"
#include "dialect/reference/reference.h"
#include "json/writer.h"

namespace callgate::dialect::reference {

// What the parser prints when the turn comes in pushes of `size` bytes.
inline std::string parsed(const Dialect& dialect, const ReferenceCase& turn, std::size_t size) {
  EventLog log;
  const std::unique_ptr<DialectParser> parser = dialect.make(
      {.tools = turn.tools, .start = turn.reasoning_open ? Channel::reasoning : Channel::text});
  for (std::size_t at = 0; at < turn.text.size(); at += size) {
    parser->push(turn.text.substr(at, size), Channel::text, log);
  }
  if (turn.cut_off) parser->cut_off();
  parser->finish(log);
  return print(log.events());
}

// More rounds from another seed: CALLGATE_PROPERTY_ROUNDS, CALLGATE_PROPERTY_SEED.
inline int rounds() {
  const char* text = std::getenv("CALLGATE_PROPERTY_ROUNDS");
  return text != nullptr ? std::atoi(text) : 150;
}
inline std::uint64_t seed() {
  const char* text = std::getenv("CALLGATE_PROPERTY_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

// Compares turns and counts those on which the reference has no opinion.
class Comparison {
 public:
  explicit Comparison(const Dialect& dialect)
      : dialect_(dialect), reference_(find_reference(dialect.name)) {}

  // `what` says which turn it is.
  void expect_same(const ReferenceCase& turn, std::string_view what) {
    ++turns_;
    EventLog log;
    if (!reference_(turn, log)) {
      ++skipped_;
      return;
    }
    std::string shown;
    json::append_string(shown, turn.text);
    const std::string expected = print(log.events());
    EXPECT_EQ(parsed(dialect_, turn, turn.text.size() + 1), expected) << what << "\n" << shown;
    EXPECT_EQ(parsed(dialect_, turn, 1), expected) << what << " byte by byte\n" << shown;
  }

  // So that a reference cannot fall silent.
  void expect_opinions(double share) const {
    EXPECT_GE(turns_ - skipped_, share * turns_)
        << dialect_.name << ": no opinion on " << skipped_ << " of " << turns_ << " turns";
  }

 private:
  const Dialect& dialect_;
  Reference reference_;
  int turns_ = 0;
  int skipped_ = 0;
};

}  // namespace callgate::dialect::reference
