// A support agent in a few lines: a provider of one's own that streams, a handler for its tools, and the loop between
// them. The same desk then runs with a scripted provider that does not stream, as a test would; both must say the same.
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "callgate/run_to_end.h"

namespace {

using namespace callgate;

loop::ToolResult handle_tool(const loop::RunTool& run) {
  if (run.name == "lookup_order") return {.text = R"({"status": "shipped", "eta": "2026-02-20"})"};
  return {.text = "unknown tool", .is_error = true};
}

// One's own provider: whatever speaks to a model and tells its turn as events, each as it comes.
class MyProvider {
 public:
  Result<void> operator()(const loop::CallModel& call, EventSink& events) const {
    const bool knows = call.request.messages.back().role == Role::tool;
    for (const std::string_view piece : knows ? kAnswer : kOpening) {
      events.accept(TextDelta{piece});
    }
    if (!knows) {
      events.accept(CallStarted{0, "lookup_order", "tc1"});
      events.accept(ArgumentsDelta{0, R"({"id": )"});
      events.accept(ArgumentsDelta{0, R"("ORD-42"})"});
      events.accept(CallFinished{0, CallOutcome::complete});
    }
    events.accept(TurnFinished{knows ? FinishReason::stop : FinishReason::tool_calls});
    return {};
  }

 private:
  using Pieces = std::vector<std::string_view>;
  inline static const Pieces kOpening{"Let me ", "look that up... "};
  inline static const Pieces kAnswer{"Your order ", "has shipped!"};
};

// A provider for tests: whole turns, one after the other.
class MockProvider {
 public:
  explicit MockProvider(std::vector<loop::WholeTurn> turns) : turns_(std::move(turns)) {}

  Result<void> operator()(const loop::CallModel& call, EventSink& events) const {
    if (call.turn > turns_.size()) return fail(ErrorCode::upstream_failed, "no turn is left");
    loop::play(turns_[call.turn - 1], events);
    return {};
  }

 private:
  std::vector<loop::WholeTurn> turns_;
};

class Screen final : public loop::ClientSink {
 public:
  void accept(const Event& event) override {
    const auto* delta = std::get_if<TextDelta>(&event);
    if (delta == nullptr) return;
    text += delta->text;
    std::printf("%.*s", static_cast<int>(delta->text.size()), delta->text.data());
  }
  void notice(const loop::Notice&) override {}

  std::string text;
};

template <class Provider>
std::string ask(Provider provider) {
  Request request{.model = "desk"};
  request.messages.push_back(
      {.role = Role::system, .content = {R"("You are a helpful support agent.")"}});
  request.messages.push_back({.role = Role::user, .content = {R"("Where is ORD-42?")"}});
  loop::Tool lookup;
  lookup.spec = {.name = "lookup_order", .description = "The state of an order"};

  Screen screen;
  auto made = loop::ToolLoop::make(std::move(request), {}, {lookup}, screen);
  if (!made) return made.error().message;
  loop::Owner owner;
  owner.model = std::move(provider);
  owner.tool = handle_tool;
  const loop::Outcome outcome = loop::run_to_end(*made, owner);
  const auto* finish = std::get_if<loop::Finish>(&outcome);
  const bool completed = finish != nullptr && finish->end == loop::End::completed;
  std::printf("\n");
  return completed ? screen.text : "the loop did not complete";
}

}  // namespace

int main() {
  const std::string streamed = ask(MyProvider());

  loop::WholeTurn first{.text = "Let me look that up... ", .reason = FinishReason::tool_calls};
  first.calls.push_back({.id = "tc1", .name = "lookup_order", .arguments = R"({"id": "ORD-42"})"});
  const loop::WholeTurn second{.text = "Your order has shipped!"};
  const std::string mocked = ask(MockProvider({first, second}));

  const bool same = streamed == "Let me look that up... Your order has shipped!";
  return same && mocked == streamed ? 0 : 1;
}
