#include "upstream/openai_chat/openai_answer.h"

#include <charconv>

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

Text* CallPiece::only_arguments() {
  const bool more = !id.empty() || !name.empty() || !other_arguments.empty() || !others.empty() ||
                    arguments_object || arguments_renamed || legacy;
  return more || arguments.empty() ? nullptr : &arguments;
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

Text* ChoicePiece::only_words() {
  const bool more = source != Source::delta || !plain.empty() || !refusal.empty() ||
                    !finish.empty() || !logprobs.empty() || !error.empty() || !others.empty() ||
                    !message_others.empty();
  if (more || calls.size() > 1) return nullptr;
  Text* only = calls.empty() ? nullptr : calls.front().only_arguments();
  if (only == nullptr && !calls.empty()) return nullptr;
  for (Text* words : {&text, &reasoning, &other_reasoning}) {
    if (words->empty()) continue;
    if (only != nullptr) return nullptr;
    only = words;
  }
  return only;
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
  repeats_ = read_words_like_last();
  if (repeats_) return true;
  const auto read_text_of = [this](std::string_view text) {
    document_ = text;
    return read_document();
  };
  if (read_like_last() || read_repaired(document, sanitized_, mended_, read_text_of)) {
    remember_words();
    return true;
  }
  answer_.clear();
  before_words_.clear();
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

void AnswerReader::remember_words() {
  before_words_.clear();
  const bool may_repeat = word_misses_ < kMaxMisses && answer_.choices.size() == 1 &&
                          !answer_.usage && answer_.error.empty();
  words_ = may_repeat ? answer_.choices.front().only_words() : nullptr;
  if (words_ == nullptr || words_->is_copy()) return;
  const auto begin = static_cast<std::size_t>(words_->view().data() - document_.data());
  before_words_.assign(document_.substr(0, begin));
  after_words_.assign(document_.substr(begin + words_->view().size()));
}

// The words are one string between its quotes, so all else of the document means what it meant in the last one.
bool AnswerReader::read_words_like_last() {
  const std::size_t around = before_words_.size() + after_words_.size();
  if (before_words_.empty() || document_.size() <= around) return false;
  ++word_misses_;
  if (!document_.starts_with(before_words_) || !document_.ends_with(after_words_)) return false;
  Text& words = *words_;
  const std::string_view inside = document_.substr(before_words_.size(), document_.size() - around);
  const json::StringRun run = json::string_run(inside.data(), inside.data() + inside.size());
  if (run.ascii && run.end == inside.data() + inside.size()) {
    words = inside;
  } else {
    in_.reset(document_.substr(before_words_.size() - 1));
    read_fragment(in_, words);
    if (in_.failed() || in_.offset() != inside.size() + 2 || words.empty()) return false;
  }
  word_misses_ = 0;
  answer_.service_tier = answer_.system_fingerprint = answer_.usage_json = {};
  answer_.others.clear();
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
  const std::size_t begin = in_.offset();
  answer_.usage = read_openai_usage(in_);
  answer_.usage_json = in_.since(begin);
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
