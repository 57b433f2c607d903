// The wire formats that are client protocols.
#pragma once

#include "script/reply/wire_faults.h"

namespace callgate::script {

extern const WireFaults kChatFaults;
extern const WireFaults kGeminiFaults;
extern const WireFaults kMessagesFaults;
extern const WireFaults kOllamaFaults;
extern const WireFaults kResponsesFaults;

}  // namespace callgate::script
