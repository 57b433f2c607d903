// The answer of a model server that speaks a client protocol: the protocol's encoder writes it, the faults in force change
// its frames.
#pragma once

#include <memory>

#include "script/reply/reply_encoder.h"
#include "script/reply/wire_faults.h"

namespace callgate::script {

// REQUIRES: `faults` outlives the encoder.
std::unique_ptr<ReplyEncoder> make_protocol_reply(const WireFaults& wire, ReplyIdentity identity,
                                                  const Faults& faults);

}  // namespace callgate::script
