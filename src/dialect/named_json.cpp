#include "dialect/named_json.h"

#include <algorithm>
#include <string>
#include <vector>

#include "dialect/fence_close.h"
#include "dialect/json_arguments.h"

namespace callgate::dialect {
namespace {

// Nobody names a tool with more than this; what is longer is prose.
constexpr std::size_t kMaxHeader = 1024;
constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kBrace = "{";

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

bool is_name(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) {
    return is_space(c) || std::string_view("<>{}[]()\"'`,;=").find(c) != std::string_view::npos;
  });
}

bool is_fence(std::string_view text) {
  text = trimmed(text);
  return text == "```" || text == "```json";
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Without what stands behind the last `separator`, if that is a number.
std::string_view without_index(std::string_view text, char separator) {
  const std::size_t at = text.rfind(separator);
  if (at == std::string_view::npos || !is_digits(text.substr(at + 1))) return text;
  return text.substr(0, at);
}

// Line breaks are noise, and so are spaces around the parts of an id; other spaces are not those of one.
std::string joined_id(std::string_view text) {
  std::string id;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_space(text[at])) {
      id.push_back(text[at]);
      continue;
    }
    const char before = id.back();
    const char after = text[std::min(text.find_first_not_of(kSpace, at), text.size() - 1)];
    const bool noise = text[at] == '\n' || text[at] == '\r' || before == '.' || before == ':' ||
                       after == '.' || after == ':';
    if (!noise) id.push_back(' ');
  }
  return id;
}

class NamedJsonReader final : public CallReader {
 public:
  NamedJsonReader(const Prose& prose, const NamedJson& grammar, const DialectOptions& options)
      : grammar_(grammar),
        tools_(options.tools),
        markers_(marker_texts(prose, grammar)),
        scan_(markers_),
        arguments_(enders(prose)) {}

  void open(std::size_t opener, Output& out) override;
  Step push(std::string_view bytes, Output& out) override;
  void finish(Output& out) override;

 private:
  enum class State : std::uint8_t { header, arguments, fence };

  static std::vector<std::string_view> marker_texts(const Prose& prose, const NamedJson& grammar);
  Step push_header(std::string_view bytes, Output& out);
  Step push_arguments(std::string_view bytes, Output& out);
  Step begin_arguments(Output& out);
  Step end_header(std::string_view ender, Output& out);
  Step end_call(Step step, CallOutcome outcome, Output& out);
  bool close_slot();
  bool ends_name_line() const;
  bool take_kimi_id();

  const NamedJson& grammar_;
  std::span<const ToolSpec> tools_;
  MarkerSet markers_;
  MarkerScan scan_;
  JsonArguments arguments_;
  FenceClose fence_;
  State state_ = State::header;
  Slot slot_ = Slot::name;
  bool fenced_ = false;
  std::size_t header_size_ = 0;
  std::string text_;  // of the slot
  std::string name_;
  std::string id_;
};

std::vector<std::string_view> NamedJsonReader::marker_texts(const Prose& prose,
                                                            const NamedJson& grammar) {
  std::vector<std::string_view> texts;
  for (const Field& field : grammar.fields) texts.push_back(field.marker);
  texts.push_back(kBrace);
  for (const std::string_view text : enders(prose)) texts.push_back(text);
  return texts;
}

void NamedJsonReader::open(std::size_t, Output&) {
  state_ = State::header;
  scan_ = MarkerScan(markers_);
  slot_ = grammar_.first;
  fenced_ = false;
  header_size_ = 0;
  text_.clear();
  name_.clear();
  id_.clear();
}

Step NamedJsonReader::push(std::string_view bytes, Output& out) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::string_view rest = bytes.substr(at);
    Step step;
    switch (state_) {
      case State::header:
        step = push_header(rest, out);
        break;
      case State::arguments:
        step = push_arguments(rest, out);
        break;
      case State::fence:
        step = fence_.push(rest, out);
        break;
    }
    step.used += at;
    at = step.used;
    if (step.next == Step::Next::rejected && state_ == State::header) {
      out.expected("the name of a function and its arguments",
                   text_.empty() ? Found{} : Found::word(trimmed(text_)));
    }
    if (step.next != Step::Next::more || state_ == State::fence) return step;
  }
  return {.used = at};
}

Step NamedJsonReader::push_header(std::string_view bytes, Output& out) {
  bytes = bytes.substr(0, kMaxHeader - header_size_);
  const MarkerScan::Result found = scan_.push(bytes);
  out.hold(bytes.substr(0, found.used));
  text_.append(found.held).append(found.before);
  header_size_ += found.used;
  Step step{.used = found.used};
  const std::size_t fields = grammar_.fields.size();
  if (found.marker == MarkerSet::kNone) {
    if (header_size_ == kMaxHeader) step.next = Step::Next::rejected;
  } else if (found.marker < fields) {
    if (!close_slot()) step.next = Step::Next::rejected;
    slot_ = grammar_.fields[found.marker].slot;
    text_.clear();
  } else {
    const bool brace = found.marker == fields;
    const Step end = brace ? begin_arguments(out) : end_header(markers_.text(found.marker), out);
    step.next = end.next;
    step.replay = end.replay;
  }
  return step;
}

// False: the text is not what the slot holds.
bool NamedJsonReader::close_slot() {
  const std::string_view text = trimmed(text_);
  switch (slot_) {
    case Slot::name:
      name_ = text;
      return is_name(name_);
    case Slot::kind_or_name:
      name_ = text;
      return text.empty() || is_name(name_);
    case Slot::id:
      id_ = text;
      return text.find_first_of(kSpace) == std::string_view::npos;
    case Slot::kimi_id:
      return take_kimi_id();
    case Slot::arguments:
      fenced_ = is_fence(text);
      return is_name(name_) && (text.empty() || fenced_);
    case Slot::name_and_fence: {
      const std::size_t line = std::min(text.find('\n'), text.find("```"));
      const std::string_view rest = line == std::string_view::npos ? "" : text.substr(line);
      fenced_ = is_fence(rest);
      if (const std::string_view name = trimmed(text.substr(0, line)); !name.empty()) name_ = name;
      return is_name(name_) && (trimmed(rest).empty() || fenced_);
    }
  }
  return false;
}

bool NamedJsonReader::ends_name_line() const {
  const std::string_view text = text_;
  const std::size_t name = text.find_first_not_of(kSpace);
  return slot_ == Slot::name_and_fence && name != std::string_view::npos &&
         text.find('\n', name) != std::string_view::npos;
}

// functions.NAME:INDEX, functions_NAME_INDEX, NAME:INDEX or NAME.
bool NamedJsonReader::take_kimi_id() {
  id_ = joined_id(trimmed(text_));
  std::string_view name = without_index(id_, ':');
  const bool indexed = name.size() < id_.size();
  if (name.starts_with("functions.")) {
    name.remove_prefix(10);
  } else if (name.starts_with("functions_")) {
    name = without_index(name.substr(10), '_');
  }
  // An id that names no tool can only mean the one there is.
  const bool opaque =
      name.starts_with("call_") && !indexed && tools_.size() == 1 && tools_[0].name != name;
  name_ = opaque ? std::string_view(tools_[0].name) : name;
  if (name_ == id_) id_.clear();
  return is_name(name_);
}

Step NamedJsonReader::begin_arguments(Output& out) {
  const bool ready = slot_ != Slot::id && close_slot() && is_name(name_);
  if (!ready) return {.next = Step::Next::rejected};
  out.unhold(kBrace.size());
  out.start_call(name_, id_);
  state_ = State::arguments;
  arguments_.begin();
  arguments_.push(kBrace, out);
  return {};
}

// A close marker, or the next call, in place of the arguments.
Step NamedJsonReader::end_header(std::string_view ender, Output& out) {
  Step step{.next = Step::Next::rejected, .replay = ender};
  out.unhold(ender.size());
  if (slot_ == Slot::id || slot_ == Slot::kind_or_name || !close_slot()) return step;
  out.start_call(name_, id_);
  out.arguments("{}");
  return end_call(step, CallOutcome::complete, out);
}

Step NamedJsonReader::push_arguments(std::string_view bytes, Output& out) {
  const JsonArguments::Result result = arguments_.push(bytes, out);
  const Step step{.used = result.used, .replay = result.replay};
  switch (result.state) {
    case JsonArguments::State::inside:
      return step;
    case JsonArguments::State::complete:
      return end_call(step, CallOutcome::complete, out);
    case JsonArguments::State::malformed:
      return end_call(step, CallOutcome::malformed, out);
  }
  return step;
}

Step NamedJsonReader::end_call(Step step, CallOutcome outcome, Output& out) {
  step.next = out.finish_call(outcome) ? Step::Next::closed : Step::Next::rejected;
  if (step.next == Step::Next::closed && fenced_ && step.replay.empty()) {
    state_ = State::fence;
    fence_.begin();
    step.next = Step::Next::more;
  }
  return step;
}

void NamedJsonReader::finish(Output& out) {
  switch (state_) {
    case State::header: {
      text_.append(scan_.finish().held);
      const bool named = (slot_ == Slot::arguments || ends_name_line()) && close_slot();
      if (!named) return;
      out.start_call(name_, id_);
      out.finish_call(CallOutcome::truncated);
      return;
    }
    case State::arguments:
      out.finish_call(arguments_.finish(out));
      return;
    case State::fence:
      out.drop_held();
      return;
  }
}

}  // namespace

std::unique_ptr<CallReader> make_named_json(const Prose& prose, const NamedJson& grammar,
                                            const DialectOptions& options) {
  return std::make_unique<NamedJsonReader>(prose, grammar, options);
}

}  // namespace callgate::dialect
