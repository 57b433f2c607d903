#include "policy/library_versions.h"

#include <unicode/uversion.h>

namespace callgate::policy {

std::vector<LibraryVersion> library_versions() {
  UVersionInfo version;
  u_getVersion(version);
  return {{"icu", std::to_string(version[0]) + "." + std::to_string(version[1])}};
}

}  // namespace callgate::policy
