// What the request log keeps of a turn, collected while it runs: its calls in any case, its content where that is
// wanted. Secrets are masked before anything is handed on.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/pipeline.h"
#include "callgate/request.h"
#include "capture/secret_mask.h"
#include "config/config.h"
#include "store/request_log.h"

namespace callgate::server {

// Whether the log keeps the content of that model's requests. `key` is nullptr on an open gateway.
bool logs_content(const Config& config, const KeyConfig* key, const ModelConfig& model);

class TurnRecord final : public TurnObserver {
 public:
  // `max_answer`: bytes of an answer that are kept; 0: no content is. REQUIRES: `mask` outlives the record.
  TurnRecord(const SecretMask& mask, std::size_t max_answer)
      : mask_(mask),
        max_answer_(max_answer),
        content_(max_answer > 0 ? std::make_unique<Content>() : nullptr) {}

  bool keeps_content() const { return content_ != nullptr; }
  // For PipelineOptions::keep.
  std::size_t max_answer() const { return keeps_content() ? max_answer_ : 0; }

  // `body` as received; the request says what a search may look for.
  void begin(store::RequestRecord& record, std::string body, const Request& request);
  // The body of a request to an upstream; the last one counts.
  void sent(std::string body);
  // For the pipeline of an attempt, whose calls replace those of the one before. `next` is told, too; may be nullptr.
  TurnObserver* observer(TurnObserver* next);
  // What the client got in one piece.
  void responded(std::string_view body);
  // What callgate's own run of a call gave. `result.text` is all of it.
  void call_result(std::string_view id, std::string_view name, store::CallResult result);
  // There is no memory for the content of the turn: none is kept from now on.
  void forget_content();
  // As much of a result as the log keeps, without secrets; empty where it keeps no content.
  std::string beginning_of(std::string_view result) const;
  void ended(KeptTurn kept);
  // The events of all rounds, which take the place of those that the client got.
  void rounds(std::string events) {
    if (content_) content_->rounds = std::move(events);
  }
  void complete(store::RequestOutcome& outcome);

  void turn_started(std::string_view response_id) override;
  void call_started(const CallStart& start) override;
  void call_finished(const CallEnd& end) override;

 private:
  struct Call {
    std::uint32_t choice = 0;
    CallIndex call = 0;
    store::CallRow row;
    bool open = true;
  };
  static constexpr std::size_t kNone = std::size_t(-1);

  const SecretMask& mask_;
  const std::size_t max_answer_;
  TurnObserver* next_ = nullptr;
  std::vector<Call> calls_;
  std::vector<std::size_t> open_;  // by choice: the row of its open call, or kNone
  // What is said, where it is kept.
  struct Content {
    std::string question;  // what the user said last
    std::string sent;
    std::string response;
    KeptTurn kept;
    std::string rounds;
  };
  std::unique_ptr<Content> content_;  // nullptr: none is kept
};

// As much of `text` as fits into so many bytes, whole UTF-8 sequences.
std::string_view cut_to(std::string_view text, std::size_t bytes);

}  // namespace callgate::server
