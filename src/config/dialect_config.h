// The dialects that a configuration defines.
#pragma once

#include "config/config.h"
#include "dialect/custom/catalog.h"

namespace callgate::server {

// The built-in dialects and those of the [[dialect]] tables; a table with flaws, or with a name that is taken, is left out.
dialect::Catalog make_catalog(const Config& config);

}  // namespace callgate::server
