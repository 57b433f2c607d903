#include "upstream/qwen_web/qwen_web_frame.h"

#include "upstream/openai_chat/openai_usage.h"

namespace callgate::upstream {

void QwenWebFrame::clear() {
  spoken = false;
  whole = false;
  content.clear();
  phase.clear();
  status.clear();
  titles.clear();
  thoughts.clear();
  usage.reset();
  failed = false;
}

// A whole answer has its choices inside `data`.
void QwenWebFrameReader::read_member(std::string_view key, int depth) {
  const json::Kind kind = in_.peek();
  if (key == "choices" && kind == json::Kind::array) {
    read_choices();
  } else if (key == "usage" && kind == json::Kind::object) {
    if (const auto usage = read_stated_usage(in_.raw())) frame_.usage = usage;
  } else if (key == "data" && kind == json::Kind::object && depth == 0) {
    each_member([&](std::string_view inner) { read_member(inner, 1); });
  } else if (key == "error" && (kind == json::Kind::object || kind == json::Kind::string)) {
    const std::string_view json = in_.raw();
    if (json != "{}" && json != "\"\"") frame_.failed = true;
  } else if (key == "success" && kind == json::Kind::boolean) {
    if (!in_.boolean()) frame_.failed = true;
  } else {
    in_.skip();
  }
}

// There is one choice; more are not known.
void QwenWebFrameReader::read_choices() {
  while (in_.next_element()) {
    each_member([&](std::string_view key) {
      const bool message = key == "message";
      const bool given = in_.peek() == json::Kind::object || in_.peek() == json::Kind::string;
      const bool speaks = (key == "delta" || message) && given && !frame_.spoken;
      if (!speaks) return in_.skip();
      frame_.spoken = true;
      frame_.whole = message;
      read_delta();
    });
  }
}

// An object, or the text alone.
void QwenWebFrameReader::read_delta() {
  if (in_.peek() == json::Kind::string) return read_fragment(in_, frame_.content);
  each_member([&](std::string_view key) {
    if (key == "content") return read_texts(in_, frame_.content);
    if (key == "extra") return read_extra();
    if (!read_text_member(key, {{"phase", &frame_.phase}, {"status", &frame_.status}})) in_.skip();
  });
}

void QwenWebFrameReader::read_extra() {
  each_member([&](std::string_view key) {
    const bool is_title = key == "summary_title";
    if (!is_title && key != "summary_thought") return in_.skip();
    each_member([&](std::string_view inner) {
      const bool list = inner == "content" && in_.peek() == json::Kind::array;
      list ? read_list(is_title ? frame_.titles : frame_.thoughts) : in_.skip();
    });
  });
}

void QwenWebFrameReader::read_list(ReusedList<Text>& list) {
  list.clear();
  while (in_.next_element()) read_fragment(in_, list.add());
}

}  // namespace callgate::upstream
