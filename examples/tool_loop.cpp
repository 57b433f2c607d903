// The tool loop with a model and a tool runner of one's own: the order example, two turns of the model, one tool. The loop
// decides, this program acts; a real one would call a model server and run tools at the same time.
#include <cstdio>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "callgate/loop.h"

namespace {

using namespace callgate;

// Text leaves as it comes; the loop's turns are one turn here.
class Screen final : public loop::ClientSink {
 public:
  void accept(const Event& event) override {
    if (const auto* delta = std::get_if<TextDelta>(&event)) {
      text += delta->text;
      std::printf("%.*s", static_cast<int>(delta->text.size()), delta->text.data());
    }
  }
  void notice(const loop::Notice& notice) override {
    if (const auto* call = std::get_if<loop::ToolCallNotice>(&notice)) {
      std::printf("\n[calls %.*s]\n", static_cast<int>(call->name.size()), call->name.data());
    }
  }

  std::string text;
};

// A model that asks for the order once, then tells what the tool said.
void play_model(const Request& request, EventSink& events) {
  if (request.messages.back().role == Role::user) {
    events.accept(TextDelta{"Let me look that up..."});
    events.accept(CallStarted{0, "lookup_order", "tc1"});
    events.accept(ArgumentsDelta{0, R"({"id": "ORD-42"})"});
    events.accept(CallFinished{0, CallOutcome::complete});
    events.accept(UsageReported{{.prompt_tokens = 10, .completion_tokens = 5, .total_tokens = 15}});
    events.accept(TurnFinished{FinishReason::tool_calls});
  } else {
    events.accept(TextDelta{"Your order "});
    events.accept(TextDelta{"has shipped!"});
    events.accept(
        UsageReported{{.prompt_tokens = 20, .completion_tokens = 10, .total_tokens = 30}});
    events.accept(TurnFinished{FinishReason::stop});
  }
}

loop::ToolResult run_tool(std::string_view name) {
  if (name == "lookup_order") return {.text = R"({"status": "shipped", "eta": "2026-02-20"})"};
  return {.text = "unknown tool", .is_error = true};
}

}  // namespace

int main() {
  Request request{.model = "demo"};
  request.messages.push_back({.role = Role::user, .content = {R"("Where is ORD-42?")"}});
  loop::Tool lookup;
  lookup.spec.name = "lookup_order";
  lookup.spec.description = "The state of an order";

  Screen screen;
  auto made = loop::ToolLoop::make(request, {.show_tool_calls = true}, {lookup}, screen);
  if (!made) return 1;
  loop::ToolLoop& loop = *made;

  loop::Millis now = 0;  // a real program reads a clock
  loop.start(now);
  std::vector<loop::RunTool> running;
  loop::Finish last;
  while (!loop.finished()) {
    for (loop::Action& action : loop.take_actions()) {
      if (const auto* call = std::get_if<loop::CallModel>(&action)) play_model(call->request, loop);
      if (const auto* run = std::get_if<loop::RunTool>(&action)) running.push_back(*run);
    }
    now += 5;
    for (const loop::RunTool& run : running) loop.finish_run(run.run, run_tool(run.name), now);
    running.clear();
  }
  for (loop::Action& action : loop.take_actions()) {
    if (auto* finish = std::get_if<loop::Finish>(&action)) last = std::move(*finish);
  }
  std::printf("\n%s after %u round, %lld tokens\n", std::string(loop::to_string(last.end)).c_str(),
              last.rounds, static_cast<long long>(last.usage.total_tokens));
  return last.end == loop::End::completed && last.usage.total_tokens == 45 &&
                 screen.text == "Let me look that up...\n\nYour order has shipped!"
             ? 0
             : 1;
}
