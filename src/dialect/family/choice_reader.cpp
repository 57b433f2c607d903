#include "dialect/family/choice_reader.h"

#include <algorithm>
#include <utility>

namespace callgate::dialect {
namespace {

class ChoiceReader final : public CallReader {
 public:
  ChoiceReader(const Prose& prose, std::vector<Alternative> alternatives)
      : prose_(prose), alternatives_(std::move(alternatives)) {}

  void open(std::size_t opener, Output& out) override {
    opener_ = opener;
    chosen_ = nullptr;
    const char last = prose_.call_open[opener].text.back();
    if (last == '[' || last == '{') choose(last, out);
  }

  Step push(std::string_view bytes, Output& out) override {
    std::size_t space = 0;
    while (chosen_ == nullptr && space < bytes.size()) {
      if (is_space(bytes[space])) {
        out.hold(bytes.substr(space++, 1));
      } else if (!choose(bytes[space], out)) {
        out.expected("a call", Found::rest(bytes.substr(space)));
        return {.used = space, .next = Step::Next::rejected};
      }
    }
    if (space == bytes.size()) return {.used = space};
    Step step = chosen_->push(bytes.substr(space), out);
    step.used += space;
    return step;
  }

  void finish(Output& out) override {
    if (chosen_ != nullptr) chosen_->finish(out);
  }

  bool overflow(Output& out) override { return chosen_ != nullptr && chosen_->overflow(out); }

 private:
  bool choose(char first, Output& out) {
    const auto fits = [&](const Alternative& alternative) {
      return alternative.first.empty() || alternative.first.find(first) != std::string_view::npos;
    };
    const auto found = std::find_if(alternatives_.begin(), alternatives_.end(), fits);
    if (found == alternatives_.end()) return false;
    chosen_ = found->reader.get();
    chosen_->open(opener_, out);
    return true;
  }

  const Prose& prose_;
  std::vector<Alternative> alternatives_;
  CallReader* chosen_ = nullptr;
  std::size_t opener_ = 0;
};

}  // namespace

std::unique_ptr<CallReader> make_choice(const Prose& prose, std::vector<Alternative> alternatives) {
  return std::make_unique<ChoiceReader>(prose, std::move(alternatives));
}

}  // namespace callgate::dialect
