#include "contract/chat_contract.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/check.h"
#include "base/utf8.h"
#include "contract/chat_contract_choice.h"
#include "contract/chat_contract_json.h"
#include "contract/chat_contract_sheet.h"
#include "sse/decoder.h"

namespace callgate::contract {
namespace {

using enum ContractRule;

// Raw bytes that are searched again with the next push: a key may be cut.
constexpr std::size_t kOverlap = 512;
constexpr std::size_t kRefusalBytes = std::size_t{64} << 10;

// With or without parameters: `text/event-stream; charset=utf-8`.
bool is_event_stream(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (type.ends_with(' ')) type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return type == "text/event-stream";
}

// A field that every frame repeats.
struct Constant {
  ContractRule rule;
  std::string_view name;
  bool (*is_valid)(std::string_view raw);
};
bool is_filled(std::string_view raw) { return is_string(raw) && raw != "\"\""; }
constexpr Constant kConstants[] = {
    {frame_object, "object",
     [](std::string_view raw) { return raw == "\"chat.completion.chunk\""; }},
    {frame_id, "id", is_filled},
    {frame_created, "created", [](std::string_view raw) { return to_integer(raw).has_value(); }},
    {frame_model, "model", is_filled},
};
constexpr std::size_t kConstantCount = std::size(kConstants);

}  // namespace

class ChatContract::Parts {
 public:
  explicit Parts(const ContractTerms& terms) : terms_(terms) {
    for (std::uint32_t i = 0; i < std::max(terms.choices, 1u); ++i) {
      choices_.emplace_back(i, terms_, sheet_, progress_);
    }
  }

  void accept_head(int status, std::string_view content_type, std::string_view other_headers);
  void push(std::string_view bytes);
  void finish(std::string_view cut);

  const ContractProgress& progress() const { return progress_; }
  std::vector<RuleVerdict> verdicts() const;
  std::string transcript() const { return transcript_; }

 private:
  void search_secrets(std::string_view bytes);
  void accept_frame(const SseFrame& frame);
  void accept_done();
  void accept_object(std::string_view data);
  bool accept_error(std::string_view event, std::string_view data);
  void accept_constants(std::string_view data);
  void accept_choices(std::string_view raw);
  void accept_choice(std::string_view raw);
  void accept_usage(std::string_view usage, std::string_view choices);
  void check_usage_counts(std::string_view usage);
  void check_end(std::string_view cut);
  void waive_unasked();
  bool all_finished() const;
  std::string where() const { return "frame " + std::to_string(progress_.frames); }

  const ContractTerms terms_;
  VerdictSheet sheet_;
  ContractProgress progress_;
  SseDecoder decoder_;
  std::deque<ContractChoice> choices_;
  std::array<std::string, kConstantCount> constants_;
  std::string refusal_;  // the start of an answer that is not a stream
  std::string overlap_;  // the last bytes, for the search for keys
  std::string usage_line_;
  std::string transcript_;
  std::uint32_t dones_ = 0;
  std::uint32_t usages_ = 0;
  std::optional<int> refused_;  // a status other than 200
  bool after_usage_ = false;
  bool finished_ = false;
};

void ChatContract::Parts::accept_head(int status, std::string_view type,
                                      std::string_view other_headers) {
  sheet_.count(Evidence::head);
  sheet_.note(status_ok, std::to_string(status));
  sheet_.note(content_type, excerpt(type));
  search_secrets(other_headers);
  overlap_.clear();
  if (status != 200) {
    refused_ = status;
    sheet_.waive(content_type, "the status is not 200");
  } else if (!is_event_stream(type)) {
    sheet_.fail(content_type, type.empty() ? "no content type" : excerpt(type));
  }
}

void ChatContract::Parts::push(std::string_view bytes) {
  search_secrets(bytes);
  if (refused_) {
    refusal_.append(bytes.substr(0, kRefusalBytes - std::min(kRefusalBytes, refusal_.size())));
    return;
  }
  decoder_.push(bytes, [this](const SseFrame& frame) { accept_frame(frame); });
}

void ChatContract::Parts::search_secrets(std::string_view bytes) {
  overlap_.append(bytes);
  if (std::string found = find_secret(overlap_, terms_.secrets); !found.empty()) {
    sheet_.fail(no_secrets, progress_.frames == 0 ? found : found + " after " + where());
    overlap_.clear();
  }
  if (overlap_.size() <= kOverlap) return;
  overlap_.erase(0, overlap_.size() - kOverlap);
  overlap_.front() = 'x';  // the rest of a word, as far as we know; a key here was seen before
}

void ChatContract::Parts::accept_frame(const SseFrame& frame) {
  if (frame.data == "[DONE]") return accept_done();
  ++progress_.frames;
  sheet_.count(Evidence::frames);
  // Sentences repeat parts of frames, and a part of a key could not be told from a word.
  const std::string masked = mask_secrets(frame.data, terms_.secrets);
  std::string data;
  utf8::append_sanitized(data, masked);
  if (data != masked) {
    sheet_.fail(whole_characters, where() + " has half a UTF-8 character: " + shown(data));
  }
  if (dones_ > 0) {
    sheet_.fail(nothing_after_done, where() + ": " + shown(data));
    return;
  }
  if (kind_of(data) != json::Kind::object || !is_well_formed(data)) {
    sheet_.fail(frames_are_json, where() + ": " + shown(data));
    return;
  }
  if (has_half_surrogate(data)) {
    sheet_.fail(whole_characters, where() + " has half a surrogate pair: " + shown(data));
  }
  if (!accept_error(frame.event, data)) accept_object(data);
}

void ChatContract::Parts::accept_done() {
  if (++dones_ > 1) sheet_.fail(done_once, "[DONE] comes again after " + where());
}

// True when the frame is an error: nothing else is asked of it.
bool ChatContract::Parts::accept_error(std::string_view event, std::string_view data) {
  const std::string_view error = members(data, {"error"})[0];
  if (is_nothing(error) && event != "error") return false;
  sheet_.fail(no_error, where() + ": " + shown(data));
  return true;
}

void ChatContract::Parts::accept_object(std::string_view data) {
  accept_constants(data);
  const auto [choices, usage] = members(data, {"choices", "usage"});
  if (after_usage_) sheet_.fail(usage_last, where() + " follows the usage: " + shown(data));
  if (!is_array(choices)) {
    sheet_.fail(choices_array, where() + ": `choices` is " + shown(choices));
  } else if (is_nothing(usage) && choices == "[]" && all_finished()) {
    sheet_.fail(nothing_after_finish, where() + ": " + shown(data));
  } else {
    accept_choices(choices);
  }
  if (!is_nothing(usage)) accept_usage(usage, choices);
}

void ChatContract::Parts::accept_constants(std::string_view data) {
  std::string_view names[kConstantCount];
  std::transform(std::begin(kConstants), std::end(kConstants), names,
                 [](const Constant& constant) { return constant.name; });
  const auto found = members(data, names);
  for (std::size_t i = 0; i < kConstantCount; ++i) {
    const Constant& constant = kConstants[i];
    const std::string what = where() + ": `" + std::string(constant.name) + "` is ";
    if (!constant.is_valid(found[i])) {
      sheet_.fail(constant.rule, what + shown(found[i]));
    } else if (constants_[i].empty()) {
      constants_[i] = found[i];
      sheet_.note(constant.rule, excerpt(found[i]));
    } else if (constants_[i] != found[i]) {
      sheet_.fail(constant.rule, what + shown(found[i]) + ", it was " + shown(constants_[i]));
    }
  }
}

void ChatContract::Parts::accept_choices(std::string_view raw) {
  json::Reader in(raw);
  while (in.next_element()) accept_choice(in.raw());
}

void ChatContract::Parts::accept_choice(std::string_view raw) {
  const auto [index, error] = members(raw, {"index", "error"});
  const std::optional<std::int64_t> number = to_integer(index);
  const bool known = number && *number >= 0 && *number < static_cast<std::int64_t>(choices_.size());
  if (!is_nothing(error)) sheet_.fail(no_error, where() + ": " + shown(error));
  if (!known) sheet_.fail(choice_index, where() + ": `index` is " + shown(index));
  // The other rules are asked of the choice that was meant.
  choices_[known ? static_cast<std::size_t>(*number) : 0].accept(raw, where());
}

void ChatContract::Parts::accept_usage(std::string_view usage, std::string_view choices) {
  ++usages_;
  sheet_.count(Evidence::usage);
  if (!terms_.include_usage) {
    sheet_.fail(usage_as_asked, where() + " has usage although nobody asked: " + shown(usage));
  }
  check_usage_counts(usage);
  if (is_array(choices) && choices != "[]") {
    sheet_.fail(usage_last, where() + " has usage beside choices");
    return;
  }
  if (!is_array(choices)) sheet_.fail(usage_form, where() + ": `choices` is " + shown(choices));
  if (!all_finished()) sheet_.fail(usage_last, where() + " has usage before the finish");
  after_usage_ = true;
}

void ChatContract::Parts::check_usage_counts(std::string_view usage) {
  static constexpr std::string_view kCounts[] = {"prompt_tokens", "completion_tokens",
                                                 "total_tokens"};
  const auto counts = members(usage, kCounts);
  usage_line_.clear();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!to_integer(counts[i])) {
      sheet_.fail(usage_form,
                  where() + ": `" + std::string(kCounts[i]) + "` is " + shown(counts[i]));
    }
    usage_line_ += (i == 0 ? "" : ", ") + std::string(kCounts[i]) + " " + shown(counts[i]);
  }
  sheet_.note(usage_form, usage_line_);
  sheet_.note(usage_last, where());
}

bool ChatContract::Parts::all_finished() const {
  return std::all_of(choices_.begin(), choices_.end(),
                     [](const ContractChoice& choice) { return choice.is_finished(); });
}

void ChatContract::Parts::finish(std::string_view cut) {
  finished_ = true;
  if (refused_) {
    const std::string masked = mask_secrets(refusal_, terms_.secrets);
    const std::string said = masked.empty() ? "" : ": " + excerpt(masked, 300);
    sheet_.fail(status_ok, std::to_string(*refused_) + said);
    return;
  }
  sheet_.count(Evidence::stream);
  const std::uint64_t before = progress_.frames + dones_;
  decoder_.finish([this](const SseFrame& frame) { accept_frame(frame); });
  if (progress_.frames + dones_ != before) {
    sheet_.fail(frames_closed, "no blank line after the last frame");
  }
  if (decoder_.overflowed()) sheet_.fail(frames_are_json, "a frame of more than 8 MiB");
  check_end(cut);
  for (ContractChoice& choice : choices_) {
    choice.finish();
    transcript_ += choice.transcript();
  }
  if (!usage_line_.empty()) transcript_ += "usage " + usage_line_ + "\n";
  transcript_ += "model " + constants_[kConstantCount - 1] + "\n";
  transcript_ += dones_ > 0 ? "done\n" : "no done\n";
  waive_unasked();
}

void ChatContract::Parts::check_end(std::string_view cut) {
  const std::string frames = std::to_string(progress_.frames) + " frames";
  if (!cut.empty()) sheet_.fail(stream_complete, "after " + where() + ": " + excerpt(cut, 200));
  sheet_.note(stream_complete, "ended after " + frames);
  sheet_.note(frames_closed, frames);
  if (dones_ == 0) sheet_.fail(done_once, "no [DONE]");
  sheet_.note(done_once, "one [DONE]");
  sheet_.note(nothing_after_done, "[DONE] came last");
  const bool owed = terms_.include_usage && terms_.usage_known && usages_ == 0;
  if (owed) sheet_.fail(usage_as_asked, "asked for, but none came");
  sheet_.note(usage_as_asked, usages_ > 0 ? "asked for, and it came" : "not asked for, none came");
  sheet_.note(no_secrets, "none found");
}

void ChatContract::Parts::waive_unasked() {
  if (!terms_.call_expected) sheet_.waive(call_made, "no call was asked for");
  if (terms_.forced_tool.empty()) sheet_.waive(forced_tool, "no tool was forced");
}

std::vector<RuleVerdict> ChatContract::Parts::verdicts() const {
  CALLGATE_CHECK(finished_);
  std::vector<RuleVerdict> verdicts;
  for (std::size_t i = 0; i < kContractRuleCount; ++i) {
    verdicts.push_back(sheet_.verdict(static_cast<ContractRule>(i)));
    verdicts.back().seen = mask_secrets(verdicts.back().seen, terms_.secrets);
  }
  return verdicts;
}

ChatContract::ChatContract(const ContractTerms& terms) : parts_(std::make_unique<Parts>(terms)) {}
ChatContract::~ChatContract() = default;
ChatContract::ChatContract(ChatContract&&) noexcept = default;
ChatContract& ChatContract::operator=(ChatContract&&) noexcept = default;

void ChatContract::accept_head(int status, std::string_view content_type,
                               std::string_view other_headers) {
  parts_->accept_head(status, content_type, other_headers);
}
void ChatContract::push(std::string_view bytes) { parts_->push(bytes); }
void ChatContract::finish(std::string_view cut) { parts_->finish(cut); }
const ContractProgress& ChatContract::progress() const { return parts_->progress(); }
std::vector<RuleVerdict> ChatContract::verdicts() const { return parts_->verdicts(); }
std::string ChatContract::transcript() const { return parts_->transcript(); }

}  // namespace callgate::contract
