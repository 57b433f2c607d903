// Where the configuration is if the command line does not name it.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace callgate::cli {

inline constexpr std::array<std::string_view, 2> kConfigPlaces{"callgate.toml",
                                                               "/etc/callgate/callgate.toml"};
// The first of them that exists; empty: none does.
std::string find_config_file();

}  // namespace callgate::cli
