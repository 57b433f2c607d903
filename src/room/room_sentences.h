// The text of a running turn as sentences. It costs nothing until the first subscriber wants them; then it catches up.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/sentence_splitter.h"

namespace callgate::server {

class RoomSentences {
 public:
  // `text`: all that came so far.
  void turn_on(std::string_view text) {
    if (splitter_) return;
    splitter_.emplace();
    const auto keep = [this](std::string_view sentence) { released_ += sentence; };
    std::size_t from = 0;
    for (const std::size_t pause : pauses_) {
      splitter_->push(text.substr(from, pause - from), keep);
      splitter_->flush(keep);
      from = pause;
    }
    splitter_->push(text.substr(from), keep);
  }

  // What is sure now.
  std::vector<std::string> push(std::string_view delta) {
    std::vector<std::string> out;
    if (splitter_) splitter_->push(delta, [&](std::string_view sentence) { add(out, sentence); });
    return out;
  }
  // The text pauses after that many bytes.
  std::vector<std::string> pause(std::size_t bytes) {
    pauses_.push_back(bytes);
    std::vector<std::string> out;
    if (splitter_) splitter_->flush([&](std::string_view sentence) { add(out, sentence); });
    return out;
  }
  // Where the text has paused so far, in bytes.
  const std::vector<std::size_t>& pauses() const { return pauses_; }
  // What has left as sentences.
  std::string_view released() const { return released_; }

 private:
  void add(std::vector<std::string>& out, std::string_view sentence) {
    out.emplace_back(sentence);
    released_ += sentence;
  }

  std::vector<std::size_t> pauses_;
  std::optional<policy::SentenceSplitter> splitter_;
  std::string released_;
};

}  // namespace callgate::server
