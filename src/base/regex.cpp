#include "base/regex.h"

#include <algorithm>
#include <memory>
#include <string>

namespace callgate {
namespace {

constexpr char32_t kLast = 0x10FFFF;
constexpr std::size_t kMaxDepth = 100;
constexpr std::uint32_t kMaxCount = 1'000;  // of {m,n}
constexpr std::uint32_t kNoLimit = 0xFFFFFFFF;

// The next code point; a byte that begins none counts as one.
char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at++);
  const std::size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC2 ? 1 : 0;
  if (first < 0x80 || more == 0 || first > 0xF4 || at + more > text.size())
    return first < 0x80 ? first : 0xFFFD;
  char32_t code = first & (0x3F >> more);
  for (std::size_t i = 0; i < more; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0xFFFD;
    code = (code << 6) | (byte(at + i) & 0x3F);
  }
  at += more;
  return code;
}

}  // namespace

// Pattern -> steps, by recursive descent over a tree that is small enough for the stack.
class RegexCompiler {
 public:
  using Ranges = Regex::Ranges;
  using Kind = Regex::Step::Kind;

  explicit RegexCompiler(std::string_view pattern) {
    for (std::size_t at = 0; at < pattern.size();) pattern_.push_back(next_code_point(pattern, at));
  }

  std::optional<Regex> compile() {
    const auto tree = read_choice(0);
    if (tree == nullptr || at_ != pattern_.size()) return std::nullopt;
    if (!emit(*tree)) return std::nullopt;
    add({.kind = Kind::done});
    return std::move(made_);
  }

 private:
  struct Node {
    enum class Kind : std::uint8_t { empty, set, sequence, choice, repeat, begin, end };
    Kind kind = Kind::empty;
    Ranges set;
    std::optional<std::uint32_t> place;  // of the set, once it was emitted
    std::vector<std::unique_ptr<Node>> parts;
    std::uint32_t least = 0;
    std::uint32_t most = 0;
  };
  using Tree = std::unique_ptr<Node>;

  bool over() const { return at_ >= pattern_.size(); }
  char32_t peek() const { return over() ? 0 : pattern_[at_]; }
  bool take(char32_t c) {
    if (over() || pattern_[at_] != c) return false;
    ++at_;
    return true;
  }
  static Tree node(Node::Kind kind) {
    auto made = std::make_unique<Node>();
    made->kind = kind;
    return made;
  }
  static Tree set_node(Ranges ranges) {
    Tree made = node(Node::Kind::set);
    made->set = joined(std::move(ranges));
    return made;
  }

  // nullptr: a fault.
  Tree read_choice(std::size_t depth) {
    if (depth > kMaxDepth) return nullptr;
    Tree choice = node(Node::Kind::choice);
    do {
      Tree sequence = node(Node::Kind::sequence);
      while (!over() && peek() != '|' && peek() != ')') {
        Tree part = read_repeated(depth);
        if (part == nullptr) return nullptr;
        sequence->parts.push_back(std::move(part));
      }
      choice->parts.push_back(std::move(sequence));
    } while (take('|'));
    return choice;
  }

  Tree read_repeated(std::size_t depth) {
    Tree part = read_atom(depth);
    while (part != nullptr && !over()) {
      std::uint32_t least = 0;
      std::uint32_t most = kNoLimit;
      if (take('+')) {
        least = 1;
      } else if (take('?')) {
        most = 1;
      } else if (peek() == '{') {
        ++at_;
        if (!read_counts(least, most)) return nullptr;
      } else if (!take('*')) {
        return part;
      }
      (void)take('?');  // how much it would rather take does not matter for a match of all
      if (peek() == '+') return nullptr;
      Tree repeat = node(Node::Kind::repeat);
      repeat->least = least;
      repeat->most = most;
      repeat->parts.push_back(std::move(part));
      part = std::move(repeat);
      if (++depth > kMaxDepth) return nullptr;
    }
    return part;
  }

  // 3} 3,} 3,5}
  bool read_counts(std::uint32_t& least, std::uint32_t& most) {
    if (!read_count(least)) return false;
    most = least;
    if (take(',')) {
      most = kNoLimit;
      if (peek() != '}' && !read_count(most)) return false;
    }
    return take('}') && least <= most;
  }
  bool read_count(std::uint32_t& count) {
    const std::size_t from = at_;
    count = 0;
    for (; !over() && peek() >= '0' && peek() <= '9' && count <= kMaxCount; ++at_) {
      count = count * 10 + (peek() - '0');
    }
    return at_ > from && count <= kMaxCount;
  }

  Tree read_atom(std::size_t depth) {
    if (take('(')) return read_group(depth);
    if (take('[')) return read_class();
    if (take('^')) return node(Node::Kind::begin);
    if (take('$')) return node(Node::Kind::end);
    if (take('.')) return set_node({{0, '\n' - 1}, {'\n' + 1, kLast}});
    if (take('\\')) {
      if (take('A')) return node(Node::Kind::begin);
      if (take('z')) return node(Node::Kind::end);
      Ranges ranges;
      return read_escape(ranges) ? set_node(std::move(ranges)) : nullptr;
    }
    const char32_t c = peek();
    if (c == '*' || c == '+' || c == '?' || c == '{') return nullptr;  // of nothing
    ++at_;
    return set_node({{c, c}});
  }

  Tree read_group(std::size_t depth) {
    if (take('?') && !take(':')) {
      (void)take('P');
      if (!take('<') || over() || peek() == '=' || peek() == '!') return nullptr;
      while (!over() && peek() != '>') ++at_;
      if (!take('>')) return nullptr;
    }
    Tree inner = read_choice(depth + 1);
    return inner != nullptr && take(')') ? std::move(inner) : nullptr;
  }

  Tree read_class() {
    const bool other = take('^');
    Ranges ranges;
    for (bool first = true; first || peek() != ']'; first = false) {
      if (over() || peek() == '[') return nullptr;
      Ranges from;
      if (!read_member(from)) return nullptr;
      const bool one = from.size() == 1 && from[0].first == from[0].second;
      const bool range = peek() == '-' && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']';
      if (range) {
        ++at_;
        Ranges to;
        if (!one || peek() == '[' || !read_member(to)) return nullptr;
        const bool good = to.size() == 1 && to[0].first == to[0].second;
        if (!good || to[0].first < from[0].first) return nullptr;
        from[0].second = to[0].first;
      }
      ranges.insert(ranges.end(), from.begin(), from.end());
    }
    ++at_;
    return set_node(other ? opposite(std::move(ranges)) : std::move(ranges));
  }

  // A character of a class. Doubled operators are operations between classes elsewhere.
  bool read_member(Ranges& into) {
    if (take('\\')) return read_escape(into);
    const char32_t c = peek();
    const bool doubled = at_ + 1 < pattern_.size() && pattern_[at_ + 1] == c;
    if (over() || (doubled && (c == '&' || c == '-' || c == '~'))) return false;
    ++at_;
    into = {{c, c}};
    return true;
  }

  bool read_escape(Ranges& into) {
    if (over()) return false;
    const char32_t c = pattern_[at_++];
    const std::pair<char32_t, char32_t> foreign{0x80, kLast};
    const auto class_of = [&](Ranges ranges, bool other) {
      into = other ? opposite(std::move(ranges)) : std::move(ranges);
      into.push_back(foreign);
      return true;
    };
    switch (c) {
      case 'd':
      case 'D':
        return class_of({{'0', '9'}}, c == 'D');
      case 'w':
      case 'W':
        return class_of({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, c == 'W');
      case 's':
      case 'S':
        return class_of({{'\t', '\r'}, {' ', ' '}}, c == 'S');
      case 'x':
      case 'u':
        return read_code(c == 'x' ? 2 : 4, into);
      default:
        break;
    }
    static constexpr std::u32string_view kNames = U"nrtfva";
    static constexpr std::u32string_view kMeant = U"\n\r\t\f\v\a";
    const std::size_t control = kNames.find(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (control == std::u32string_view::npos && letter) return false;
    const char32_t meant = control == std::u32string_view::npos ? c : kMeant[control];
    into = {{meant, meant}};
    return true;
  }

  // 41 or {1F600}
  bool read_code(std::size_t digits, Ranges& into) {
    const bool braced = take('{');
    if (braced) digits = 6;
    char32_t code = 0;
    std::size_t count = 0;
    for (; count < digits && !over(); ++count, ++at_) {
      const char32_t c = peek() | 0x20;
      const bool letter = c >= 'a' && c <= 'f';
      if (!letter && (peek() < '0' || peek() > '9')) break;
      code = code * 16 + (letter ? c - 'a' + 10 : peek() - '0');
    }
    const bool good = braced ? count > 0 && take('}') : count == digits;
    into = {{code, code}};
    return good && code <= kLast;
  }

  // The same characters in as few ranges as there can be, in their order.
  static Ranges joined(Ranges ranges) {
    std::sort(ranges.begin(), ranges.end());
    Ranges all;
    for (const auto& range : ranges) {
      if (!all.empty() && range.first <= all.back().second + 1) {
        all.back().second = std::max(all.back().second, range.second);
      } else {
        all.push_back(range);
      }
    }
    return all;
  }

  static Ranges opposite(Ranges ranges) {
    std::sort(ranges.begin(), ranges.end());
    Ranges other;
    char32_t from = 0;
    for (const auto& [first, last] : ranges) {
      if (first > from) other.emplace_back(from, first - 1);
      from = std::max<char32_t>(from, last + 1);
    }
    if (from <= kLast) other.emplace_back(from, kLast);
    return other;
  }

  std::uint32_t add(Regex::Step step) {
    made_.steps_.push_back(step);
    return static_cast<std::uint32_t>(made_.steps_.size() - 1);
  }
  std::uint32_t here() const { return static_cast<std::uint32_t>(made_.steps_.size()); }

  // False: the program gets too large, or too much was repeated that adds nothing to it.
  bool emit(Node& node) {
    if (++emitted_ > 2 * Regex::kMaxProgram || made_.steps_.size() > Regex::kMaxProgram)
      return false;
    switch (node.kind) {
      case Node::Kind::empty:
        return true;
      case Node::Kind::begin:
        add({.kind = Kind::begin});
        return true;
      case Node::Kind::end:
        add({.kind = Kind::end});
        return true;
      case Node::Kind::set:
        if (!node.place) {
          node.place = static_cast<std::uint32_t>(made_.sets_.size());
          made_.sets_.push_back(std::move(node.set));
        }
        add({.kind = Kind::set, .set = *node.place});
        return true;
      case Node::Kind::sequence:
        return std::all_of(node.parts.begin(), node.parts.end(),
                           [&](Tree& part) { return emit(*part); });
      case Node::Kind::choice:
        return emit_choice(node);
      case Node::Kind::repeat:
        return emit_repeat(node);
    }
    return false;
  }

  bool emit_choice(Node& node) {
    std::vector<std::uint32_t> ends;
    for (std::size_t i = 0; i < node.parts.size(); ++i) {
      const bool last = i + 1 == node.parts.size();
      const std::uint32_t fork = last ? 0 : add({.kind = Kind::fork});
      if (!last) made_.steps_[fork].to = here();
      if (!emit(*node.parts[i])) return false;
      if (last) break;
      ends.push_back(add({.kind = Kind::jump}));
      made_.steps_[fork].other = here();
    }
    for (const std::uint32_t end : ends) made_.steps_[end].to = here();
    return true;
  }

  bool emit_repeat(Node& node) {
    Node& part = *node.parts.front();
    for (std::uint32_t i = 0; i < node.least; ++i) {
      if (!emit(part)) return false;
    }
    if (node.most == kNoLimit) {
      const std::uint32_t fork = add({.kind = Kind::fork});
      made_.steps_[fork].to = here();
      if (!emit(part)) return false;
      add({.kind = Kind::jump, .to = fork});
      made_.steps_[fork].other = here();
      return true;
    }
    std::vector<std::uint32_t> forks;
    for (std::uint32_t i = node.least; i < node.most; ++i) {
      forks.push_back(add({.kind = Kind::fork}));
      made_.steps_[forks.back()].to = here();
      if (!emit(part)) return false;
    }
    for (const std::uint32_t fork : forks) made_.steps_[fork].other = here();
    return true;
  }

  std::u32string pattern_;
  std::size_t at_ = 0;
  std::size_t emitted_ = 0;
  Regex made_;
};

std::optional<Regex> Regex::compile(std::string_view pattern) {
  if (pattern.size() > kMaxPattern) return std::nullopt;
  return RegexCompiler(pattern).compile();
}

// The places in the pattern that the text so far may have led to, each once.
class Regex::Threads {
 public:
  explicit Threads(const std::vector<Step>& steps) : steps_(&steps), seen_(steps.size(), 0) {}

  const std::vector<std::uint32_t>& places() const { return places_; }
  bool is_done() const { return done_; }
  std::size_t take_cost() { return std::exchange(cost_, 0); }
  void clear() {
    places_.clear();
    done_ = false;
    ++round_;
  }
  // Follows what takes no character.
  void add(std::uint32_t place, bool at_begin, bool at_end) {
    open_.push_back(place);
    while (!open_.empty()) {
      const std::uint32_t at = open_.back();
      open_.pop_back();
      ++cost_;
      if (seen_[at] == round_) continue;
      seen_[at] = round_;
      const Step& step = (*steps_)[at];
      switch (step.kind) {
        case Step::Kind::set:
          places_.push_back(at);
          break;
        case Step::Kind::fork:
          open_.push_back(step.other);
          open_.push_back(step.to);
          break;
        case Step::Kind::jump:
          open_.push_back(step.to);
          break;
        case Step::Kind::begin:
          if (at_begin) open_.push_back(at + 1);
          break;
        case Step::Kind::end:
          if (at_end) open_.push_back(at + 1);
          break;
        case Step::Kind::done:
          done_ = true;
          break;
      }
    }
  }

 private:
  const std::vector<Step>* steps_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> open_;
  std::vector<std::size_t> seen_;  // the last round that came by
  std::size_t round_ = 1;
  std::size_t cost_ = 0;
  bool done_ = false;
};

Regex::Verdict Regex::matches(std::string_view text) const {
  std::size_t steps = kMaxSteps;
  return matches(text, steps);
}

// Ranges are in their order, and none touches the next.
static bool is_in_ranges(const std::vector<std::pair<char32_t, char32_t>>& ranges, char32_t c) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), c,
                       [](char32_t value, const auto& range) { return value < range.first; });
  return after != ranges.begin() && c <= std::prev(after)->second;
}

Regex::Verdict Regex::matches(std::string_view text, std::size_t& left) const {
  Threads now(steps_);
  Threads next(steps_);
  now.add(0, true, text.empty());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    next.clear();
    for (const std::uint32_t place : now.places()) {
      if (is_in_ranges(sets_[steps_[place].set], c)) next.add(place + 1, false, at == text.size());
    }
    const std::size_t cost = now.take_cost() + next.take_cost();
    left -= std::min(left, cost);
    std::swap(now, next);
    if (now.places().empty() && at < text.size()) return Verdict::differs;
    if (left == 0) return Verdict::undecided;
  }
  return now.is_done() ? Verdict::matches : Verdict::differs;
}

}  // namespace callgate
