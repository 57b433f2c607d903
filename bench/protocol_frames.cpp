// Writes N deltas of text through a protocol's encoder, for counting what one costs:
//
//   valgrind --tool=callgrind build/release/bench/protocol_frames gemini 20000
//
// The difference between two numbers of deltas is free of what a turn costs at its beginning.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "client/protocol.h"

int main(int count, char** words) {
  using namespace callgate;
  const Protocol* protocol = count == 3 ? client::find(words[1]) : nullptr;
  if (protocol == nullptr) {
    std::fprintf(stderr, "usage: protocol_frames PROTOCOL N\n");
    return 2;
  }
  Request request;
  request.model = "demo-model";
  request.stream = true;
  ResponseIdentity identity;
  identity.id = "chatcmpl-0123456789abcdefghijklmnopqrs";
  identity.model = "demo-model";
  identity.created = 1'700'000'000;
  const auto encoder = protocol->make_encoder(request, identity);
  std::string out;
  std::size_t bytes = 0;
  EventSink& sink = encoder->choice(0);
  for (long left = std::atol(words[2]); left > 0; --left) {
    out.clear();
    encoder->bind(out);
    sink.accept(TextDelta{" a few words"});
    bytes += out.size();
  }
  std::printf("%zu bytes\n", bytes);
  return 0;
}
