// Makes a loop's conversation fit its model's context, on its way to the model: what the loop and its memory keep stays whole.
//
//   {"role":"tool","tool_call_id":"c1","content":"[84211 bytes of this result were left out to save space. ...]"}
//   {"role":"user","content":"[Summary of the conversation until here, ...]\nAnn wants ..."}
//
// Results of tools go first, the oldest before the others. If that is not enough, the model is asked for a summary, which then
// stands for all that came before the last round; without one, rounds become a line each that names their calls. The last
// round, system prompts, and the question that is being answered stay.
//
//   Step step = compaction.fit(request);
//   if (step == Step::summarize) step = compaction.summarized(request, /* the model's answer to compaction.question() */);
//   if (step != Step::stuck) send(request);          // and where the upstream finds it too long:
//   if (compaction.refused(request)) step = compaction.fit(request);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/error.h"
#include "callgate/request.h"

namespace callgate::loop {

// Leaves out results, then rounds, until the request has about so many tokens, or nothing more can go. False: nothing went.
bool compact(Request& request, std::int64_t tokens);

// How many bytes of results can go before a round must.
std::int64_t spare_bytes(const std::vector<Message>& messages);

// An upstream refused a request since it is longer than the model's context.
bool is_too_long_for_model(const Error& error);

// One loop's. REQUIRES: each request's messages begin with those of the one before.
class Compaction {
 public:
  enum class Step : std::uint8_t {
    fits,       // nothing went
    shortened,  // something did
    summarize,  // the model has to answer question() first; the request is as it was
    stuck,      // nothing more can go from what was refused
  };

  // `context_length`: in tokens; 0: not known before a refusal. `summary_tokens`: of a summary at most; 0: none is asked for.
  Compaction(std::int64_t context_length, std::int64_t summary_tokens)
      : limit_(context_length * 9 / 10), summary_tokens_(summary_tokens) {}

  Step fit(Request& request);
  // What the model is to answer. After fit() said `summarize`.
  const Request& question() const { return question_; }
  std::size_t most_summary_bytes() const;  // what is longer is cut
  bool wants_summaries() const { return summary_tokens_ > 0; }
  // Blank: there is no summary, and this loop asks for none again.
  Step summarized(Request& request, std::string_view text);
  // The upstream found it too long: puts back what went, and sends less from now on. False: that was too often.
  bool refused(Request& request);

 private:
  // Of the messages but system prompts, in their order: a summary stands for those before `end`, but not for what people said
  // from `own` on.
  struct Span {
    std::size_t own = 0;
    std::size_t end = 0;
  };
  static Span span_of(const std::vector<Message>& messages);
  bool has_more(const std::vector<Message>& messages, const Span& span) const;
  bool put_summary(Request& request) const;
  void ask(const Request& request, const Span& span);
  Step shorten(Request& request, bool changed);

  std::int64_t limit_;  // tokens of a request; 0: not known
  std::int64_t summary_tokens_;
  int refusals_ = 0;
  std::int64_t refused_tokens_ = 0;  // of the request that was refused last; 0: none was
  std::vector<Message> whole_;       // before something went; empty: nothing did
  std::string summary_;
  Span covered_;  // by it
  Span asked_;    // what the next one is to cover
  Request question_;
};

}  // namespace callgate::loop
