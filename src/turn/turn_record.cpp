#include "turn/turn_record.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "chat/content.h"

namespace callgate::server {
namespace {

constexpr std::size_t kMostCalls = 1000;   // rows of one turn
constexpr std::size_t kLongestName = 512;  // bytes of a call's name or id
constexpr std::size_t kMostQuestion = store::kLongestText / 2;

std::string last_question(const Request& request) {
  for (auto message = request.messages.rbegin(); message != request.messages.rend(); ++message) {
    if (message->role != Role::user) continue;
    return std::string(cut_to(text_of(message->content), kMostQuestion));
  }
  return {};
}

}  // namespace

std::string_view cut_to(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  text = text.substr(0, bytes);
  return text.substr(0, text.size() - utf8::incomplete_tail(text));
}

bool logs_content(const Config& config, const KeyConfig* key, const ModelConfig& model) {
  return config.store.content && config.store.url != "none" && model.log_content &&
         (key == nullptr || key->log_content);
}

void TurnRecord::begin(store::RequestRecord& record, std::string body, const Request& request) {
  mask_.apply(record.session);
  if (!keeps_content()) return;
  content_->question = last_question(request);
  record.received = std::move(body);
  mask_.apply(record.received);
}

void TurnRecord::sent(std::string body) {
  if (content_) content_->sent = std::move(body);
}

TurnObserver* TurnRecord::observer(TurnObserver* next) {
  next_ = next;
  return this;
}

void TurnRecord::responded(std::string_view body) {
  if (content_) content_->response = body;
}

void TurnRecord::forget_content() { content_.reset(); }

void TurnRecord::ended(KeptTurn kept) {
  if (kept.reason == FinishReason::tool_calls) {
    for (Call& call : calls_) {
      if (call.open && call.choice == 0) call.row.outcome = CallOutcome::complete;
    }
  }
  if (!content_) return;
  if (!kept.response.empty()) content_->response = std::move(kept.response);
  if (kept.too_long) content_->response.clear();
  content_->kept = std::move(kept);
}

// A loop gives a call another id where the model's own was taken: then it is the first one of that name without a result.
void TurnRecord::call_result(std::string_view id, std::string_view name, store::CallResult result) {
  id = cut_to(id, kLongestName);
  name = cut_to(name, kLongestName);
  const auto find = [&](auto same) {
    return std::find_if(calls_.begin(), calls_.end(), [&](const Call& call) {
      return !call.row.result && call.row.name == name && same(call);
    });
  };
  auto call = find([&](const Call& each) { return each.row.id == id; });
  if (call == calls_.end()) call = find([](const Call&) { return true; });
  if (call == calls_.end()) return;
  call->row.id = id;
  result.text = beginning_of(result.text);
  call->row.result = std::move(result);
}

std::string TurnRecord::beginning_of(std::string_view result) const {
  if (!keeps_content()) return {};
  // A secret that the end cuts in two is masked first.
  std::string text(cut_to(result, 2 * store::kLongestText));
  mask_.apply(text);
  return std::string(cut_to(text, store::kLongestText));
}

void TurnRecord::complete(store::RequestOutcome& outcome) {
  for (Call& call : calls_) outcome.call_rows.push_back(std::move(call.row));
  mask_.apply(outcome.error_message);
  if (!content_) return;
  KeptTurn& kept = content_->kept;
  if (!outcome.finish_reason) outcome.finish_reason = kept.reason;
  outcome.sent = std::move(content_->sent);
  outcome.response = std::move(content_->response);
  outcome.events = std::move(content_->rounds.empty() ? kept.events : content_->rounds);
  outcome.search = std::move(content_->question);
  if (!outcome.search.empty() && !kept.search.empty()) outcome.search.push_back('\n');
  outcome.search.append(cut_to(kept.search, store::kLongestText - outcome.search.size()));
  for (std::string* text : {&outcome.sent, &outcome.response, &outcome.events, &outcome.search}) {
    mask_.apply(*text);
  }
}

void TurnRecord::turn_started(std::string_view response_id) {
  calls_.clear();
  open_.clear();
  if (content_) content_->kept = {};
  if (next_ != nullptr) next_->turn_started(response_id);
}

// A call that is never finished was cut off.
void TurnRecord::call_started(const CallStart& start) {
  if (start.choice >= open_.size()) open_.resize(start.choice + 1, kNone);
  open_[start.choice] = calls_.size() < kMostCalls ? calls_.size() : kNone;
  if (calls_.size() < kMostCalls) {
    calls_.push_back({.choice = start.choice,
                      .call = start.call,
                      .row = {.id = std::string(cut_to(start.id, kLongestName)),
                              .name = std::string(cut_to(start.name, kLongestName)),
                              .outcome = CallOutcome::truncated}});
  }
  if (next_ != nullptr) next_->call_started(start);
}

void TurnRecord::call_finished(const CallEnd& end) {
  const std::size_t row = end.choice < open_.size() ? open_[end.choice] : kNone;
  if (row != kNone && calls_[row].call == end.call) {
    calls_[row].row.outcome = end.outcome;
    calls_[row].open = false;
    open_[end.choice] = kNone;
  }
  if (next_ != nullptr) next_->call_finished(end);
}

}  // namespace callgate::server
