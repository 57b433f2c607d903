// Joins the prose that a parser lets go in pieces of one push: a stream full of things that look like markers must not leave as a delta
// for each of them. Nothing is kept from one push to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace callgate::engine {

class DeltaJoiner {
 public:
  enum class Kind : std::uint8_t { none, text, reasoning };

  // A push begins. REQUIRES: `input` stays valid until its take().
  void begin(std::string_view input) {
    input_ = input;
    if (taken_.capacity() > kKept) taken_ = {};
  }

  Kind kind() const { return kind_; }
  // REQUIRES: kind() is the same or none.
  void add(Kind kind, std::string_view bytes) {
    kind_ = kind;
    if (is_view() && bytes.data() == piece_.data() + piece_.size() && is_input(bytes)) {
      piece_ = {piece_.data(), piece_.size() + bytes.size()};  // the next bytes of the input
    } else if (is_view() && piece_.empty() && is_input(bytes)) {
      piece_ = bytes;
    } else {
      if (is_view()) copy_.assign(piece_);
      copy_.append(bytes);
      piece_ = {};
    }
  }
  // What was added since the last call, valid until the next add(). Then kind() is none.
  std::string_view take() {
    kind_ = Kind::none;
    if (is_view()) return std::exchange(piece_, {});
    taken_.swap(copy_);
    copy_.clear();
    if (copy_.capacity() > kKept) copy_ = {};
    return taken_;
  }

 private:
  static constexpr std::size_t kKept = 4096;

  bool is_view() const { return copy_.empty(); }
  bool is_input(std::string_view bytes) const {
    const std::less_equal<const char*> before;
    return before(input_.data(), bytes.data()) &&
           before(bytes.data() + bytes.size(), input_.data() + input_.size());
  }

  Kind kind_ = Kind::none;
  std::string_view input_;
  std::string_view piece_;  // part of the input, while nothing else was added
  std::string copy_;
  std::string taken_;
};

}  // namespace callgate::engine
