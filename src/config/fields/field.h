// One row per configuration key: its name, its place in the struct, its help. Loading, printing, `nearest key` and
// the check of docs/config.md all walk these tables.
#pragma once

#include <string_view>
#include <tuple>

#include "config/config.h"

namespace callgate::server {

template <class T, class M>
struct Field {
  std::string_view key;
  M T::*member;
  std::string_view help;
  std::string_view env = {};  // an environment variable that gives the default
};

// clang 14 does not deduce the arguments of aggregates.
template <class T, class M>
Field(std::string_view, M T::*, std::string_view) -> Field<T, M>;
template <class T, class M>
Field(std::string_view, M T::*, std::string_view, std::string_view) -> Field<T, M>;

template <class T>
struct Section;  // name, and fields as a tuple

}  // namespace callgate::server
