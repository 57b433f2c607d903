// A policy of one's own: a stage that lets at most one call of a turn through. It keeps to the event grammar, so the
// client cannot tell that the model wrote more.
#include <cstdio>
#include <memory>
#include <string>
#include <variant>

#include "callgate/pipeline.h"

namespace {

using callgate::Event;

class OneCall final : public callgate::Stage {
 public:
  void push(const Event& event, callgate::EventSink& next) override {
    if (call_of(event) <= 0) next.accept(event);
  }

 private:
  // The number of the call that an event is about, -1 for all others.
  static std::int64_t call_of(const Event& event) {
    return std::visit(
        [](const auto& e) -> std::int64_t {
          if constexpr (requires { e.call; }) {
            return e.call;
          } else {
            return -1;
          }
        },
        event);
  }
};

}  // namespace

int main() {
  const callgate::Request request{.model = "demo", .stream = false};
  callgate::PipelineOptions options;
  options.policies.push_back([] { return std::make_unique<OneCall>(); });
  auto pipeline = callgate::Pipeline::make(request, options);
  if (!pipeline) return 1;

  std::string client;
  pipeline->push(
      R"({"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[
           {"id":"call_1","type":"function","function":{"name":"find","arguments":"{}"}},
           {"id":"call_2","type":"function","function":{"name":"remove_everything","arguments":"{}"}}
         ]},"finish_reason":"tool_calls"}]})",
      client);
  pipeline->finish(client);
  std::printf("%s\n", client.c_str());

  const auto has = [&](std::string_view part) { return client.find(part) != std::string::npos; };
  return has("\"name\":\"find\"") && !has("remove_everything") && pipeline->summary().calls == 1
             ? 0
             : 1;
}
