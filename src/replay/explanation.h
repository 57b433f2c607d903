// Why markup stayed text, collected for people and for machines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/dialect.h"

namespace callgate::replay {

class Explanation final : public Explainer {
 public:
  struct Piece {
    std::string dialect;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::string reason;
  };

  // `asked`: the dialect that the text is read in.
  explicit Explanation(std::string_view asked) : asked_(asked) {}
  void stayed_text(const StayedText& text) override;

  const std::vector<Piece>& pieces() const { return pieces_; }
  // A line for each piece. Without pieces and without `calls`, one line that says that the text opens no call.
  std::string lines(std::size_t calls) const;
  std::string json() const;

 private:
  std::string asked_;
  std::vector<Piece> pieces_;
};

std::string line_of(const Explanation::Piece& piece);
// [{"dialect":"hermes","begin":0,"end":13,"reason":"..."}]
std::string json_of(const std::vector<Explanation::Piece>& pieces);

}  // namespace callgate::replay
