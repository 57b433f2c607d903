// The `delta` or `message` of a choice: content in its shapes, and calls.
#include <utility>

#include "upstream/openai_chat/openai_answer.h"
#include "upstream/read_text.h"

namespace callgate::upstream {

// An object, or the text alone.
void AnswerReader::read_prose(ChoicePiece& choice, ChoicePiece::Source source) {
  const json::Kind kind = in_.peek();
  if (kind != json::Kind::object && kind != json::Kind::string) return in_.skip();
  choice.source = source;
  if (kind == json::Kind::object) return read_message(choice);
  read_fragment(in_, choice.text);
}

void AnswerReader::read_message(ChoicePiece& choice) {
  choice.text.clear();
  choice.reasoning.clear();
  choice.other_reasoning.clear();
  choice.refusal.clear();
  choice.calls.clear();
  choice.message_others.clear();
  for (std::string_view key; in_.next_member(key);) {
    if (key == "content") {
      read_content(choice);
    } else if (key == "text") {
      read_fragment(in_, choice.plain);
    } else if (key == "reasoning_content") {
      read_fragment(in_, choice.reasoning);
    } else if (key == "reasoning") {
      read_fragment(in_, choice.other_reasoning);
    } else if (key == "refusal") {
      read_fragment(in_, choice.refusal);
    } else if (key == "tool_calls") {
      read_calls(choice);
    } else if (key == "function_call" && in_.peek() == json::Kind::object) {
      read_legacy_call(choice);
    } else if (key == "role") {
      in_.skip();
    } else {
      keep_other(key, choice.message_others);
    }
  }
}

void AnswerReader::read_content(ChoicePiece& choice) {
  const json::Kind kind = in_.peek();
  if (kind != json::Kind::array && kind != json::Kind::object)
    return read_fragment(in_, choice.text);
  choice.text.clear();
  if (kind == json::Kind::object) return read_part(choice);
  while (in_.next_element()) read_part(choice);
}

// {"type":"text","text":"..."}, {"text":{"value":"..."}}, or {"type":"thinking","thinking":[{"type":"text","text":"..."}]}
void AnswerReader::read_part(ChoicePiece& choice) {
  if (in_.peek() == json::Kind::string) return choice.text.append_unescaped(read_escaped(in_));
  if (in_.peek() != json::Kind::object) return in_.skip();
  for (std::string_view key; in_.next_member(key);) {
    if (key == "text" || key == "content") {
      append_text(in_, choice.text);
    } else if (key == "thinking" || key == "reasoning") {
      append_text(in_, choice.reasoning);
    } else if (key == "refusal") {
      append_text(in_, choice.refusal);
    } else {
      in_.skip();
    }
  }
}

// Beside `tool_calls` it is the first of them again.
void AnswerReader::read_legacy_call(ChoicePiece& choice) {
  if (!choice.calls.empty()) return in_.skip();
  CallPiece& call = choice.calls.add();
  call.legacy = true;
  read_call(call);
}

void AnswerReader::read_calls(ChoicePiece& choice) {
  const auto add_call = [&] {
    if (in_.peek() != json::Kind::object) return in_.skip();
    if (!choice.calls.empty() && choice.calls.front().legacy) choice.calls.clear();
    read_call(choice.calls.add());
  };
  if (in_.peek() != json::Kind::array) return add_call();
  while (in_.next_element()) add_call();
}

void AnswerReader::read_call(CallPiece& call) {
  for (std::string_view key; in_.next_member(key);) {
    if (key == "function" && in_.peek() == json::Kind::object) {
      for (std::string_view inner; in_.next_member(inner);) read_call_member(inner, call, nullptr);
    } else if (key == "function" && in_.peek() == json::Kind::string) {
      read_text(call.name);
    } else if (key == "index") {
      call.index = read_integer();
    } else if (key == "id") {
      read_text(call.id);
    } else if (key == "type") {
      in_.skip();
    } else {
      read_call_member(key, call, call.legacy ? nullptr : &call.others);
    }
  }
  if (call.other_arguments.empty()) return;
  const std::string_view own = call.arguments.view();
  call.arguments_renamed = own.empty() || own == "{}";
  if (call.arguments_renamed) std::swap(call.arguments, call.other_arguments);
}

void AnswerReader::read_call_member(std::string_view key, CallPiece& call, OtherMembers* others) {
  if (key == "name") {
    read_text(call.name);
  } else if (key == "arguments") {
    read_arguments(call.arguments, call);
  } else if (is_arguments_key(key)) {
    read_arguments(call.other_arguments, call);
  } else if (others != nullptr) {
    keep_other(key, *others);
  } else {
    in_.skip();
  }
}

void AnswerReader::read_arguments(Text& arguments, CallPiece& call) {
  const json::Kind kind = in_.peek();
  if (kind != json::Kind::object && kind != json::Kind::array) return read_fragment(in_, arguments);
  arguments = in_.raw();
  call.arguments_object = true;
}

}  // namespace callgate::upstream
