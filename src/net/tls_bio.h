// What OpenSSL runs on: a descriptor of a loop. It knows when the kernel has no more bytes, so that OpenSSL does not ask in vain.
#pragma once

#include "net/descriptor.h"
#include "net/tls.h"

namespace callgate::net {

// REQUIRES: the descriptor outlives the session's reads and writes.
void run_on(SSL& session, Descriptor& descriptor);

}  // namespace callgate::net
