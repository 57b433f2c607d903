// Every dialect, by name. A new one is declared and listed here.
#include <algorithm>

#include "callgate/dialect.h"

namespace callgate::dialect {

extern const Dialect hermes;

namespace {

constexpr const Dialect* kDialects[] = {
    &hermes,
};

}  // namespace

std::span<const Dialect* const> all() { return kDialects; }

const Dialect* find(std::string_view name) {
  const auto at = std::find_if(std::begin(kDialects), std::end(kDialects),
                               [&](const Dialect* dialect) { return dialect->name == name; });
  return at == std::end(kDialects) ? nullptr : *at;
}

}  // namespace callgate::dialect
