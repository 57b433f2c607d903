#include "cli/config_place.h"

#include <filesystem>

namespace callgate::cli {

std::string find_config_file() {
  for (const std::string_view place : kConfigPlaces) {
    std::error_code fault;
    if (std::filesystem::is_regular_file(place, fault)) return std::string(place);
  }
  return {};
}

}  // namespace callgate::cli
