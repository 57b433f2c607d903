#include "upstream/qwen_web_frame.h"

#include "upstream/openai_usage.h"
#include "upstream/read_text.h"
#include "upstream/repaired_read.h"

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

bool QwenWebFrameReader::read(std::string_view document) {
  const auto read_text_of = [this](std::string_view text) {
    document_ = text;
    return read_document();
  };
  if (read_repaired(document, sanitized_, mended_, read_text_of)) return true;
  frame_.clear();
  return false;
}

bool QwenWebFrameReader::read_document() {
  frame_.clear();
  in_.reset(document_);
  if (in_.peek() != json::Kind::object) return false;
  read_members(0);
  return in_.finish();
}

// A whole answer has its choices inside `data`.
void QwenWebFrameReader::read_members(int depth) {
  for (std::string_view key; in_.next_member(key);) {
    const json::Kind kind = in_.peek();
    if (key == "choices" && kind == json::Kind::array) {
      read_choices();
    } else if (key == "usage" && kind == json::Kind::object) {
      read_usage();
    } else if (key == "data" && kind == json::Kind::object && depth == 0) {
      read_members(1);
    } else if (key == "error" && (kind == json::Kind::object || kind == json::Kind::string)) {
      const std::string_view json = in_.raw();
      if (json != "{}" && json != "\"\"") frame_.failed = true;
    } else if (key == "success" && kind == json::Kind::boolean) {
      if (!in_.boolean()) frame_.failed = true;
    } else {
      in_.skip();
    }
  }
}

// There is one choice; more are not known.
void QwenWebFrameReader::read_choices() {
  while (in_.next_element()) {
    if (in_.peek() != json::Kind::object) {
      in_.skip();
      continue;
    }
    for (std::string_view key; in_.next_member(key);) {
      const bool message = key == "message";
      const bool given = in_.peek() == json::Kind::object || in_.peek() == json::Kind::string;
      if ((key == "delta" || message) && given && !frame_.spoken) {
        frame_.spoken = true;
        frame_.whole = message;
        read_delta();
      } else {
        in_.skip();
      }
    }
  }
}

// An object, or the text alone.
void QwenWebFrameReader::read_delta() {
  if (in_.peek() == json::Kind::string) return read_fragment(in_, frame_.content);
  for (std::string_view key; in_.next_member(key);) {
    if (key == "content") {
      read_texts(in_, frame_.content);
    } else if (key == "phase") {
      read_text(in_, document_, frame_.phase);
    } else if (key == "status") {
      read_text(in_, document_, frame_.status);
    } else if (key == "extra" && in_.peek() == json::Kind::object) {
      read_extra();
    } else {
      in_.skip();
    }
  }
}

void QwenWebFrameReader::read_extra() {
  for (std::string_view key; in_.next_member(key);) {
    const bool is_title = key == "summary_title";
    if ((!is_title && key != "summary_thought") || in_.peek() != json::Kind::object) {
      in_.skip();
      continue;
    }
    for (std::string_view inner; in_.next_member(inner);) {
      if (inner == "content" && in_.peek() == json::Kind::array) {
        read_list(is_title ? frame_.titles : frame_.thoughts);
      } else {
        in_.skip();
      }
    }
  }
}

void QwenWebFrameReader::read_list(ReusedList<Text>& list) {
  list.clear();
  while (in_.next_element()) read_fragment(in_, list.add());
}

void QwenWebFrameReader::read_usage() {
  Usage usage;
  std::optional<std::int64_t> prompt;
  std::optional<std::int64_t> completion;
  std::optional<std::int64_t> total;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "input_tokens") {
      prompt = read_count(prompt.value_or(0));
    } else if (key == "output_tokens") {
      completion = read_count(completion.value_or(0));
    } else if (key == "total_tokens") {
      total = read_count(0);
    } else if (key == "cached_tokens") {
      usage.cached_tokens = read_count(usage.cached_tokens);
    } else if ((key == "input_tokens_details" || key == "output_tokens_details" ||
                key == "prompt_tokens_details") &&
               in_.peek() == json::Kind::object) {
      read_details(usage);
    } else {
      in_.skip();
    }
  }
  if (!prompt && !completion && !total) return;
  set_counts(usage, prompt, completion, total);
  frame_.usage = usage;
}

void QwenWebFrameReader::read_details(Usage& usage) {
  for (std::string_view key; in_.next_member(key);) {
    if (key == "cached_tokens") {
      usage.cached_tokens = read_count(usage.cached_tokens);
    } else if (key == "reasoning_tokens") {
      usage.reasoning_tokens = read_count(usage.reasoning_tokens);
    } else {
      in_.skip();
    }
  }
}

std::int64_t QwenWebFrameReader::read_count(std::int64_t otherwise) {
  if (in_.peek() != json::Kind::number) {
    in_.skip();
    return otherwise;
  }
  const std::int64_t value = in_.integer().value_or(otherwise);
  return value < 0 ? otherwise : value;
}

}  // namespace callgate::upstream
