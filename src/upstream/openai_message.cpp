// The `delta` or `message` of a choice: content in its shapes, and calls.
#include "upstream/openai_answer.h"

namespace callgate::upstream {

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
    } else if (key == "reasoning_content") {
      read_text(choice.reasoning);
    } else if (key == "reasoning") {
      read_text(choice.other_reasoning);
    } else if (key == "refusal") {
      read_text(choice.refusal);
    } else if (key == "tool_calls") {
      read_calls(choice);
    } else if (key == "function_call" && in_.peek() == json::Kind::object) {
      CallPiece& call = choice.calls.add();
      call.legacy = true;
      read_call(call);
    } else if (key == "role") {
      in_.skip();
    } else {
      keep_other(key, choice.message_others);
    }
  }
}

void AnswerReader::read_content(ChoicePiece& choice) {
  if (in_.peek() != json::Kind::array) return read_text(choice.text);
  choice.text.clear();
  while (in_.next_element()) read_part(choice);
}

// {"type":"text","text":"..."}, or {"type":"thinking","thinking":[{"type":"text","text":"..."}]}
void AnswerReader::read_part(ChoicePiece& choice) {
  if (in_.peek() == json::Kind::string) return choice.text.append(in_.string());
  if (in_.peek() != json::Kind::object) return in_.skip();
  for (std::string_view key; in_.next_member(key);) {
    const bool thinking = key == "thinking" || key == "reasoning";
    Text& target = thinking ? choice.reasoning : choice.text;
    if ((thinking || key == "text") && in_.peek() == json::Kind::string) {
      target.append(in_.string());
    } else if (thinking && in_.peek() == json::Kind::array) {
      while (in_.next_element()) {
        if (in_.peek() != json::Kind::object) {
          in_.skip();
          continue;
        }
        for (std::string_view inner; in_.next_member(inner);) {
          if (inner == "text" && in_.peek() == json::Kind::string) {
            choice.reasoning.append(in_.string());
          } else {
            in_.skip();
          }
        }
      }
    } else {
      in_.skip();
    }
  }
}

void AnswerReader::read_calls(ChoicePiece& choice) {
  if (in_.peek() == json::Kind::object) return read_call(choice.calls.add());
  if (in_.peek() != json::Kind::array) return in_.skip();
  while (in_.next_element()) {
    if (in_.peek() == json::Kind::object) {
      read_call(choice.calls.add());
    } else {
      in_.skip();
    }
  }
}

void AnswerReader::read_call(CallPiece& call) {
  for (std::string_view key; in_.next_member(key);) {
    if (key == "function" && in_.peek() == json::Kind::object) {
      for (std::string_view inner; in_.next_member(inner);) read_call_member(inner, call, nullptr);
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
}

void AnswerReader::read_call_member(std::string_view key, CallPiece& call, OtherMembers* others) {
  if (key == "name") {
    read_text(call.name);
  } else if (key == "arguments") {
    const json::Kind kind = in_.peek();
    if (kind == json::Kind::object || kind == json::Kind::array) {
      call.arguments = in_.raw();
      call.arguments_object = true;
    } else {
      read_text(call.arguments);
    }
  } else if (others != nullptr) {
    keep_other(key, *others);
  } else {
    in_.skip();
  }
}

}  // namespace callgate::upstream
