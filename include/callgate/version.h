// The version of libcallgate and of the callgate binary.
#pragma once

namespace callgate {

inline constexpr char kVersion[] = "0.2.0";

}  // namespace callgate
