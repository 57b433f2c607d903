// Errors as the Qwen web chat writes them, most of them in an answer with status 200.
//
//   {"error":{"code":"Too_Many_Requests","details":"..."},"response_id":"..."}                      a frame
//   {"success":false,"request_id":"...","data":{"code":"RateLimited","details":"...","num":3}}       a body; num: hours
//   {"ret":["FAIL_SYS_USER_VALIDATE","RGV587_ERROR::SM"],"data":{"url":"..."}}   or a page           the bot check
#pragma once

#include <string_view>

#include "callgate/error.h"

namespace callgate::upstream {

// `status` is 0 inside an answer whose status is not an error. Total. Credentials are callgate's: their refusal is
// reported in callgate's words, so that nothing of them is quoted.
Error decode_qwen_web_error(int status, std::string_view body);

// A page, or the mark of the bot check, instead of an answer.
bool is_bot_check(std::string_view body);

}  // namespace callgate::upstream
