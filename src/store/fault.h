// What can go wrong in a database, named for what the caller does next.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace callgate::store {

enum class FaultKind : std::uint8_t {
  busy,         // another holds what we need, or the server has no room: wait
  full,         // no space: wait
  read_only,    // wait and open again
  cannot_open,  // the path, the name or the password is wrong or forbidden
  corrupt,      // the file is damaged
  not_ours,     // the database belongs to something else
  too_new,      // a newer callgate wrote it
  bad_row,      // this row will never fit; the others may
  gone,         // the file was deleted or replaced while it was open: open again
  truncated,    // the file was cut while it was open: it must be replaced
  lost,         // the connection is gone, or the server is away: open again
  conflict,     // another transaction was first: do it again
  timed_out,    // it took longer than allowed
  other,
};

struct Fault {
  FaultKind kind = FaultKind::other;
  std::string message;
};

template <class T>
using Attempt = tl::expected<T, Fault>;

inline tl::unexpected<Fault> fault(FaultKind kind, std::string message) {
  return tl::unexpected<Fault>(Fault{kind, std::move(message)});
}

// Whether the same may work when it is tried again, on a new connection if need be.
inline bool is_retryable(FaultKind kind) {
  switch (kind) {
    case FaultKind::busy:
    case FaultKind::full:
    case FaultKind::read_only:
    case FaultKind::gone:
    case FaultKind::truncated:
    case FaultKind::lost:
    case FaultKind::conflict:
    case FaultKind::timed_out:
    case FaultKind::other:
      return true;
    case FaultKind::cannot_open:
    case FaultKind::corrupt:
    case FaultKind::not_ours:
    case FaultKind::too_new:
    case FaultKind::bad_row:
      return false;
  }
  return false;
}

// Whether the connection may go on after such a fault.
inline bool keeps_connection(FaultKind kind) {
  switch (kind) {
    case FaultKind::busy:
    case FaultKind::full:
    case FaultKind::bad_row:
    case FaultKind::conflict:
      return true;
    case FaultKind::read_only:
    case FaultKind::cannot_open:
    case FaultKind::corrupt:
    case FaultKind::not_ours:
    case FaultKind::too_new:
    case FaultKind::gone:
    case FaultKind::truncated:
    case FaultKind::lost:
    case FaultKind::timed_out:
    case FaultKind::other:
      return false;
  }
  return false;
}

}  // namespace callgate::store
