// The dialects whose turns are messages of special tokens:
//
//   <|message_model|>f<|content_invoke_tool_json|>{"name":"f","args":{}}<|end_message|>
//   <|start|>assistant to=f<|message|><atem:function_calls>\n<atem:invoke name="f">...
#include <algorithm>

#include "dialect/reference/family.h"
#include "dialect/reference/json_calls.h"
#include "dialect/reference/json_text.h"
#include "json/reader.h"

namespace callgate::dialect::reference {
namespace {

// Anything odd: no opinion.
struct Odd {};

class Blocks {
 public:
  Blocks(const ReferenceCase& turn, EventLog& log)
      : turn_(turn), text_(turn.text), log_(log), reasoning_(turn.reasoning_open) {}

  void say(std::string_view text) {
    if (text.empty()) return;
    if (reasoning_) {
      log_.accept(ReasoningDelta{text});
    } else {
      log_.accept(TextDelta{text});
    }
  }
  bool at_end() const { return at_ == text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }
  bool take(std::string_view what) {
    if (!rest().starts_with(what)) return false;
    at_ += what.size();
    return true;
  }
  std::string_view up_to(const Texts& markers) {
    const std::size_t end = std::min(find_marker(text_, at_, markers), text_.size());
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
  }
  void space() { at_ = skip_space(text_, at_); }

 protected:
  const ReferenceCase& turn_;
  const std::string_view text_;
  EventLog& log_;
  std::size_t at_ = 0;
  bool reasoning_;
};

const Texts kContent = {"<|content_text|>", "<|content_invoke_tool_text|>",
                        "<|content_tool_error|>"};
const Texts kEnd = {"<|end_message|>", "<|content_model_end_sampling|>", "<|endoftext|>"};
const Texts kOther = {"<|message_user|>", "<|message_system|>", "<|message_tool|>",
                      "<|content_xml|>",  "<|content_image|>",  "<|content_audio_input|>",
                      "<|audio_end|>"};
constexpr std::string_view kMessage = "<|message_model|>";
constexpr std::string_view kThinking = "<|content_thinking|>";
constexpr std::string_view kCall = "<|content_invoke_tool_json|>";

bool is_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("_-.:/").find(c) != std::string_view::npos;
  });
}

class Inkling : public Blocks {
 public:
  using Blocks::Blocks;

  void read() {
    bool header = !reasoning_;
    bool between = false;
    while (!at_end()) {
      const std::string_view said = up_to(all());
      const bool calls = rest().starts_with(kCall);
      if (header && is_name(said)) {
        if (said.size() > 200) throw Odd{};
        if (!calls) say(said);
      } else if (!between || !is_blank(said)) {
        if (between) reasoning_ = false;
        say(said);
      }
      between = between && is_blank(said);
      if (at_end()) return;
      const bool inside = !header && !between;
      header = false;
      if (take(kCall)) {
        read_call();
        between = true;
      } else if (take(kMessage)) {
        header = true;
        between = false;
        const std::size_t next = std::min(find_marker(text_, at_, all()), text_.size());
        const std::string_view name = text_.substr(at_, next - at_);
        const bool begins = is_name(name) && next < text_.size();
        if ((inside || !said.empty()) && !begins) throw Odd{};
        if (inside && !name.empty() && !text_.substr(next).starts_with(kCall)) throw Odd{};
        if (inside && text_.substr(next).starts_with(kMessage)) throw Odd{};
        if (!inside) reasoning_ = false;
      } else if (take(kThinking)) {
        reasoning_ = true;
        between = false;
      } else if (const std::string_view text = marker_at(text_, at_, kContent); !text.empty()) {
        at_ += text.size();
        reasoning_ = false;
        between = false;
      } else if (const std::string_view end = marker_at(text_, at_, kEnd); !end.empty()) {
        at_ += end.size();
        reasoning_ = false;
        between = true;
      } else {
        throw Odd{};
      }
    }
  }

 private:
  static const Texts& all() {
    static const Texts kAll = [] {
      Texts texts = {kMessage, kThinking, kCall};
      for (const Texts* list : {&kContent, &kEnd, &kOther}) {
        texts.insert(texts.end(), list->begin(), list->end());
      }
      return texts;
    }();
    return kAll;
  }

  void read_call() {
    space();
    if (!rest().starts_with('{')) throw Odd{};
    const Reading reading = read_json_calls(turn_, {kCall}, at_, {});
    if (reading.what != Reading::What::calls || reading.calls.size() != 1) throw Odd{};
    log_call(reading.calls[0], log_);
    at_ = reading.end;
  }
};

const Texts kFrames = {"<|start|>", "<|message|>", "<|eom|>", "<|eot|>"};
const Texts kEnds = {"<|eom|>", "<|eot|>"};

class MuseGlimmer : public Blocks {
 public:
  using Blocks::Blocks;

  void read() {
    read_first();
    while (!at_end()) {
      if (take("<|start|>assistant ")) {
        read_message();
      } else if (rest().starts_with("<|start|>")) {
        throw Odd{};
      } else {
        reasoning_ = false;
        read_bare();
      }
    }
  }

 private:
  void read_first() {
    const std::size_t first = skip_space(text_, 0);
    const bool addressed = text_.substr(first).starts_with("to=");
    const bool framed = !marker_at(text_, first, kFrames).empty();
    if (framed && reasoning_) throw Odd{};
    if (addressed || framed) at_ = first;
    if (addressed) {
      read_message();
    } else {
      read_bare();
    }
  }

  // Text outside of a message, or reasoning that the prompt began.
  void read_bare() {
    say(up_to(kFrames));
    end_message();
  }

  void end_message() {
    if (at_end()) return;
    if (rest().starts_with("<|message|>")) throw Odd{};
    while (take("<|eom|>") || take("<|eot|>")) space_before_frame();
  }

  // White space before text is text.
  void space_before_frame() {
    const std::size_t next = skip_space(text_, at_);
    if (next == text_.size() || !marker_at(text_, next, kFrames).empty()) at_ = next;
  }

  void read_message() {
    if (!take("to=")) throw Odd{};
    const std::string_view recipient = up_to({"<", " ", "\n", "\t", "\r"});
    if (!take("<|message|>") || recipient.empty()) throw Odd{};
    reasoning_ = recipient == "self";
    if (reasoning_) return read_bare();
    if (recipient != "user" && recipient != "all") return read_calls();
    if (trimmed(rest()).starts_with("<atem:") || is_blank(rest().substr(0, rest().find('<')))) {
      throw Odd{};
    }
    say(up_to(kEnds));
    end_message();
  }

  void read_calls() {
    space();
    if (!take("<atem:function_calls>")) throw Odd{};
    for (space(); take("<atem:invoke name=\""); space()) read_call();
    if (!take("</atem:function_calls>")) throw Odd{};
    space_before_frame();
    end_message();
  }

  void read_call() {
    LoggedCall call{.name = std::string(up_to({"\"", "<", "&", ">"})), .arguments = "{"};
    if (!take("\">") || call.name.empty() || has_schema(call.name)) throw Odd{};
    // A name written twice may be that of a declared tool.
    if (call.name.ends_with("." + call.name.substr(0, call.name.size() / 2))) throw Odd{};
    for (space(); take("<atem:parameter name=\""); space()) {
      const std::string key(up_to({"\"", "<", "&", ">"}));
      if (!take("\">") || key.empty()) throw Odd{};
      const std::string_view value = up_to({"<atem:", "</atem:"});
      if (!take("</atem:parameter>")) throw Odd{};
      // A close marker that stands apart may be data.
      if (rest().starts_with(' ') || rest().starts_with('\t')) throw Odd{};
      if (call.arguments.size() > 1) call.arguments += ',';
      call.arguments += json_quoted(key) + ':' + json_of(value);
    }
    if (!take("</atem:invoke>")) throw Odd{};
    call.arguments += '}';
    log_call(call, log_);
  }

  bool has_schema(std::string_view name) const {
    return std::any_of(turn_.tools.begin(), turn_.tools.end(), [&](const ToolSpec& tool) {
      return tool.name == name && !tool.parameters.empty();
    });
  }

  // The tool has no schema: a value is JSON if it reads as such.
  static std::string json_of(std::string_view value) {
    json::Reader in(value);
    in.skip();
    if (!in.finish()) return json_quoted(value);
    const bool plain = std::all_of(value.begin(), value.end(),
                                   [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
    if (!plain || trimmed(value) != value) throw Odd{};
    return std::string(value);
  }
};

template <class Reader>
bool read(const ReferenceCase& turn, EventLog& log) {
  try {
    Reader(turn, log).read();
    return true;
  } catch (const Odd&) {
    return false;
  }
}

}  // namespace

bool inkling(const ReferenceCase& turn, EventLog& log) { return read<Inkling>(turn, log); }

bool muse_glimmer(const ReferenceCase& turn, EventLog& log) { return read<MuseGlimmer>(turn, log); }

}  // namespace callgate::dialect::reference
