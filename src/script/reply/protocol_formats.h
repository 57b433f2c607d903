// The wire formats that are client protocols.
#pragma once

#include "script/reply/wire_faults.h"

namespace callgate::script {

extern const WireFaults kGeminiFaults;
extern const WireFaults kOllamaFaults;

}  // namespace callgate::script
