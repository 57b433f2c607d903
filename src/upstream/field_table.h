// Writes down what happens to the fields of a Chat Completions request; docs/upstreams.md has the same tables.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "upstream/request_parts.h"

namespace callgate::upstream {

inline constexpr std::string_view kSame = "passed on under the same name";
inline constexpr std::string_view kLeft = "left out";

// The rows of a table, followed by fields that are left out.
template <std::size_t N, std::size_t M>
constexpr std::array<RequestField, N + M> field_table(const RequestField (&rows)[N],
                                                      const std::string_view (&left)[M]) {
  std::array<RequestField, N + M> table{};
  for (std::size_t i = 0; i < N; ++i) table[i] = rows[i];
  for (std::size_t i = 0; i < M; ++i) table[N + i] = {left[i], false, kLeft};
  return table;
}

}  // namespace callgate::upstream
