#include "dialect/family/xml_calls.h"

#include <algorithm>
#include <unordered_set>

#include "dialect/family/marked_json.h"
#include "dialect/family/tagged_value.h"
#include "dialect/plain_run.h"
#include "dialect/turn_parser.h"
#include "json/reader.h"
#include "json/scanner.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

// Close tags that may turn out to be data, per call: bounds the work on a text that is full of them.
constexpr int kMaxAttempts = 64;

constexpr std::size_t kMaxTagName = 256;
// Names of tools that are looked for, together; a request with more of them keeps the first ones.
constexpr std::size_t kMaxMarkerBytes = 32768;

constexpr std::string_view kUseTool = "use_tool";

// Drops the white space between text and a call; a call's element stands on lines of its own.
class SpaceBeforeCalls final : public EventSink {
 public:
  void bind(EventSink& next) { next_ = &next; }
  void accept(const Event& event) override {
    if (const auto* text = std::get_if<TextDelta>(&event)) return accept_text(text->text);
    if (std::holds_alternative<CallStarted>(event)) {
      white_.clear();
    } else if (!std::holds_alternative<ArgumentsDelta>(event) &&
               !std::holds_alternative<CallFinished>(event)) {
      flush();
    }
    next_->accept(event);
  }
  void flush() {
    if (white_.empty()) return;
    next_->accept(TextDelta{white_});
    white_.clear();
  }

 private:
  void accept_text(std::string_view text) {
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    if (last == std::string_view::npos) {
      white_ += text;
      return;
    }
    if (white_.empty()) {
      next_->accept(TextDelta{text.substr(0, last + 1)});
    } else {
      white_ += text.substr(0, last + 1);
      next_->accept(TextDelta{white_});
    }
    white_.assign(text.substr(last + 1));
  }

  EventSink* next_ = nullptr;
  std::string white_;
};

// A child or a JSON string may hold what looks like the element's close tag.
bool is_open(std::string_view body) {
  body = trimmed(body);
  if (!body.starts_with('{')) return body.starts_with('<');
  json::Scanner scanner;
  scanner.push(body);
  return scanner.in_string();
}

// A call as a JSON object, or the arguments alone.
struct JsonCall {
  std::string name;
  std::string wrapper;    // the member that holds the arguments
  std::string arguments;  // JSON
  bool is_call = false;   // nothing but these two
};

JsonCall read_json_call(std::string_view json) {
  JsonCall call;
  json::Reader in(json);
  call.is_call = true;
  for (std::string_view key; in.next_member(key);) {
    if (key == "name" && in.peek() == json::Kind::string) {
      call.name = in.string();
    } else if (is_wrapper_name(key)) {
      call.wrapper = key;
      call.arguments.clear();
      append_clean_json(call.arguments, in.peek() == json::Kind::string ? in.string() : in.raw());
    } else {
      call.is_call = false;
      in.skip();
    }
  }
  return call;
}

// Tags open elements, brackets and fences open JSON.
class XmlOrJson final : public CallReader {
 public:
  XmlOrJson(std::size_t tags, std::unique_ptr<CallReader> xml, std::unique_ptr<CallReader> json)
      : tags_(tags), xml_(std::move(xml)), json_(std::move(json)) {}

  void open(std::size_t opener, Output& out) override {
    chosen_ = opener < tags_ ? xml_.get() : json_.get();
    chosen_->open(opener, out);
  }
  Step push(std::string_view bytes, Output& out) override { return chosen_->push(bytes, out); }
  void finish(Output& out) override { chosen_->finish(out); }
  bool overflow(Output& out) override { return chosen_->overflow(out); }

 private:
  std::size_t tags_;
  std::unique_ptr<CallReader> xml_;
  std::unique_ptr<CallReader> json_;
  CallReader* chosen_ = nullptr;
};

std::unique_ptr<CallReader> make_reader(XmlCalls::NameIn name_in, std::size_t tags,
                                        const Prose& prose, const DialectOptions& options) {
  static constexpr CallKeys kKeys{};
  return std::make_unique<XmlOrJson>(
      tags, std::make_unique<XmlCalls>(name_in, prose.call_open.first(tags), options),
      make_marked_json(prose, kKeys, options));
}

// The turn's parser with markers that come from the declared tools.
class XmlParser final : public AuditedParser {
 public:
  XmlParser(XmlCalls::NameIn name_in, const DialectOptions& options) {
    if (name_in == XmlCalls::NameIn::body) add_tag(kUseTool);
    if (name_in == XmlCalls::NameIn::tag) {
      for (const ToolSpec& tool : options.tools) add_tag(tool.name);
    }
    for (const std::string& text : texts_) {
      openers_.push_back({.text = text, .in_code = Opener::InCode::text});
    }
    constexpr Opener kJson[] = {{"{", Opener::Where::line, Opener::Names::declared},
                                {"[", Opener::Where::first, Opener::Names::declared},
                                {"```json", Opener::Where::line, Opener::Names::declared},
                                {"```\n{", Opener::Where::line, Opener::Names::declared}};
    openers_.insert(openers_.end(), std::begin(kJson), std::end(kJson));
    prose_ = {.reasoning = kThink, .call_open = openers_};
    turn_ = std::make_unique<TurnParser>(
        prose_, make_reader(name_in, texts_.size(), prose_, options), options);
  }

  void push(std::string_view text, Channel channel, EventSink& sink) override {
    space_.bind(sink);
    turn_->push(text, channel, space_);
  }
  void finish(EventSink& sink) override {
    space_.bind(sink);
    turn_->finish(space_);
    space_.flush();
  }
  void cut_off() override { turn_->cut_off(); }
  const Audit& audit() const override { return turn_->audit(); }
  std::size_t held_size() const override { return turn_->held_size(); }

 private:
  void add_tag(std::string_view name) {
    const bool usable = !name.empty() && name != "think" &&
                        std::find_if_not(name.begin(), name.end(), is_tag_name_byte) == name.end();
    std::string text = std::string(1, '<').append(name);
    marker_bytes_ += text.size();
    if (usable && marker_bytes_ <= kMaxMarkerBytes && known_.insert(text).second) {
      texts_.push_back(std::move(text));
    }
  }

  std::size_t marker_bytes_ = 0;
  std::unordered_set<std::string> known_;
  std::vector<std::string> texts_;
  std::vector<Opener> openers_;
  Prose prose_;
  std::unique_ptr<TurnParser> turn_;
  SpaceBeforeCalls space_;
};

}  // namespace

void XmlCalls::open(std::size_t opener, Output& /*out*/) {
  at_ = At::attributes;
  close_.assign("</").append(openers_[opener].text.substr(1)).push_back('>');
  line_opener_.clear();
  matched_ = 0;
  attempts_ = 0;
  shown_closes_ = 0;
  attributes_.begin(">");
  body_.clear();
  lead_read_ = false;
}

Step XmlCalls::push(std::string_view bytes, Output& out) {
  if (lead_read_ && matched_ == 0 && attempts_ == 0 && is_plain_push(bytes)) [[likely]] {
    out.argument_bytes(bytes);
    body_ += bytes;
    return {.used = bytes.size()};
  }
  step_ = {};
  std::size_t i = 0;
  while (i < bytes.size() && step_.next == Step::Next::more) {
    if (at_ == At::attributes) {
      i += read_attribute_byte(bytes[i], out);
    } else {
      i += read_body(bytes.substr(i), out);
    }
  }
  step_.used = i;
  return step_;
}

std::size_t XmlCalls::read_attribute_byte(char c, Output& out) {
  const bool begins = attributes_.text().empty();
  const bool fits = !begins || is_space(c) || c == '>' || c == '/';
  if (!fits || attributes_.push(c) == AttributeScan::State::failed) {
    out.expected(fits ? "attributes and the end of the tag" : "the end of the tag's name",
                 Found::rest({&c, 1}));
    step_.next = Step::Next::rejected;
    return 0;
  }
  out.hold({&c, 1});
  if (attributes_.matched() == 0) return 1;
  at_ = At::body;
  if (self_closing()) {
    step_.next = emit({}, out) ? Step::Next::closed : Step::Next::rejected;
    if (step_.next == Step::Next::rejected) expected_body({}, out);
  }
  return 1;
}

bool XmlCalls::self_closing() const { return attributes_.text().ends_with('/'); }

std::string_view XmlCalls::attributes() const {
  std::string_view text = attributes_.text();
  if (self_closing()) text.remove_suffix(1);
  return text;
}

// The body of a call begins with a tag or with a brace; a tag that is only mentioned is followed by other text.
std::size_t XmlCalls::read_lead(char c, Output& out) {
  const bool in_tag = body_.ends_with('<');
  const bool fits = in_tag ? is_tag_name_byte(c) || c == '/' : is_space(c) || c == '<' || c == '{';
  if (!fits) {
    out.expected(in_tag ? "a tag" : "a tag or '{'",
                 Found::rest(in_tag ? "<" : std::string_view(&c, 1)));
    step_ = {.next = Step::Next::rejected, .replay = in_tag ? "<" : ""};
    return 0;
  }
  // A `<` waits for the byte behind it: it may open another call.
  if (in_tag) out.argument_bytes("<");
  if (c != '<') out.argument_bytes({&c, 1});
  body_.push_back(c);
  lead_read_ = in_tag || c == '{';
  if (in_tag) matched_ = c == '/' ? 2 : 0;
  return 1;
}

// Reads to the next close tag of the element or to the end of the bytes.
std::size_t XmlCalls::read_body(std::string_view bytes, Output& out) {
  if (!lead_read_) return read_lead(bytes[0], out);
  if (attempts_ > 0) return read_doubtful(bytes[0], out);
  std::size_t used = 0;
  while (used < bytes.size() && matched_ < close_.size()) {
    if (matched_ == 0) {
      used = std::min(bytes.find('<', used), bytes.size());
      if (used == bytes.size()) break;
    }
    // The close tag has one `<`, at its start.
    const char c = bytes[used++];
    matched_ = c == close_[matched_] ? matched_ + 1 : c == '<' ? 1 : 0;
  }
  out.argument_bytes(bytes.substr(0, used));
  body_ += bytes.substr(0, used);
  if (matched_ == close_.size()) {
    matched_ = 0;
    try_close(out);
  }
  return used;
}

// After a close tag that was data, unless the call turns out not to be one: then its tags were text, and a line that
// begins with a tool's tag begins the next call.
std::size_t XmlCalls::read_doubtful(char c, Output& out) {
  if (line_opener_.empty()) {
    if (c == '<' && body_.ends_with('\n')) {
      line_opener_.assign(1, c);
    } else {
      take_body(c, out);
    }
    return 1;
  }
  if (is_tag_name_byte(c) && line_opener_.size() < kMaxTagName) {
    line_opener_.push_back(c);
    return 1;
  }
  if (c == '>' || c == '/' || is_space(c)) {
    for (const Opener& opener : openers_) {
      if (opener.text != line_opener_) continue;
      line_opener_.clear();
      expected_body(body_, out);
      step_ = {.next = Step::Next::rejected, .replay = opener.text};
      return 0;
    }
  }
  std::string tag;
  tag.swap(line_opener_);
  for (const char b : tag) take_body(b, out);
  return 0;
}

void XmlCalls::take_body(char c, Output& out) {
  out.argument_bytes({&c, 1});
  body_.push_back(c);
  matched_ = c == close_[matched_] ? matched_ + 1 : c == '<' ? 1 : 0;
  if (matched_ < close_.size()) return;
  matched_ = 0;
  try_close(out);
}

// How many elements of the same tag the body shows: a child follows them at once or on the next line.
int XmlCalls::shown_calls(std::string_view body) const {
  const std::string_view tag = std::string_view(close_).substr(2);  // with its `>`
  int shown = 0;
  for (std::size_t at = body.find(tag); at != std::string_view::npos; at = body.find(tag, at + 1)) {
    if (at == 0 || body[at - 1] != '<') continue;
    const std::size_t from = at + tag.size();
    const std::size_t child = body.find_first_not_of(" \t\r\n", from);
    if (child == std::string_view::npos || !body.substr(child).starts_with('<')) continue;
    const std::string_view space = body.substr(from, child - from);
    const bool apart = !space.empty() && space.find('\n') == std::string_view::npos;
    const bool opens = child + 1 < body.size() && is_tag_name_byte(body[child + 1]);
    shown += opens && !apart ? 1 : 0;
  }
  return shown;
}

// The close tag was read: the call ends here unless a child is still open, whose text it is then part of.
void XmlCalls::try_close(Output& out) {
  const std::string_view body = std::string_view(body_).substr(0, body_.size() - close_.size());
  if (shown_calls(body) > shown_closes_ + attempts_) {
    ++shown_closes_;
  } else if (emit(body, out)) {
    step_.next = Step::Next::closed;
  } else if (++attempts_ + shown_closes_ >= kMaxAttempts || !is_open(body)) {
    expected_body(body, out);
    step_.next = Step::Next::rejected;
  }
}

// Why the element is not a call.
void XmlCalls::expected_body(std::string_view body, Output& out) const {
  if (out.doubt() == nullptr) return;
  std::string name;
  if (trimmed(body).starts_with('{')) {
    out.expected("JSON with the name and the arguments of a call", {});
  } else if (!take_name(body, name)) {
    out.expected("the name of a tool", {});
  } else {
    out.expected("a closed element for each argument", {});
  }
}

// Takes the tool's name from where the dialect has it. False: there is none.
bool XmlCalls::take_name(std::string_view& body, std::string& name) const {
  if (name_in_ == NameIn::tag) {
    name = close_.substr(2, close_.size() - 3);
    return true;
  }
  if (auto given = attribute(attributes(), "name")) {
    name = *given;
    return !name.empty();
  }
  constexpr std::string_view kNameOpen = "<name>";
  constexpr std::string_view kNameClose = "</name>";
  body = trimmed(body);
  const std::size_t close = body.find(kNameClose);
  if (!body.starts_with(kNameOpen) || close == std::string_view::npos) return false;
  name = trimmed(body.substr(kNameOpen.size(), close - kNameOpen.size()));
  body.remove_prefix(close + kNameClose.size());
  return !name.empty();
}

// False: the body is not that of a call; nothing was emitted.
bool XmlCalls::emit(std::string_view body, Output& out) {
  if (trimmed(body).starts_with('{')) return emit_json(trimmed(body), out);
  std::string name;
  if (!take_name(body, name)) return false;
  const SchemaPlace schema = schemas_.arguments_of(name);
  std::vector<TagElement> elements;
  if (!read_elements(body, {}, schema, elements)) return false;
  json_.clear();
  if (!unwrap(elements, schema)) append_members(json_, elements, {}, schema);
  if (!append_attributes(schema)) return false;
  send(name, out);
  return true;
}

// One element may hold all arguments, as JSON or as elements. False: it does not.
bool XmlCalls::unwrap(const std::vector<TagElement>& elements, const SchemaPlace& schema) {
  if (elements.size() != 1) return false;
  const bool unknown = name_in_ == NameIn::body && schema.member_name(0).empty();
  const std::string_view name = elements[0].name;
  if (!schema.is_wrapped_by(name) && !(unknown && is_wrapper_name(name))) return false;
  const std::string_view text = trimmed(elements[0].text);
  std::vector<TagElement> inner;
  if (text.starts_with('{')) {
    append_typed(json_, text, {ValueKind::object});
  } else if (!text.empty() && read_elements(text, {}, schema, inner)) {
    append_members(json_, inner, {}, schema);
  }
  if (json_.starts_with('{') && (unknown || schema.knows_members_of(json_))) return true;
  json_.clear();
  return false;
}

// The attributes are arguments as well. False: they are not well-formed.
bool XmlCalls::append_attributes(const SchemaPlace& schema) {
  json_.pop_back();
  const bool whole = for_each_attribute(attributes(), [&](std::string_view key, std::string value) {
    if (name_in_ == NameIn::body && key == "name") return;
    if (json_.size() > 1) json_.push_back(',');
    json::append_string(json_, key);
    json_.push_back(':');
    append_raw_value(json_, value, schema.member(key).kinds());
  });
  json_.push_back('}');
  return whole;
}

bool XmlCalls::emit_json(std::string_view body, Output& out) {
  if (!is_whole_json(body)) return false;
  std::string clean;
  append_clean_json(clean, body);
  const JsonCall call = read_json_call(clean);
  std::string_view nothing;
  std::string name;
  const bool named = (name_in_ == NameIn::tag || attribute(attributes(), "name").has_value()) &&
                     take_name(nothing, name);
  const SchemaPlace schema = schemas_.arguments_of(name);
  const bool wrapped = call.is_call && (call.name.empty() || call.name == name) &&
                       schema.is_wrapped_by(call.wrapper) && is_whole_json(call.arguments) &&
                       schema.knows_members_of(call.arguments);
  if (!named) {
    name = call.name;
    json_ = call.arguments.empty() ? "{}" : call.arguments;
    if (name.empty() || !is_whole_json(json_)) return false;
  } else if (wrapped) {
    json_ = call.arguments;
  } else {
    json_ = clean;
  }
  send(name, out);
  return true;
}

void XmlCalls::send(std::string_view name, Output& out) {
  out.start_call(name);
  out.arguments(json_);
  out.finish_call(CallOutcome::complete);
}

// What waits for the bytes after it.
void XmlCalls::hand_over(Output& out) {
  if (!lead_read_ && body_.ends_with('<')) out.argument_bytes("<");
  out.argument_bytes(line_opener_);
}

void XmlCalls::finish(Output& out) {
  hand_over(out);
  if (at_ == At::attributes) {
    out.expected("'>'", {.extent = Found::Extent::end});
  } else if (attempts_ > 0) {
    expected_body(body_, out);
  } else {
    out.expected(close_, {.extent = Found::Extent::end});
  }
}

bool XmlCalls::overflow(Output& out) {
  hand_over(out);
  return false;
}

std::unique_ptr<DialectParser> make_xml_parser(XmlCalls::NameIn name_in,
                                               const DialectOptions& options) {
  return std::make_unique<XmlParser>(name_in, options);
}

}  // namespace callgate::dialect
