// A client's request body, in every protocol. Oracle: what is refused has a message and a status that says so; what is accepted
// can be encoded for every wire format; and what is accepted as Chat Completions, encoded for an upstream and read again as a
// request encodes to the same bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "client/protocol.h"
#include "upstream/wire_format.h"

namespace callgate {
namespace {

std::string path_of(const Endpoint& endpoint) {
  std::string path(endpoint.path);
  if (const std::size_t star = path.find('*'); star != std::string::npos)
    path.replace(star, 1, "m");
  return path;
}

void check_refusal(const Protocol& protocol, const Error& error) {
  CALLGATE_CHECK(!error.message.empty());
  CALLGATE_CHECK(protocol.status_of(error) >= 400 && protocol.status_of(error) < 500);
  CALLGATE_CHECK(!protocol.error_body(error).empty());
}

void read_as(const Protocol& protocol, const Endpoint& endpoint, std::string_view body) {
  const std::string path = path_of(endpoint);
  const auto request = protocol.decode({.body = body, .path = path, .query = "alt=sse"});
  if (!request) return check_refusal(protocol, request.error());
  for (const WireFormat* wire : upstream::all()) {
    (void)wire->encode(*request, {.model = request->model, .stream = request->stream});
  }
}

void read_as_chat(std::string_view body) {
  const Protocol& protocol = *client::find("openai_chat");
  const WireFormat& wire = *upstream::find("openai_chat");
  const auto request = protocol.decode({.body = body});
  if (!request) return check_refusal(protocol, request.error());
  for (const bool stream : {true, false}) {
    const EncodeOptions options{.model = request->model, .stream = stream};
    const auto once = wire.encode(*request, options);
    CALLGATE_CHECK(once.has_value());
    const auto again = protocol.decode({.body = once->body});
    CALLGATE_CHECK(again.has_value());
    const auto twice = wire.encode(*again, options);
    CALLGATE_CHECK(twice.has_value() && twice->body == once->body);
  }
}

}  // namespace
}  // namespace callgate

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace callgate;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  read_as_chat(body);
  for (const Protocol* protocol : client::all()) {
    for (const Endpoint& endpoint : protocol->endpoints) {
      if (endpoint.kind == Endpoint::Kind::turn) read_as(*protocol, endpoint, body);
    }
  }
  return 0;
}
