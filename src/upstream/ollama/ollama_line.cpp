#include "upstream/ollama/ollama_line.h"

#include "json/writer.h"

namespace callgate::upstream {
namespace {

// Of a call, or of its function where that is not set apart.
bool is_strange_call_member(std::string_view key) {
  return key != "function" && key != "type" && key != "name" && key != "index" &&
         !is_arguments_key(key);
}

// {"token":"Hi","logprob":-0.1,"bytes":[72,105],"top_logprobs":[...]}: Chat Completions wants all members.
void append_logprob(std::string& out, json::Reader& in, bool top) {
  std::string_view token = "\"\"";
  std::string_view logprob = "0";
  std::string_view bytes = "null";
  std::string alternatives;
  for (std::string_view key; in.next_member(key);) {
    if (key == "token") {
      token = in.raw();
    } else if (key == "logprob") {
      logprob = in.raw();
    } else if (key == "bytes") {
      bytes = in.raw();
    } else if (key == "top_logprobs" && !top && in.peek() == json::Kind::array) {
      alternatives.clear();
      while (in.next_element()) {
        if (in.peek() != json::Kind::object) {
          in.skip();
          continue;
        }
        if (!alternatives.empty()) alternatives.push_back(',');
        append_logprob(alternatives, in, true);
      }
    } else {
      in.skip();
    }
  }
  json::ObjectWriter object(out);
  object.raw("token", token);
  object.raw("logprob", logprob);
  object.raw("bytes", bytes);
  if (!top) object.raw("top_logprobs", "[" + alternatives + "]");
  object.close();
}

}  // namespace

void OllamaLine::clear() {
  has_message = false;
  content.clear();
  thinking.clear();
  calls.clear();
  done = false;
  done_reason.clear();
  prompt_count.reset();
  count.reset();
  logprobs.clear();
  error = {};
  others.clear();
  message_others.clear();
}

void OllamaLineReader::read_member(std::string_view key) {
  if (key == "message") {
    read_message();
  } else if (key == "done") {
    frame_.done = read_flag();
  } else if (key == "response" && !frame_.has_message) {  // of /api/generate
    frame_.has_message = true;
    read_fragment(in_, frame_.content);
  } else if (key == "done_reason") {
    read_text(frame_.done_reason);
  } else if (key == "prompt_eval_count") {
    frame_.prompt_count = read_count(in_);
  } else if (key == "eval_count") {
    frame_.count = read_count(in_);
  } else if (key == "logprobs") {
    read_logprobs();
  } else if (key == "error") {
    frame_.error = read_error(in_);
  } else if (key == "model" || key == "created_at") {
    in_.skip();  // an answer has its own
  } else {
    read_other(frame_.others, key, true);
  }
}

// An object. A text alone may also be the words of an error.
void OllamaLineReader::read_message() {
  if (in_.peek() == json::Kind::string) return read_fragment(in_, frame_.content);
  if (!enter_object(in_)) return;
  frame_.has_message = true;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "content") {
      read_texts(in_, frame_.content);
    } else if (key == "thinking") {
      read_texts(in_, frame_.thinking);
    } else if (key == "tool_calls") {
      read_calls();
    } else if (key == "role" || key == "tool_name") {
      in_.skip();
    } else {
      read_other(frame_.message_others, key);
    }
  }
}

void OllamaLineReader::read_calls() {
  frame_.calls.clear();
  if (in_.peek() == json::Kind::object) return read_call(frame_.calls.add());
  if (in_.peek() != json::Kind::array) return in_.skip();
  while (in_.next_element()) {
    if (enter_object(in_)) read_call(frame_.calls.add());
  }
}

// `index` counts by line on some servers and by answer on others: the order says enough. Neither a missing
// index nor a missing id is a defect here.
void OllamaLineReader::read_call(CallPiece& call) {
  call.legacy = true;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "id") {
      read_text(call.id);
    } else if (keeps_others() && is_strange_call_member(key) && in_.peek() != json::Kind::null) {
      OtherMember& other = call.others.add();
      other.name.copy(key);
      other.json = in_.raw();
    } else if (key == "function" && in_.peek() == json::Kind::object) {
      for (std::string_view inner; in_.next_member(inner);) read_call_member(inner, call);
    } else {
      read_call_member(key, call);
    }
  }
  if (call.arguments.empty() && !call.name.empty()) call.arguments = "{}";
}

void OllamaLineReader::read_call_member(std::string_view key, CallPiece& call) {
  if (key == "name") {
    read_text(call.name);
  } else if (is_arguments_key(key)) {
    call.arguments_renamed = key != "arguments";
    read_arguments(call);
  } else {
    in_.skip();
  }
}

void OllamaLineReader::read_arguments(CallPiece& call) {
  switch (in_.peek()) {
    case json::Kind::string:
      return read_text(call.arguments);
    case json::Kind::null:
    case json::Kind::invalid:
      return in_.skip();
    case json::Kind::object:
    case json::Kind::array:
    case json::Kind::number:
    case json::Kind::boolean:
      compact_.clear();
      json::append_compact(compact_, in_.raw());
      call.arguments.copy(compact_);
      return;
  }
}

void OllamaLineReader::read_logprobs() {
  frame_.logprobs.clear();
  if (in_.peek() != json::Kind::array) return in_.skip();
  std::string& out = frame_.logprobs;
  while (in_.next_element()) {
    if (in_.peek() != json::Kind::object) {
      in_.skip();
      continue;
    }
    out.append(out.empty() ? "{\"content\":[" : ",");
    append_logprob(out, in_, false);
  }
  if (!out.empty()) out.append("],\"refusal\":null}");
}

}  // namespace callgate::upstream
