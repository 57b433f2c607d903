// The dialects of this library and those that somebody defined, as one table. `auto` of a catalog also finds calls of the
// latter.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "callgate/dialect.h"
#include "dialect/custom/definition.h"
#include "dialect/models.h"

namespace callgate::dialect {

class CustomDialect;
struct WatchList;

// Immutable: any thread may read it. REQUIRES: it outlives what it gave, and parsers made of that.
class Catalog {
 public:
  // Only the dialects of this library.
  Catalog();
  // REQUIRES: find_flaws() finds none in any of them, their names differ, and they are kMaxDefinitions at most.
  explicit Catalog(const std::vector<Definition>& definitions);
  Catalog(Catalog&&) noexcept;
  Catalog& operator=(Catalog&&) noexcept;
  ~Catalog();

  // In alphabetical order.
  std::span<const Dialect* const> all() const { return all_; }
  std::span<const Dialect* const> own() const { return own_; }
  const Dialect* find(std::string_view name) const;
  // Patterns of own dialects come before all others.
  ModelChoice choose_for(std::string_view model) const;

 private:
  std::vector<std::unique_ptr<CustomDialect>> customs_;
  std::unique_ptr<const WatchList> list_;
  std::unique_ptr<const Dialect> auto_;  // with the own ones
  std::vector<const Dialect*> all_;
  std::vector<const Dialect*> own_;
};

// In the catalog, or among the dialects of this library if there is none.
const Dialect* find_in(const Catalog* catalog, std::string_view name);

}  // namespace callgate::dialect
