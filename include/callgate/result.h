// Result<T>: a value or an Error. No exception crosses a module.
//
//   Result<Pipeline> pipeline = Pipeline::make(request, options);
//   if (!pipeline) return report(pipeline.error().message);
//   pipeline->push(bytes, out);
#pragma once

#include <tl/expected.hpp>

#include "callgate/error.h"

namespace callgate {

template <class T>
using Result = tl::expected<T, Error>;

// return fail(ErrorCode::not_found, "cannot read " + file);
inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string param = {}) {
  return tl::unexpected<Error>(
      Error{.code = code, .message = std::move(message), .param = std::move(param)});
}

}  // namespace callgate
