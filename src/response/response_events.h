// The event stream of a Responses answer, as bytes that hold whole frames.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace callgate::server {

// Calls visit(type, data) for each frame that has data.
void each_frame(std::string_view bytes,
                FunctionRef<void(std::string_view type, std::string_view data)> visit);

// The response object of the last event in `bytes`, if that ends a response: response.completed, .incomplete or .failed. Else
// empty.
std::string final_response(std::string_view bytes);
// The frames after event number `after`, from 0; -1: all.
std::string_view frames_after(std::string_view bytes, std::int64_t after);
// How many frames stand before those that frames_after() gives.
std::int64_t frames_up_to(std::int64_t after);
// What stands after the first `left` frames; `left` becomes what is missing to them. REQUIRES: whole frames.
std::string_view skip_frames(std::string_view bytes, std::int64_t& left);

}  // namespace callgate::server
