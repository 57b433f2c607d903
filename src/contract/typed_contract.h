// What the contracts of protocols have in common whose frames are events with a `type`: Responses and Messages. A protocol's own part is
// told each event in order and adds verdicts about its own rules.
//
//   event: content_block_delta
//   data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let"}}
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "contract/object_contract.h"
#include "contract/stream_contract.h"
#include "json/scanner.h"
#include "sse/decoder.h"

namespace callgate::contract {

// One event. Views are valid during the call.
struct TypedEvent {
  std::string_view name;  // of the `event:` line; empty: it has none
  std::string type;
  std::string_view json;
};

// A call as its deltas join to it.
struct TypedCall {
  std::string id;
  std::string name;
  std::string arguments;
  json::Scanner scanner;
};

class TypedContract : public StreamContract {
 public:
  // REQUIRES: `own_rules` has static storage.
  TypedContract(const ContractTerms& terms, std::span<const ObjectRule> own_rules);

  void accept_head(int status, std::string_view content_type,
                   std::string_view other_headers) override;
  void push(std::string_view bytes) override;
  void finish(std::string_view cut) override;
  const ContractProgress& progress() const override { return progress_; }
  std::vector<RuleVerdict> verdicts() const override;
  std::string transcript() const override { return transcript_; }

 protected:
  virtual void take(const TypedEvent& event) = 0;
  // The answer is over: what has to be judged as a whole.
  virtual void judge_end() = 0;
  // Whether the event that ends the turn has come.
  virtual bool has_ended() const = 0;

  // The first fault of a rule is kept. `rule` is an index into the own rules.
  void fail(std::size_t rule, std::string_view what);
  // Passes unless it failed.
  void pass(std::size_t rule, std::string seen);
  void fail_error(std::string_view json);
  void fail_name(std::string_view what);

  void say(std::string_view kind, std::string_view text);
  TypedCall& begin_call(std::string id, std::string name);
  void add_arguments(TypedCall& call, std::string_view fragment);
  // Its arguments are all there. Without any they are `{}` where the protocol says so.
  void end_call(const TypedCall& call, bool empty_is_object);
  void end_turn(std::string_view reason) { say("finish", reason); }

  const std::set<std::string>& call_ids() const { return call_ids_; }
  std::size_t call_count() const { return calls_; }
  const ContractTerms& terms() const { return terms_; }
  std::string place() const { return "frame " + std::to_string(progress_.frames); }

 private:
  void take_frame(const SseFrame& frame);
  void judge(std::size_t row, bool good, std::string seen);
  void judge_stream(std::string_view cut);
  void judge_calls();
  void search_markup(std::string_view text);

  const ContractTerms terms_;
  const std::span<const ObjectRule> own_rules_;
  std::vector<RuleVerdict> verdicts_;  // common ones first
  ContractProgress progress_;
  SseDecoder decoder_;
  std::string overlap_;    // the last bytes, for the search for keys
  std::string text_tail_;  // the last bytes of the text, for the search for markers
  TypedCall call_;
  std::set<std::string> call_ids_;
  std::size_t calls_ = 0;
  std::uint64_t bytes_ = 0;
  std::string transcript_;
  std::string said_kind_;
  std::string said_;
  bool refused_ = false;

  void flush_said();
  void search_secrets(std::string_view bytes);
};

}  // namespace callgate::contract
