#include "dialect/reference/reference.h"

namespace callgate::dialect::reference {
namespace {

struct Row {
  std::string_view dialect;
  Reference reference;
};

constexpr std::span<const Row> kRows;

}  // namespace

Reference find_reference(std::string_view dialect) {
  for (const Row& row : kRows) {
    if (row.dialect == dialect) return row.reference;
  }
  return nullptr;
}

}  // namespace callgate::dialect::reference
