// A request that came as Messages, for an upstream that speaks Messages: it goes as the client wrote it, with whatever callgate
// does not know. Messages and tools that a tool loop added follow those of the client.
#pragma once

#include <string>

#include "callgate/request.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

// False: what was asked was changed since, or came in another protocol.
bool goes_as_it_came(const Request& request);

// REQUIRES: goes_as_it_came(request).
void append_same_body(std::string& out, const Request& request, const EncodeOptions& options,
                      std::vector<DroppedField>& dropped);

// The members that a count of its tokens takes.
void append_same_count(std::string& out, const Request& request, const EncodeOptions& options,
                       std::vector<DroppedField>& dropped);

}  // namespace callgate::upstream
