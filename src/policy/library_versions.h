// The versions of the libraries that this module uses, as they are at run time.
#pragma once

#include <vector>

#include "base/library_version.h"

namespace callgate::policy {

std::vector<LibraryVersion> library_versions();

}  // namespace callgate::policy
