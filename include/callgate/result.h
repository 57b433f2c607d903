// Result<T>: a value or an Error. No exception crosses a module.
//
//   Result<Pipeline> pipeline = Pipeline::make(request, options);
//   if (!pipeline) return report(pipeline.error().message);
//   pipeline->push(bytes, out);
#pragma once

#include <memory>
#include <tl/expected.hpp>
#include <utility>

#include "callgate/error.h"

namespace callgate {

namespace detail {

// An Error behind a pointer: what went well has no room for one.
class BoxedError {
 public:
  BoxedError(Error error) : error_(std::make_unique<Error>(std::move(error))) {}
  BoxedError(const BoxedError& other) : error_(std::make_unique<Error>(*other.error_)) {}
  BoxedError& operator=(const BoxedError& other) { return *this = BoxedError(other); }
  BoxedError(BoxedError&&) noexcept = default;
  BoxedError& operator=(BoxedError&&) noexcept = default;
  ~BoxedError() = default;

  Error& get() const { return *error_; }

 private:
  std::unique_ptr<Error> error_;  // nullptr: it was moved away
};

}  // namespace detail

// A tl::expected<T, Error> that is one pointer larger than T. REQUIRES: nobody asks a Result that was moved away.
template <class T>
class Result : public tl::expected<T, detail::BoxedError> {
  using Base = tl::expected<T, detail::BoxedError>;

 public:
  using Base::Base;

  Error& error() & { return Base::error().get(); }
  const Error& error() const& { return Base::error().get(); }
  Error&& error() && { return std::move(Base::error().get()); }
};

// return fail(ErrorCode::not_found, "cannot read " + file);
inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string param = {}) {
  return tl::unexpected<Error>(
      Error{.code = code, .message = std::move(message), .param = std::move(param)});
}

}  // namespace callgate
