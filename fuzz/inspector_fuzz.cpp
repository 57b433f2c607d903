// What the inspector's page asks: questions about bytes and texts. Oracle: an answer is JSON, and the anatomy of given bytes has
// all of them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "inspector/live_stream.h"
#include "inspector/replay_request.h"
#include "json/reader.h"

namespace {

using namespace callgate;

void check_json(const Result<std::string>& answer) {
  if (!answer) return;
  json::Reader in(*answer);
  in.skip();
  CALLGATE_CHECK(in.finish());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  (void)server::read_live_id(body, "epoch");
  (void)server::read_live_filter(body);
  const auto replay = server::read_replay_question(body);
  if (replay && replay->bytes) check_json(server::answer_replay(*replay, std::nullopt));
  const auto parse = server::read_parse_question(body);
  if (parse) check_json(server::answer_parse(*parse));
  return 0;
}
