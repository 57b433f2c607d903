// Upstream bytes in, client bytes out: the upstream forgets the id and the index of its call, and says `stop`. The
// client gets a call that every SDK accepts.
#include "callgate/pipeline.h"

#include <cstdio>
#include <string>

int main() {
  const callgate::Request request{.model = "demo", .stream = true};
  auto pipeline = callgate::Pipeline::make(request, {.created = 1700000000, .id_seed = 42});
  if (!pipeline) {
    std::printf("%s\n", pipeline.error().message.c_str());
    return 1;
  }

  // As it may come from a socket: cut anywhere.
  const std::string upstream =
      "data: {\"choices\":[{\"delta\":{\"content\":\"Let me look.\"}}]}\n\n"
      "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"find\","
      "\"arguments\":{\"q\":\"tea\"}}}]},\"finish_reason\":\"stop\"}]}\n\n"
      "data: [DONE]\n\n";
  std::string client;
  for (const char byte : upstream) pipeline->push(std::string_view(&byte, 1), client);
  pipeline->finish(client);
  std::printf("%s", client.c_str());

  const callgate::TurnSummary& turn = pipeline->summary();
  for (std::size_t i = 0; i < callgate::kRepairCount; ++i) {
    const auto repair = static_cast<callgate::Repair>(i);
    const std::string name(callgate::to_string(repair));
    if (turn.repairs[i] > 0) std::printf("repaired: %s\n", name.c_str());
  }

  const auto has = [&](std::string_view part) { return client.find(part) != std::string::npos; };
  const bool good = pipeline->finished() && !pipeline->error() && turn.calls == 1 &&
                    has("\"index\":0,\"id\":\"call_") &&
                    has("\"arguments\":\"{\\\"q\\\":\\\"tea\\\"}\"") &&
                    has("\"finish_reason\":\"tool_calls\"") && client.ends_with("data: [DONE]\n\n");
  return good ? 0 : 1;
}
