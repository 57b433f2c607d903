#include "upstream/gemini/gemini_arguments.h"

#include <charconv>

#include "json/writer.h"

namespace callgate::upstream {
namespace {

constexpr std::size_t kMaxSteps = 64;
// Elements that the model left out are null, so that later ones keep their places.
constexpr std::uint64_t kMaxGap = 64;

}  // namespace

void GeminiArguments::start() {
  depth_ = 0;
  path_.clear();
  in_string_ = false;
  halves_.drop();
}

void GeminiArguments::add(const GeminiArgument& piece, std::string& out) {
  using Kind = GeminiArgument::Kind;
  const bool goes_on = in_string_ && piece.path.view() == path_;
  if (goes_on && piece.kind != Kind::json) return add_text(piece, out);
  if (piece.kind == Kind::none) return;
  end_text(out);
  path_ = piece.path.view();
  read_path(path_);
  if (depth_ == 0) open({}, false, out);

  // Containers that this path shares with the last one stay open.
  const std::size_t containers = step_count_ - 1;
  std::size_t shared = 0;
  while (shared < containers && shared + 1 < depth_ && levels_[shared + 1].step == steps_[shared] &&
         levels_[shared + 1].array == steps_[shared + 1].is_index) {
    ++shared;
  }
  while (depth_ > shared + 1) close(out);
  for (std::size_t i = shared; i < containers; ++i) open(steps_[i], steps_[i + 1].is_index, out);
  begin_value(steps_[containers], out);
  if (piece.kind == Kind::json) {
    out.append(piece.value.view());
    return;
  }
  out.push_back('"');
  add_text(piece, out);
}

void GeminiArguments::add_text(const GeminiArgument& piece, std::string& out) {
  json::append_escaped(out, halves_.push(piece.value.view(), joined_));
  in_string_ = true;
  if (!piece.will_continue) end_text(out);
}

void GeminiArguments::end_text(std::string& out) {
  if (!in_string_) return;
  in_string_ = false;
  out.append(halves_.finish());
  out.push_back('"');
}

void GeminiArguments::finish(std::string& out) {
  end_text(out);
  if (depth_ == 0) open({}, false, out);
  while (depth_ > 0) close(out);
}

void GeminiArguments::open(const Step& step, bool array, std::string& out) {
  if (depth_ > 0) begin_value(step, out);
  out.push_back(array ? '[' : '{');
  if (depth_ == levels_.size()) levels_.emplace_back();
  Level& level = levels_[depth_++];
  level.step = step;
  level.array = array;
  level.written = 0;
}

void GeminiArguments::close(std::string& out) {
  out.push_back(levels_[--depth_].array ? ']' : '}');
}

// What stands before a value in the innermost level: comma, and name or elements left out.
void GeminiArguments::begin_value(const Step& step, std::string& out) {
  Level& level = levels_[depth_ - 1];
  if (level.array && step.index > level.written && step.index - level.written <= kMaxGap) {
    for (; level.written < step.index; ++level.written) {
      out.append(level.written > 0 ? ",null" : "null");
    }
  }
  if (level.written++ > 0) out.push_back(',');
  if (level.array) return;
  json::append_string(out, step.name);
  out.push_back(':');
}

// Text that is not a valid path is an argument name.
void GeminiArguments::read_path(std::string_view path) {
  step_count_ = 0;
  if (!read_steps(path) || step_count_ == 0) {
    step_count_ = 0;
    add_step()->name = path;
  }
  // Arguments are an object.
  Step& first = steps_.front();
  if (first.is_index) {
    first.is_index = false;
    first.name = std::to_string(first.index);
  }
}

bool GeminiArguments::read_steps(std::string_view path) {
  if (path.starts_with('$')) {
    path.remove_prefix(1);
  } else if (!path.starts_with('[')) {
    // city, without the root
    Step* const step = add_step();
    step->name = path.substr(0, path.find_first_of(".["));
    if (step->name.empty()) return false;
    path.remove_prefix(step->name.size());
  }
  while (!path.empty()) {
    if (path.front() == '[') {
      if (!read_bracket(path)) return false;
      continue;
    }
    if (path.front() != '.') return false;
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find_first_of(".["));
    Step* const step = add_step();
    if (name.empty() || step == nullptr) return false;
    step->name = name;
    path.remove_prefix(name.size());
  }
  return true;
}

// [3], ['a name'] or ["a name"]
bool GeminiArguments::read_bracket(std::string_view& rest) {
  rest.remove_prefix(1);
  Step* const step = add_step();
  if (step == nullptr || rest.empty()) return false;
  const char quote = rest.front();
  if (quote != '\'' && quote != '"') {
    step->is_index = true;
    const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), step->index);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (fault != std::errc() || !rest.starts_with(']')) return false;
    rest.remove_prefix(1);
    return true;
  }
  for (rest.remove_prefix(1); !rest.empty() && rest.front() != quote; rest.remove_prefix(1)) {
    if (rest.front() == '\\' && rest.size() > 1) rest.remove_prefix(1);
    step->name.push_back(rest.front());
  }
  if (rest.size() < 2 || rest[1] != ']') return false;
  rest.remove_prefix(2);
  return true;
}

// nullptr: too many.
GeminiArguments::Step* GeminiArguments::add_step() {
  if (step_count_ == kMaxSteps) return nullptr;
  if (step_count_ == steps_.size()) steps_.emplace_back();
  Step& step = steps_[step_count_++];
  step.is_index = false;
  step.index = 0;
  step.name.clear();
  return &step;
}

}  // namespace callgate::upstream
