// What every function of the C interface does first and last: no exception leaves, and a handle that failed stays failed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "callgate/callgate.h"
#include "callgate/result.h"

namespace callgate::c_api {

inline constexpr std::size_t kMaxUnread = std::size_t{16} << 20;  // where the options have 0

inline std::string_view view(const char* text) { return text == nullptr ? "" : text; }
inline std::string_view view(const char* text, std::size_t size) {
  return text == nullptr ? std::string_view{} : std::string_view(text, size);
}

template <class T>
T or_default(T value, T fallback) {
  return value == 0 ? fallback : value;
}

// The options as this version of the library knows them: fields that the caller's header lacks are 0.
template <class Options>
Result<Options> read_options(const Options* given) {
  Options options{};
  if (given == nullptr) return options;
  if (given->size < sizeof(given->size)) {
    return fail(ErrorCode::invalid_request, "options.size: set it to sizeof(options)");
  }
  std::memcpy(static_cast<void*>(&options), given, std::min(given->size, sizeof(Options)));
  return options;
}

// Calls set(name, value) for each `name=value` of a list that NULL ends.
template <class Set>
Result<void> read_settings(const char* const* settings, std::string_view what, Set set) {
  for (; settings != nullptr && *settings != nullptr; ++settings) {
    const std::string_view setting = *settings;
    const std::size_t equals = setting.find('=');
    if (equals == setting.npos || !set(setting.substr(0, equals), setting.substr(equals + 1))) {
      return fail(ErrorCode::invalid_request,
                  std::string(what) + ": unknown name or value: " + std::string(setting));
    }
  }
  return {};
}

inline void report(callgate_error* into, callgate_status status, std::string_view message) {
  if (into == nullptr) return;
  into->status = status;
  const std::size_t size = std::min(message.size(), sizeof(into->message) - 1);
  std::memcpy(into->message, message.data(), size);
  into->message[size] = '\0';
}

// make() gives a Result<std::unique_ptr<Handle>>.
template <class Handle, class Make>
Handle* make_handle(callgate_error* error, Make make) noexcept {
  try {
    report(error, CALLGATE_OK, "");
    Result<std::unique_ptr<Handle>> made = make();
    if (made) return made->release();
    report(error, CALLGATE_INVALID, made.error().message);
  } catch (const std::bad_alloc&) {
    report(error, CALLGATE_NO_MEMORY, "out of memory");
  } catch (...) {
    report(error, CALLGATE_INTERNAL, "unexpected exception");
  }
  return nullptr;
}

// Runs `act` unless the handle cannot take more. Handles have `failed` and unread(), and `max_unread`.
template <class Handle, class Act>
callgate_status guarded(Handle* handle, Act act) noexcept {
  if (handle == nullptr) return CALLGATE_INVALID;
  if (handle->failed) return CALLGATE_WRONG_STATE;
  if (handle->unread() >= handle->max_unread) return CALLGATE_UNREAD;
  try {
    return act();
  } catch (const std::bad_alloc&) {
    handle->failed = true;
    return CALLGATE_NO_MEMORY;
  } catch (...) {
    handle->failed = true;
    return CALLGATE_INTERNAL;
  }
}

}  // namespace callgate::c_api
