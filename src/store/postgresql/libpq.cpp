#include "store/postgresql/libpq.h"

#include <dlfcn.h>

#include <string>

namespace callgate::store {

#define CALLGATE_DEFINE_POINTER(name) decltype(&::name) name = &::name;
CALLGATE_LIBPQ(CALLGATE_DEFINE_POINTER)
#undef CALLGATE_DEFINE_POINTER

namespace {

constexpr const char* kLibrary = "libpq.so.5";

// Why it cannot be used; empty: it can.
std::string fill_pointers() {
  if (PQclear != nullptr) return {};  // it is inside
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return ::dlerror();
  std::string missing;
#define CALLGATE_FILL_POINTER(name)                                 \
  name = reinterpret_cast<decltype(name)>(::dlsym(library, #name)); \
  if (name == nullptr) missing = std::string(kLibrary) + " lacks " #name;
  CALLGATE_LIBPQ(CALLGATE_FILL_POINTER)
#undef CALLGATE_FILL_POINTER
  return missing;
}

}  // namespace

Attempt<void> load_libpq() {
  static const std::string problem = fill_pointers();
  if (problem.empty()) return {};
  return fault(FaultKind::cannot_open, "PostgreSQL's client library cannot be used: " + problem);
}

}  // namespace callgate::store
