// CALLGATE_CHECK: a promise that callgate makes to itself. Never reachable from input.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CALLGATE_CHECK(condition)                                                         \
  do {                                                                                    \
    if (!(condition)) [[unlikely]] {                                                      \
      std::fprintf(stderr, "callgate: broken promise at %s:%d: %s\n", __FILE__, __LINE__, \
                   #condition);                                                           \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)
