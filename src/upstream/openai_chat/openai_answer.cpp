#include "upstream/openai_chat/openai_answer.h"

#include <charconv>

#include "base/utf8.h"
#include "json/string_run.h"
#include "upstream/openai_chat/openai_others.h"
#include "upstream/openai_chat/openai_usage.h"
#include "upstream/read_text.h"
#include "upstream/repaired_read.h"

namespace callgate::upstream {
namespace {

constexpr int kMaxMisses = 8;  // in a row; then nothing is compared any more

bool has_members(json::Kind kind) {
  return kind == json::Kind::array || kind == json::Kind::object;
}

}  // namespace

void CallPiece::clear() {
  index.reset();
  id.clear();
  name.clear();
  arguments.clear();
  other_arguments.clear();
  arguments_object = false;
  arguments_renamed = false;
  legacy = false;
  others.clear();
}

void ChoicePiece::clear() {
  index = 0;
  text.clear();
  plain.clear();
  reasoning.clear();
  other_reasoning.clear();
  refusal.clear();
  calls.clear();
  finish.clear();
  logprobs = {};
  error = {};
  others.clear();
  message_others.clear();
  source = Source::none;
}

bool ChoicePiece::is_plain_text() const {
  return source == Source::delta && !text.empty() && !text.is_copy() && plain.empty() &&
         reasoning.empty() && other_reasoning.empty() && refusal.empty() && calls.empty() &&
         finish.empty() && logprobs.empty() && error.empty() && others.empty() &&
         message_others.empty();
}

void Answer::clear() {
  choices.clear();
  usage.reset();
  usage_json = {};
  service_tier = {};
  system_fingerprint = {};
  error = {};
  others.clear();
}

bool AnswerReader::read(std::string_view document) {
  document_ = document;
  mended_ = {};
  if (read_text_like_last()) return true;
  const auto read_text_of = [this](std::string_view text) {
    document_ = text;
    return read_document();
  };
  if (read_like_last() || read_repaired(document, sanitized_, mended_, read_text_of)) {
    remember_text();
    return true;
  }
  answer_.clear();
  before_text_.clear();
  return false;
}

bool AnswerReader::read_document() {
  answer_.clear();
  signs_ = {};
  in_.reset(document_);
  int choices_seen = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "choices" && has_members(in_.peek())) {
      begin = in_.offset();
      read_choices();
      end = in_.offset();
      ++choices_seen;
    } else if (key == "usage") {
      read_usage();
    } else if (key == "service_tier") {
      answer_.service_tier = read_raw();
    } else if (key == "system_fingerprint") {
      answer_.system_fingerprint = read_raw();
    } else if (key == "error") {
      answer_.error = read_error();
    } else {
      read_other_member(key);
    }
  }
  if (!in_.finish()) return false;
  if (!answer_.usage) read_usage_of_others();
  if (answer_.error.empty() && is_error()) answer_.error = document_;
  if (choices_seen == 1 && !answer_.usage && answer_.error.empty()) remember(begin, end);
  return true;
}

void AnswerReader::read_choices() {
  answer_.choices.clear();
  if (in_.peek() == json::Kind::object) return read_choice(answer_.choices.add());
  while (in_.next_element()) {
    if (in_.peek() == json::Kind::object) {
      read_choice(answer_.choices.add());
    } else {
      in_.skip();
    }
  }
}

void AnswerReader::remember(std::size_t choices_begin, std::size_t choices_end) {
  before_choices_.assign(document_.substr(0, choices_begin));
  after_choices_.assign(document_.substr(choices_end));
}

// The fields around the choices were checked and reported with the document that they are equal to.
bool AnswerReader::read_like_last() {
  if (before_choices_.empty() || misses_ == kMaxMisses) return false;
  ++misses_;
  if (!document_.starts_with(before_choices_) || !document_.ends_with(after_choices_)) return false;
  answer_.clear();
  in_.reset(document_.substr(before_choices_.size()));
  if (in_.peek() != json::Kind::array) return false;
  read_choices();
  const std::size_t end = before_choices_.size() + in_.offset();
  if (in_.failed() || document_.substr(end) != after_choices_) return false;
  misses_ = 0;
  return true;
}

void AnswerReader::remember_text() {
  before_text_.clear();
  const bool may_repeat = text_misses_ < kMaxMisses && answer_.choices.size() == 1 &&
                          !answer_.usage && answer_.error.empty() && document_.data() != nullptr;
  if (!may_repeat || !answer_.choices.front().is_plain_text()) return;
  const std::string_view text = answer_.choices.front().text.view();
  const auto begin = static_cast<std::size_t>(text.data() - document_.data());
  before_text_.assign(document_.substr(0, begin));
  after_text_.assign(document_.substr(begin + text.size()));
}

// The text has no quote and no escape, so all else of the document means what it meant in the last one.
bool AnswerReader::read_text_like_last() {
  const std::size_t around = before_text_.size() + after_text_.size();
  if (before_text_.empty() || document_.size() <= around) return false;
  ++text_misses_;
  if (!document_.starts_with(before_text_) || !document_.ends_with(after_text_)) return false;
  const std::string_view text = document_.substr(before_text_.size(), document_.size() - around);
  const json::StringRun run = json::string_run(text.data(), text.data() + text.size());
  if (run.end != text.data() + text.size()) return false;
  if (!run.ascii && utf8::find_invalid(text) != std::string_view::npos) return false;
  text_misses_ = 0;
  answer_.service_tier = answer_.system_fingerprint = answer_.usage_json = {};
  answer_.others.clear();
  answer_.choices.front().text = text;
  return true;
}

void AnswerReader::read_choice(ChoicePiece& choice) {
  using Source = ChoicePiece::Source;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "delta") {
      read_prose(choice, Source::delta);
    } else if (key == "message" && choice.source != Source::delta) {
      read_prose(choice, Source::message);
    } else if (key == "text") {
      read_fragment(in_, choice.plain);
    } else if (key == "index") {
      choice.index = read_integer().value_or(0);
    } else if (key == "finish_reason") {
      read_text(choice.finish);
    } else if (key == "logprobs") {
      choice.logprobs = read_raw();
    } else if (key == "error") {
      choice.error = read_error();
    } else if (key == "usage") {
      read_usage();
    } else {
      keep_other(key, choice.others);
    }
  }
}

void AnswerReader::read_usage() {
  if (in_.peek() != json::Kind::object) return in_.skip();
  answer_.usage_json = in_.raw();
  answer_.usage = read_openai_usage(answer_.usage_json);
}

void AnswerReader::read_text(Text& text) { upstream::read_text(in_, document_, text); }

// A whole number that is not negative, also as a string.
std::optional<std::int64_t> AnswerReader::read_integer() {
  std::optional<std::int64_t> value;
  if (in_.peek() == json::Kind::number) {
    value = in_.integer();
  } else if (in_.peek() == json::Kind::string) {
    const std::string_view digits = in_.string();
    std::int64_t parsed = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
    if (fault == std::errc() && end == digits.data() + digits.size()) value = parsed;
  } else {
    in_.skip();
  }
  if (value && *value < 0) value.reset();
  return value;
}

std::string_view AnswerReader::read_raw() {
  if (in_.peek() == json::Kind::null) {
    in_.null();
    return {};
  }
  return in_.raw();
}

}  // namespace callgate::upstream
