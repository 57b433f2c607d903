// Functionary 3.2: a recipient on a line of its own, then what it gets. The prompt ends with the first `>>>`.
//
//   all
//   Let me check.>>>get_weather
//   {"city": "Paris"}
#include "dialect/family/named_json.h"

namespace callgate::dialect::functionary_v32 {
namespace {

constexpr std::string_view kAll = "all\n";
constexpr Opener kOpen[] = {{">>>"}};
constexpr std::string_view kTail[] = {"<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"};
constexpr Prose kProse{
    .reasoning = kThink, .call_open = kOpen, .tail = kTail, .start = Prose::Start::call};
constexpr Field kFields[] = {{"\n", Slot::arguments}};
constexpr NamedJson kGrammar{.first = Slot::name, .fields = kFields};
constexpr std::string_view kModels[] = {"*functionary*v3.2*", "*functionary*v3.3*"};

// What goes to `all` is text, everything else a call.
class RecipientReader final : public CallReader {
 public:
  explicit RecipientReader(std::unique_ptr<CallReader> call) : call_(std::move(call)) {}

  void open(std::size_t opener, Output& out) override {
    matched_ = 0;
    is_call_ = false;
    unopened_ = out.held_size() == 0;
    call_->open(opener, out);
  }

  Step push(std::string_view bytes, Output& out) override {
    if (is_call_) return call_->push(bytes, out);
    std::size_t at = 0;
    while (at < bytes.size() && matched_ < kAll.size() && bytes[at] == kAll[matched_]) {
      ++at;
      ++matched_;
    }
    out.hold(bytes.substr(0, at));
    if (matched_ == kAll.size()) {
      out.drop_held();
      return {.used = at, .next = Step::Next::closed};
    }
    if (at == bytes.size()) return {.used = at};
    be_call(out);
    return {.used = at};
  }

  void finish(Output& out) override {
    if (!is_call_) be_call(out);
    // A word on a line of its own that nothing announces is not a recipient.
    if (!unopened_ || out.call_open()) call_->finish(out);
  }

  bool overflow(Output& out) override { return is_call_ && call_->overflow(out); }

 private:
  // What looked like `all` is the beginning of a name.
  void be_call(Output& out) {
    is_call_ = true;
    out.unhold(matched_);
    call_->push(kAll.substr(0, matched_), out);
  }

  std::unique_ptr<CallReader> call_;
  std::size_t matched_ = 0;
  bool is_call_ = false;
  bool unopened_ = false;  // the prompt ended with the marker
};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  auto call = make_named_json(kProse, kGrammar, options);
  return make_turn_parser(kProse, std::make_unique<RecipientReader>(std::move(call)), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "functionary_v32",
                                 .spec = R"(>>>f\n{...} and >>>all\ntext)",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::functionary_v32
