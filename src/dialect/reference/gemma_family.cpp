// Gemma: bare keys, strings between quote markers.
//
//   <|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:3}<tool_call|>
#include "dialect/reference/family.h"
#include "dialect/reference/json_text.h"
#include "dialect/reference/turn.h"

namespace callgate::dialect::reference {
namespace {

using What = Reading::What;

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80 || c == '_' || c == '-' || c == '.';
}

// Well-formed calls only; anything odd throws Odd.
struct Odd {};

class GemmaText {
 public:
  GemmaText(std::string_view text, std::size_t at, std::string_view quote, std::string_view close)
      : text_(text), at_(at), quote_(quote), close_(close) {}

  Reading read() {
    at_ = skip_space(text_, at_);
    if (at_ + 5 > text_.size()) {
      return {.what = std::string_view("call:").starts_with(text_.substr(at_)) ? What::no_call
                                                                               : What::no_opinion};
    }
    if (!text_.substr(at_).starts_with("call:")) throw Odd{};
    at_ += 5;
    LoggedCall call;
    while (at_ < text_.size() && (is_name_byte(text_[at_]) || text_[at_] == '/')) {
      call.name += text_[at_++];
    }
    if (at_ == text_.size() || (text_[at_] != '{' && !is_space(text_[at_]) && text_[at_] != ':')) {
      return {.what = What::no_call};
    }
    if (text_[at_] != '{' || call.name.empty()) throw Odd{};
    call.arguments = object();
    Reading reading{.what = What::calls, .end = at_, .calls = {call}};
    // Another call in the same block.
    const std::size_t next = skip_space(text_, at_);
    if (text_.substr(next).starts_with(',') || text_.substr(next).starts_with('c')) throw Odd{};
    return reading;
  }

 private:
  char peek() {
    at_ = skip_space(text_, at_);
    if (at_ == text_.size()) throw Odd{};
    return text_[at_];
  }

  std::string object() {
    std::string out = "{";
    ++at_;
    while (peek() != '}') {
      std::string key;
      while (at_ < text_.size() && is_name_byte(text_[at_])) key += text_[at_++];
      if (key.empty() || peek() != ':') throw Odd{};
      ++at_;
      if (out.size() > 1) out += ',';
      out += json_quoted(key) + ':' + value();
      separate('}');
    }
    ++at_;
    return out + '}';
  }

  std::string list() {
    std::string out = "[";
    ++at_;
    while (peek() != ']') {
      if (out.size() > 1) out += ',';
      out += value();
      separate(']');
    }
    ++at_;
    return out + ']';
  }

  void separate(char close) {
    if (peek() == close) return;
    if (text_[at_++] != ',') throw Odd{};
  }

  std::string value() {
    const char c = peek();
    if (c == '{') return object();
    if (c == '[') return list();
    if (text_.substr(at_).starts_with(quote_)) return string();
    if (c == '"' || c == '\'') throw Odd{};
    const JsonEnd end = skip_json(text_, at_);
    if (end.state != JsonEnd::State::whole) throw Odd{};
    const std::string_view raw = text_.substr(at_, end.end - at_);
    at_ = end.end;
    if (std::string_view(",}]").find(peek()) == std::string_view::npos) throw Odd{};
    return std::string(raw);
  }

  std::string string() {
    at_ += quote_.size();
    const std::size_t end = text_.find(quote_, at_);
    if (end == text_.npos) throw Odd{};
    const std::string_view text = text_.substr(at_, end - at_);
    // Whether a close marker is data depends on what follows it.
    if (text.find(close_) != text.npos) throw Odd{};
    at_ = end + quote_.size();
    return json_quoted(text);
  }

  const std::string_view text_;
  std::size_t at_;
  const std::string_view quote_;
  const std::string_view close_;
};

bool read(const ReferenceCase& turn, EventLog& log, const TurnGrammar& grammar,
          std::string_view quote) {
  const auto read_calls = [&](const ReferenceCase& of, const CallOpener&, std::size_t at) {
    try {
      return GemmaText(of.text, at, quote, grammar.call_close[0]).read();
    } catch (const Odd&) {
      return Reading{.what = What::no_opinion};
    }
  };
  return read_turn(turn, grammar, read_calls, log);
}

}  // namespace

bool gemma4(const ReferenceCase& turn, EventLog& log) {
  TurnGrammar grammar;
  grammar.reasoning = {{"<|channel>thought", "<channel|>"}, {"<|channel>", ""}};
  grammar.call_open = {{"<|tool_call>"}};
  grammar.call_close = {"<tool_call|>", "<|tool_response>"};
  grammar.tail = {"<turn|>", "<end_of_turn>", "<eos>"};
  grammar.special = {"<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>",
                     R"(<|"|>)"};
  return read(turn, log, grammar, "<|\"|>");
}

bool functiongemma(const ReferenceCase& turn, EventLog& log) {
  TurnGrammar grammar;
  grammar.call_open = {{"<start_function_call>"}};
  grammar.call_close = {"<end_function_call>", "<start_function_response>"};
  grammar.tail = {"<end_of_turn>", "<eos>"};
  grammar.special = {"<start_function_call>", "<end_function_call>", "<start_function_response>"};
  return read(turn, log, grammar, "<escape>");
}

}  // namespace callgate::dialect::reference
