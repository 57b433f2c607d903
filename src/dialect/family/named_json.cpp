#include "dialect/family/named_json.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "dialect/family/call_object.h"
#include "dialect/family/fence_close.h"
#include "dialect/family/json_arguments.h"
#include "dialect/family/json_string.h"
#include "dialect/tool_fit.h"

namespace callgate::dialect {
namespace {

// Nobody names a tool with more than this; what is longer is prose.
constexpr std::size_t kMaxNameHeader = 1024;
constexpr std::string_view kBrace = "{";

bool is_json_name(std::string_view text) {
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

// What stands in an id for the name of a tool without being one.
bool is_opaque(std::string_view text, bool indexed) {
  const auto starts = [&](std::string_view prefix) { return text.starts_with(prefix); };
  if (text.empty() || is_digits(text)) return true;
  return !indexed &&
         (starts("call_") || starts("call-") || starts("toolu_") || starts("chatcmpl-"));
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

std::shared_ptr<const MarkerSet> make_markers(const Prose& prose, const NamedJson& grammar) {
  std::vector<std::string_view> texts;
  for (const Field& field : grammar.fields) texts.push_back(field.marker);
  texts.push_back(kBrace);
  for (const std::string_view text : enders(prose)) texts.push_back(text);
  return std::make_shared<const MarkerSet>(texts);
}

class NamedJsonReader final : public CallReader {
 public:
  NamedJsonReader(const Prose& prose, const NamedJson& grammar, const DialectOptions& options)
      : prose_(prose),
        grammar_(grammar),
        tools_(options.tools),
        markers_(markers_of(prose, grammar)),
        scan_(*markers_),
        arguments_(prose) {}

  void open(std::size_t opener, Output& out) override;
  Step push(std::string_view bytes, Output& out) override;
  void finish(Output& out) override;

 private:
  enum class State : std::uint8_t { header, arguments, fence };

  static std::shared_ptr<const MarkerSet> markers_of(const Prose& prose, const NamedJson& grammar);
  Step push_header(std::string_view bytes, Output& out);
  void explain_header(Output& out) const;
  Step push_arguments(std::string_view bytes, Output& out);
  Step push_quoted(std::string_view bytes, Output& out);
  Step begin_arguments(Output& out);
  Step take_header_marker(std::size_t marker, Output& out);
  bool is_stripped_header() const;
  Step end_header(std::string_view ender, Output& out);
  Step end_call(Step step, CallOutcome outcome, Output& out);
  bool close_slot();
  bool ends_name_line() const;
  bool take_kimi_id();
  bool has_name() const;
  std::string_view kimi_name(bool& indexed) const;
  Step end_unnamed(Step step, Output& out);

  const Prose& prose_;
  const NamedJson& grammar_;
  std::span<const ToolSpec> tools_;
  std::shared_ptr<const MarkerSet> markers_;
  MarkerScan scan_;
  JsonArguments arguments_;
  FenceClose fence_;
  State state_ = State::header;
  Slot slot_ = Slot::name;
  bool fenced_ = false;
  bool quoted_ = false;        // the arguments are in a JSON string
  bool unnamed_ = false;       // the arguments tell which tool is meant
  std::string_view stripped_;  // the tool's name and a colon: the call's opener was not written
  std::size_t header_size_ = 0;
  JsonString string_;
  std::string decoded_;
  std::string raw_;   // the arguments of an unnamed call
  std::string text_;  // of the slot
  std::string name_;
  std::string id_;
};

// One set per grammar and thread, as for the markers of a turn: openers of declared names are not in it.
std::shared_ptr<const MarkerSet> NamedJsonReader::markers_of(const Prose& prose,
                                                             const NamedJson& grammar) {
  if (grammar.storage == NamedJson::Storage::dynamic) return make_markers(prose, grammar);
  thread_local std::unordered_map<const NamedJson*, std::shared_ptr<const MarkerSet>> known;
  std::shared_ptr<const MarkerSet>& markers = known[&grammar];
  if (markers == nullptr) markers = make_markers(prose, grammar);
  return markers;
}

void NamedJsonReader::open(std::size_t opener, Output&) {
  const Opener& with = prose_.call_open[opener];
  state_ = State::header;
  scan_ = MarkerScan(*markers_);
  slot_ = grammar_.first;
  fenced_ = false;
  quoted_ = false;
  unnamed_ = false;
  stripped_ = with.names == Opener::Names::declared ? with.text : std::string_view{};
  header_size_ = 0;
  text_ = stripped_;
  name_.clear();
  id_.clear();
  raw_.clear();
}

// Behind the name and the colon that stand for the opener: an index and the first marker, nothing else.
bool NamedJsonReader::is_stripped_header() const {
  const std::string_view index = std::string_view(text_).substr(stripped_.size());
  return index.empty() || is_digits(index);
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
    if (step.next == Step::Next::rejected && state_ == State::header) explain_header(out);
    if (step.next != Step::Next::more || state_ == State::fence) return step;
  }
  return {.used = at};
}

// How much of a header without its marker was read depends on how the stream is cut.
void NamedJsonReader::explain_header(Output& out) const {
  const bool stripped = !stripped_.empty();
  out.expected("the name of a function and its arguments",
               text_.empty() || stripped ? Found{} : Found::word(trimmed(text_)));
  if (stripped && out.doubt() != nullptr) out.doubt()->at -= header_size_;
}

Step NamedJsonReader::push_header(std::string_view bytes, Output& out) {
  bytes = bytes.substr(0, kMaxNameHeader - header_size_);
  const MarkerScan::Result found = scan_.push(bytes);
  out.hold(bytes.substr(0, found.used));
  text_.append(found.held).append(found.before);
  header_size_ += found.used;
  Step step{.used = found.used};
  if (!stripped_.empty() && slot_ == grammar_.first && !is_stripped_header()) {
    step.next = Step::Next::rejected;
  } else if (found.marker == MarkerSet::kNone) {
    if (header_size_ == kMaxNameHeader) step.next = Step::Next::rejected;
  } else {
    const Step end = take_header_marker(found.marker, out);
    step.next = end.next;
    step.replay = end.replay;
  }
  return step;
}

Step NamedJsonReader::take_header_marker(std::size_t marker, Output& out) {
  const std::size_t fields = grammar_.fields.size();
  if (marker < fields) {
    const bool closed = close_slot();
    slot_ = grammar_.fields[marker].slot;
    text_.clear();
    return {.next = closed ? Step::Next::more : Step::Next::rejected};
  }
  const std::string_view text = markers_->text(marker);
  if (!stripped_.empty() && slot_ == grammar_.first) {
    out.unhold(text.size());
    return {.next = Step::Next::rejected, .replay = text};
  }
  return marker == fields ? begin_arguments(out) : end_header(text, out);
}

// False: the text is not what the slot holds.
bool NamedJsonReader::close_slot() {
  const std::string_view text = trimmed(text_);
  switch (slot_) {
    case Slot::name:
      name_ = text;
      return is_json_name(name_);
    case Slot::kind_or_name:
      name_ = text;
      return text.empty() || is_json_name(name_);
    case Slot::id:
      id_ = text;
      return text.find_first_of(kSpace) == std::string_view::npos;
    case Slot::kimi_id:
      return take_kimi_id();
    case Slot::arguments:
      fenced_ = is_fence(text);
      quoted_ = text == "\"";
      return has_name() && (text.empty() || fenced_ || quoted_);
    case Slot::name_and_fence: {
      const std::size_t line = std::min(text.find('\n'), text.find("```"));
      const std::string_view rest = line == std::string_view::npos ? "" : text.substr(line);
      fenced_ = is_fence(rest);
      if (const std::string_view name = trimmed(text.substr(0, line)); !name.empty()) name_ = name;
      return is_json_name(name_) && (trimmed(rest).empty() || fenced_);
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

bool NamedJsonReader::has_name() const { return unnamed_ || is_json_name(name_); }

// functions.NAME:INDEX, functions_NAME_INDEX, NAME:INDEX, NAME:ID or NAME.
std::string_view NamedJsonReader::kimi_name(bool& indexed) const {
  std::string_view name = without_index(id_, ':');
  indexed = name.size() < id_.size();
  if (name.starts_with("functions.")) {
    name.remove_prefix(10);
  } else if (name.starts_with("functions_")) {
    name = without_index(name.substr(10), '_');
  }
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos || is_declared(tools_, name)) return name;
  const std::string_view head = name.substr(0, colon);
  const bool splits = is_declared(tools_, head) || is_opaque(name.substr(colon + 1), false);
  return splits ? head : name;
}

// An id that names no tool means the only one that is declared, or the one that the arguments fit.
bool NamedJsonReader::take_kimi_id() {
  id_ = joined_id(trimmed(text_));
  bool indexed = false;
  name_ = kimi_name(indexed);
  if (!tools_.empty() && is_opaque(name_, indexed) && !is_declared(tools_, name_)) {
    unnamed_ = tools_.size() > 1;
    if (is_digits(id_)) id_.clear();
    name_ = unnamed_ ? std::string() : tools_[0].name;
  }
  if (name_ == id_) id_.clear();
  return unnamed_ || (is_json_name(name_) && name_.find_first_of("*#!?~|\\") == std::string::npos);
}

Step NamedJsonReader::begin_arguments(Output& out) {
  const bool ready = slot_ != Slot::id && close_slot() && has_name();
  if (!ready) return {.next = Step::Next::rejected};
  out.unhold(kBrace.size());
  if (!unnamed_) out.start_call(name_, id_);
  state_ = State::arguments;
  arguments_.begin(quoted_);
  string_.begin();
  const Step first = push_arguments(kBrace, out);
  return {.next = first.next, .replay = first.replay};
}

// A close marker, or the next call, in place of the arguments.
Step NamedJsonReader::end_header(std::string_view ender, Output& out) {
  Step step{.next = Step::Next::rejected, .replay = ender};
  out.unhold(ender.size());
  if (slot_ == Slot::kimi_id && trimmed(text_).empty()) return step;
  if (slot_ == Slot::id || slot_ == Slot::kind_or_name || !close_slot() || quoted_) return step;
  if (unnamed_) return end_unnamed(step, out);
  out.start_call(name_, id_);
  out.arguments("{}");
  return end_call(step, CallOutcome::complete, out);
}

// The tool that the arguments fit; when there is none, nothing says what the call is, and it is hidden.
Step NamedJsonReader::end_unnamed(Step step, Output& out) {
  const ToolSpec* tool = tool_for(tools_, raw_.empty() ? "{}" : std::string_view(raw_));
  if (tool == nullptr) {
    out.drop_markers();
    step.next = Step::Next::closed;
    return step;
  }
  out.start_call(tool->name, id_);
  if (raw_.empty()) out.arguments("{}");
  unnamed_ = false;
  return end_call(step, CallOutcome::complete, out);
}

Step NamedJsonReader::push_quoted(std::string_view bytes, Output& out) {
  decoded_.clear();
  const std::size_t used = string_.push(bytes, decoded_);
  out.argument_bytes(bytes.substr(0, used));
  arguments_.push(decoded_, out);
  if (unnamed_) raw_ += decoded_;
  if (!string_.closed()) return {.used = used};
  const CallOutcome outcome = arguments_.finish(out, CallOutcome::malformed);
  if (!unnamed_) return end_call({.used = used}, outcome, out);
  if (outcome != CallOutcome::complete) return {.used = used, .next = Step::Next::rejected};
  return end_unnamed({.used = used}, out);
}

Step NamedJsonReader::push_arguments(std::string_view bytes, Output& out) {
  if (quoted_) return push_quoted(bytes, out);
  const JsonArguments::Result result = arguments_.push(bytes, out);
  Step step{.used = result.used, .replay = result.replay};
  if (unnamed_) {
    raw_ += bytes.substr(0, result.used);
    if (result.state == JsonArguments::State::inside) return step;
    if (result.state == JsonArguments::State::complete) return end_unnamed(step, out);
    step.next = Step::Next::rejected;
    return step;
  }
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
      if (!named || unnamed_) return;
      out.start_call(name_, id_);
      out.finish_call(CallOutcome::truncated);
      return;
    }
    case State::arguments:
      if (!unnamed_) out.finish_call(arguments_.finish(out));
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
