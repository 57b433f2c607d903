// A Responses request body. Oracle: what is refused names a status and has a message; what is accepted can be encoded for every
// upstream, and what an upstream of the same format is sent is accepted again. The input of a custom tool comes out the same
// wherever its arguments are cut.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "client/openai_responses/freeform_input.h"
#include "client/protocol.h"
#include "upstream/wire_format.h"

namespace {

void check_freeform(std::string_view arguments) {
  using callgate::client::FreeformInput;
  FreeformInput whole;
  std::string once;
  whole.push(arguments, once);
  whole.finish(once);
  FreeformInput by_byte;
  std::string cut;
  for (const char c : arguments) by_byte.push({&c, 1}, cut);
  by_byte.finish(cut);
  CALLGATE_CHECK(once == cut);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace callgate;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  check_freeform(body);
  const Protocol& protocol = *client::find("openai_responses");
  const auto request = protocol.decode({.body = body});
  if (!request) {
    CALLGATE_CHECK(!request.error().message.empty());
    CALLGATE_CHECK(client::status_of(request.error()) == 400);
    return 0;
  }
  for (const WireFormat* wire : upstream::all()) {
    const auto encoded = wire->encode(*request, {.model = request->model, .stream = true});
    if (wire->name != "openai_responses") continue;
    CALLGATE_CHECK(encoded.has_value());
    CALLGATE_CHECK(protocol.decode({.body = encoded->body}).has_value());
  }
  return 0;
}
