// A Messages request body. Oracle: what is accepted reaches an upstream that speaks the same in a form that is accepted again and
// then stays as it is; every other wire format can encode it; what is refused has a message and status 400.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "client/protocol.h"
#include "upstream/wire_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace callgate;
  const Protocol& protocol = *client::find("anthropic_messages");
  const WireFormat& same = *upstream::find("anthropic_messages");
  const auto request = protocol.decode({.body = {reinterpret_cast<const char*>(data), size}});
  if (!request) {
    CALLGATE_CHECK(!request.error().message.empty());
    CALLGATE_CHECK(protocol.status_of(request.error()) == 400);
    return 0;
  }
  const EncodeOptions options{.model = request->model, .stream = true};
  const auto once = same.encode(*request, options);
  CALLGATE_CHECK(once.has_value());
  const auto again = protocol.decode({.body = once->body});
  CALLGATE_CHECK(again.has_value());
  const auto twice = same.encode(*again, options);
  CALLGATE_CHECK(twice.has_value() && twice->body == once->body);
  for (const WireFormat* wire : upstream::all()) (void)wire->encode(*request, options);
  return 0;
}
