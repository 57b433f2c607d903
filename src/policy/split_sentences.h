// A policy: text leaves in whole sentences, one delta each. An unfinished sentence is held back until it ends, or until
// something else of the turn follows: a call, reasoning, the end.
#pragma once

#include "callgate/event.h"
#include "policy/sentence_splitter.h"

namespace callgate::policy {

class SplitSentences final : public Stage {
 public:
  explicit SplitSentences(SentenceOptions options) : splitter_(options) {}

  void push(const Event& event, EventSink& next) override;
  // What is held back leaves.
  void release(EventSink& next);

 private:
  SentenceSplitter splitter_;
};

}  // namespace callgate::policy
