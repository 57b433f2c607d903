// Which dialect a model writes, by its name: what counts when the configuration says nothing.
#pragma once

#include <string_view>

#include "callgate/dialect.h"

namespace callgate::dialect {

// The dialect with the longest pattern that matches the name, without regard to case; nullptr when none does.
const Dialect* default_for(std::string_view model);

}  // namespace callgate::dialect
