#include "turn/summary/summary_turn.h"

#include <utility>

namespace callgate::server {
namespace {

// Its calls are nobody's.
PolicyOptions policy_of_summaries() {
  PolicyOptions policy;
  policy.tool_call_max = 0;
  policy.estimate_usage = false;
  return policy;
}

}  // namespace

class SummaryTurn::Outlet final : public engine::TurnOutlet {
 public:
  Outlet(SummaryTurn& turn, const Request& request, PipelineOptions& options)
      : tally_(options.id_seed),
        events_(request, *turn.job_.protocol, bound(turn, options), tally_) {}

  engine::TurnTally& tally() override { return tally_; }
  EventSink& choice(std::uint32_t index) override { return events_.choice(index); }

 private:
  static const PipelineOptions& bound(SummaryTurn& turn, PipelineOptions& options) {
    options.sink = &turn;
    return options;
  }

  engine::TurnTally tally_;
  engine::SinkOutlet events_;
};

SummaryTurn::SummaryTurn(const TurnHost& host, const TurnJob& job, TurnLog& log,
                         const AnswerSession& session, Request question, std::size_t most_bytes)
    : job_(job),
      session_(session),
      question_(std::move(question)),
      most_bytes_(most_bytes),
      round_(host, job, log, question_, policy_of_summaries(), *this) {}

std::shared_ptr<engine::TurnOutlet> SummaryTurn::begin_answer(const Request& request,
                                                              PipelineOptions& options) {
  text_.clear();
  if (job_.capture) job_.capture->begin_round(request, options);
  return std::make_shared<Outlet>(*this, request, options);
}

void SummaryTurn::accept(const Event& event) {
  if (const auto* text = std::get_if<TextDelta>(&event)) text_ += text->text;
  if (const auto* used = std::get_if<UsageReported>(&event)) {
    usage_ = used->usage;
    usage_json_ = used->json;
  }
}

}  // namespace callgate::server
