#include "upstream/qwen_web/qwen_web_decoder.h"

#include <algorithm>
#include <utility>

#include "upstream/qwen_web/qwen_web_error.h"

namespace callgate::upstream {

void QwenWebDecoder::push(const SseFrame& frame, ChoiceSinks& sinks) {
  if (finished_) return;
  const std::string_view data = trimmed(frame.data);
  if (data.empty()) return;
  if (is_end_mark(data)) return take_done(sinks);
  if (!reader_.read(data)) return push_unread(frame, data, sinks);
  count_mended(reader_.mended(), repairs_);
  const QwenWebFrame& read = reader_.frame();
  if (read.failed || (!read.spoken && !read.usage && is_error_answer(data))) {
    return fail_with(decode_qwen_web_error(0, data));
  }
  apply(read, sinks.choice(0));
  if (phase_ == Phase::answer && read.spoken && read.status.view() == "finished") {
    end(FinishReason::stop, sinks);
  }
}

// An end of other APIs, without the status that ends an answer here.
void QwenWebDecoder::take_done(ChoiceSinks& sinks) {
  if (!said_) return fail_with("upstream ended its answer without saying anything");
  count(Repair::finish_reason_missing);
  end(FinishReason::stop, sinks);
}

void QwenWebDecoder::push_body(std::string_view body, ChoiceSinks& sinks) {
  if (finished_) return;
  const std::string_view document = trimmed(body);
  if (!reader_.read(document) || reader_.frame().failed || !reader_.frame().spoken) {
    return fail_with(decode_qwen_web_error(0, document));
  }
  count_mended(reader_.mended(), repairs_);
  apply(reader_.frame(), sinks.choice(0));
  if (!said_) return fail_with("upstream ended its answer without saying anything");
  end(FinishReason::stop, sinks);
}

// A closed connection is not an end: only the status of the answer is.
void QwenWebDecoder::end(Ending ending, ChoiceSinks& sinks) {
  if (ending == Ending::closed && !finished_) {
    fail_with(begun_ ? "upstream closed before the turn was finished"
                     : "upstream closed without an answer");
  }
  end(FinishReason::upstream_error, sinks);
}

void QwenWebDecoder::apply(const QwenWebFrame& frame, EventSink& sink) {
  if (frame.spoken) {
    begun_ = true;
    const std::string_view word = frame.phase.view();
    if (word == "answer" || frame.whole) {
      phase_ = Phase::answer;
    } else if (word == "think" || word == "thinking_summary") {
      phase_ = Phase::reasoning;
    } else if (!word.empty()) {
      phase_ = Phase::builtin;
    }
    const std::string_view text = frame.content.view();
    switch (phase_) {
      case Phase::reasoning:
        say_summary(frame, sink);
        think(reasoning_halves_.push(text, joined_), sink);
        break;
      case Phase::answer:
        answer(answer_halves_.push(text, joined_), sink);
        break;
      case Phase::builtin:
        break;
    }
  }
  if (frame.usage && frame.usage != usage_) {
    usage_ = frame.usage;
    sink.accept(UsageReported{*usage_});
  }
}

void QwenWebDecoder::think(std::string_view text, EventSink& sink) {
  if (text.empty()) return;
  said_ = true;
  sink.accept(ReasoningDelta{text});
}

void QwenWebDecoder::answer(std::string_view text, EventSink& sink) {
  if (text.empty()) return;
  said_ = true;
  sink.accept(TextDelta{text});
}

// Titles and thoughts belong together by their position: a title is a line before its thought.
void QwenWebDecoder::say_summary(const QwenWebFrame& frame, EventSink& sink) {
  const std::size_t most = std::max(frame.titles.size(), frame.thoughts.size());
  for (std::size_t i = 0; i < most; ++i) {
    const bool titled = i < frame.titles.size() && !frame.titles.begin()[i].empty();
    if (i < frame.titles.size()) say_item(frame.titles.begin()[i].view(), i, titles_, "\n\n", sink);
    if (i < frame.thoughts.size()) {
      say_item(frame.thoughts.begin()[i].view(), i, thoughts_, titled ? "\n" : "\n\n", sink);
    }
  }
}

void QwenWebDecoder::say_item(std::string_view item, std::size_t index,
                              std::vector<std::string>& said, std::string_view separator,
                              EventSink& sink) {
  if (index >= said.size()) said.resize(index + 1);
  std::string& before = said[index];
  // Half a surrogate pair at the end waits for the next frame, which has the whole item again.
  SurrogateJoiner halves;
  item = halves.push(item, joined_);
  // An item that was written anew cannot be unsaid, and one that is not longer adds nothing.
  if (item.size() <= before.size() || !item.starts_with(before)) return;
  piece_.clear();
  if (before.empty() && summary_begun_) piece_ = separator;
  const std::string_view added = item.substr(before.size());
  piece_.append(added);
  before.append(added);
  summary_begun_ = true;
  think(piece_, sink);
}

void QwenWebDecoder::end(FinishReason reason, ChoiceSinks& sinks) {
  if (!begin_end()) return;
  EventSink& sink = sinks.choice(0);
  think(reasoning_halves_.finish(), sink);
  answer(answer_halves_.finish(), sink);
  count(Repair::utf8_invalid, reasoning_halves_.replaced() + answer_halves_.replaced());
  sink.accept(TurnFinished{reason});
}

}  // namespace callgate::upstream
