#include "upstream/gemini/gemini_frame.h"

#include "base/text.h"

namespace callgate::upstream {

void GeminiArgument::clear() {
  path.clear();
  kind = Kind::none;
  value.clear();
  will_continue = false;
}

void GeminiPart::clear() {
  kind = Kind::other;
  for (Text* each : {&text, &signature, &id, &name, &args}) each->clear();
  thought = false;
  args_renamed = false;
  pieces.clear();
  will_continue = false;
  json = {};
}

void GeminiCandidate::clear() {
  index = 0;
  parts.clear();
  finish.clear();
  finish_message.clear();
  logprobs = {};
  others.clear();
}

void GeminiFrame::clear() {
  candidates.clear();
  has_candidates = false;
  block_reason.clear();
  block_message.clear();
  usage = {};
  usage_json = {};
  others.clear();
  error = {};
}

void GeminiFrameReader::read_member(std::string_view key) {
  if (key == "candidates") {
    read_candidates();
  } else if (key == "usageMetadata") {
    read_usage();
  } else if (key == "promptFeedback") {
    read_feedback();
  } else if (key == "error") {
    frame_.error = read_error(in_);
  } else if (key == "modelVersion" || key == "responseId") {
    in_.skip();  // an answer has its own
  } else {
    read_other(frame_.others, key, true);
  }
}

void GeminiFrameReader::read_candidates() {
  if (in_.peek() != json::Kind::array) return read_candidate();
  while (in_.next_element()) read_candidate();
}

void GeminiFrameReader::read_candidate() {
  if (!enter_object(in_)) return;
  frame_.has_candidates = true;
  read_candidate(frame_.candidates.add());
}

void GeminiFrameReader::read_candidate(GeminiCandidate& candidate) {
  for (std::string_view key; in_.next_member(key);) {
    if (key == "content") {
      read_content(candidate);
    } else if (key == "index") {
      candidate.index = read_count(in_).value_or(0);
    } else if (key == "finishReason" || key == "finish_reason") {
      read_text(candidate.finish);
    } else if (key == "finishMessage") {
      read_text(candidate.finish_message);
    } else if (key == "logprobsResult") {
      candidate.logprobs = read_object();
    } else {
      read_other(candidate.others, key, key == "tokenCount" || key == "avgLogprobs");
    }
  }
}

// An object with a list of parts. From some servers one part without its list, or nothing but text.
void GeminiFrameReader::read_content(GeminiCandidate& candidate) {
  if (in_.peek() != json::Kind::object) return read_parts(candidate);
  for (std::string_view key; in_.next_member(key);) {
    if (key == "parts" || key == "text") {
      read_parts(candidate);
    } else {
      in_.skip();
    }
  }
}

void GeminiFrameReader::read_parts(GeminiCandidate& candidate) {
  switch (in_.peek()) {
    case json::Kind::object:
    case json::Kind::string:
      return read_part(candidate.parts.add());
    case json::Kind::array:
      while (in_.next_element()) read_parts(candidate);
      return;
    case json::Kind::number:
    case json::Kind::boolean:
    case json::Kind::null:
    case json::Kind::invalid:
      return in_.skip();
  }
}

void GeminiFrameReader::read_part(GeminiPart& part) {
  if (in_.peek() == json::Kind::string) {
    part.kind = GeminiPart::Kind::text;
    return read_fragment(in_, part.text);
  }
  const std::size_t begin = in_.offset();
  for (std::string_view key; in_.next_member(key);) {
    if (key == "text") {
      part.kind = GeminiPart::Kind::text;
      read_texts(in_, part.text);
    } else if (key == "thought") {
      part.thought = read_flag();
    } else if (key == "thoughtSignature" || key == "thought_signature") {
      read_text(part.signature);
    } else if (key == "functionCall" || key == "function_call") {
      read_call(part);
    } else if (keeps_others()) {
      in_.skip();
    } else {
      dropped_.skip(in_, key);
    }
  }
  if (keeps_others()) part.json = trimmed(document().substr(begin, in_.offset() - begin));
}

void GeminiFrameReader::read_call(GeminiPart& part) {
  if (!enter_object(in_)) return;
  part.kind = GeminiPart::Kind::call;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "id") {
      read_text(part.id);
    } else if (key == "name") {
      read_text(part.name);
    } else if (is_arguments_key(key)) {
      part.args_renamed = key != "args";
      read_args(part);
    } else if (key == "partialArgs") {
      read_pieces(part);
    } else if (key == "willContinue") {
      part.will_continue = read_flag();
    } else {
      in_.skip();
    }
  }
}

void GeminiFrameReader::read_args(GeminiPart& part) {
  if (in_.peek() == json::Kind::string) return read_text(part.args);
  const bool given = in_.peek() != json::Kind::null;
  const std::string_view args = in_.raw();
  if (given) part.args = args;
}

void GeminiFrameReader::read_pieces(GeminiPart& part) {
  if (in_.peek() != json::Kind::array) return in_.skip();
  while (in_.next_element()) {
    if (enter_object(in_)) read_piece(part.pieces.add());
  }
}

void GeminiFrameReader::read_piece(GeminiArgument& piece) {
  using Kind = GeminiArgument::Kind;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "jsonPath") {
      read_text(piece.path);
    } else if (key == "stringValue" && in_.peek() == json::Kind::string) {
      piece.kind = Kind::text;
      read_fragment(in_, piece.value);
    } else if (key == "numberValue" || key == "boolValue") {
      piece.kind = Kind::json;  // of a number that JSON cannot write: "NaN"
      piece.value = in_.raw();
    } else if (key == "nullValue") {
      piece.kind = Kind::json;
      piece.value = "null";
      in_.skip();
    } else if (key == "willContinue") {
      piece.will_continue = read_flag();
    } else {
      in_.skip();
    }
  }
}

void GeminiFrameReader::read_feedback() {
  const std::size_t begin = in_.offset();
  each_member([&](std::string_view key) {
    if (!read_text_member(key, {{"blockReason", &frame_.block_reason},
                                {"blockReasonMessage", &frame_.block_message}})) {
      in_.skip();
    }
  });
  if (!keeps_others()) return;
  const std::string_view json = trimmed(document().substr(begin, in_.offset() - begin));
  if (json.starts_with('{')) frame_.others.emplace_back("promptFeedback", json);
}

void GeminiFrameReader::read_usage() {
  GeminiUsage& usage = frame_.usage;
  const std::size_t begin = in_.offset();
  read_counts({{"promptTokenCount", &usage.prompt},
               {"toolUsePromptTokenCount", &usage.tool_prompt},
               {"candidatesTokenCount", &usage.candidates},
               {"thoughtsTokenCount", &usage.thoughts},
               {"cachedContentTokenCount", &usage.cached}});
  if (keeps_others()) {
    frame_.usage_json = trimmed(document().substr(begin, in_.offset() - begin));
  }
}

std::string_view GeminiFrameReader::read_object() {
  return enter_object(in_) ? in_.raw() : std::string_view();
}

}  // namespace callgate::upstream
