// A client's request body. Oracle: what is accepted, encoded for an upstream and read again as a request encodes to the
// same bytes; what is refused has a message.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "client/protocol.h"
#include "upstream/wire_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace callgate;
  const Protocol& protocol = *client::find("openai_chat");
  const WireFormat& wire = *upstream::find("openai_chat");
  const auto request = protocol.decode({.body = {reinterpret_cast<const char*>(data), size}});
  if (!request) {
    CALLGATE_CHECK(!request.error().message.empty());
    CALLGATE_CHECK(client::status_of(request.error()) == 400);
    return 0;
  }
  for (const bool stream : {true, false}) {
    const EncodeOptions options{.model = request->model, .stream = stream};
    const auto once = wire.encode(*request, options);
    CALLGATE_CHECK(once.has_value());
    const auto again = protocol.decode({.body = once->body});
    CALLGATE_CHECK(again.has_value());
    const auto twice = wire.encode(*again, options);
    CALLGATE_CHECK(twice.has_value() && twice->body == once->body);
  }
  return 0;
}
