// Why markup stayed text: the words for it, and a relay for parsers that run others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "callgate/dialect.h"
#include "dialect/output.h"

namespace callgate::dialect {

// `expected '"', found "'"`.
std::string expectation(std::string_view expected, const Found& found);

inline constexpr std::string_view kNoCalls =
    "the request declares no tools, or a structured call follows";

inline constexpr std::string_view kNotAtLineStart = "not at the start of a line";

// `tool "f" is not declared`.
std::string undeclared(std::string_view tool);

inline constexpr std::string_view kTooLong = "a call within what may be held back";

// What a parser with an Output of its own has to say of each opener. Costs a test where nobody asks.
class OpenerDoubts {
 public:
  // REQUIRES: both outlive this; `to` is what the output was made with.
  OpenerDoubts(Output& out, Explainer* to) : out_(out), to_(to) {}

  // An opener begins here.
  void begin() {
    if (to_ == nullptr) return;
    at_ = out_.position();
    out_.doubt()->reason.clear();
  }
  // The opener leaves as text, for what the reader said first, or else for this.
  void report(std::string_view expected, const Found& found);

 private:
  Output& out_;
  Explainer* to_;
  std::uint64_t at_ = 0;
};

// Stands between a parser that reads a part of the turn and whoever wants to know.
class ExplainRelay final : public Explainer {
 public:
  enum class Mode : std::uint8_t {
    pass,  // everything is handed on
    hold,  // the first thing is kept until release(); the rest of the part will be read again
  };
  // REQUIRES: `to` outlives the relay; nullptr: nobody wants to know.
  explicit ExplainRelay(Explainer* to) : to_(to) {}

  bool wanted() const { return to_ != nullptr; }
  // Another part begins, at this offset of the turn.
  void begin(std::string_view dialect, std::uint64_t offset, Mode mode);
  std::uint64_t offset() const { return offset_; }
  void stayed_text(const StayedText& text) override;
  // Hands on what is kept; if nothing is, that the part is not a call.
  void release();
  // Of the relay's owner, with offsets in the turn. What begins inside something that was given up is not worth a word.
  void report(std::string_view dialect, std::uint64_t begin, std::uint64_t end,
              std::string_view reason);

 private:
  Explainer* to_;
  std::string_view dialect_;
  std::uint64_t offset_ = 0;
  Mode mode_ = Mode::pass;
  std::uint64_t told_to_ = 0;  // end of what was reported last
  bool kept_ = false;
  std::uint64_t begin_ = 0;  // of what is kept
  std::uint64_t end_ = 0;
  std::string reason_;
};

}  // namespace callgate::dialect
