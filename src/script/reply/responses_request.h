// A Responses request -> the canonical request, read leniently: as much as scripts match and tests compare.
//
//   {"model":"m","instructions":"Be brief.","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}]}
#pragma once

#include <string_view>

#include "callgate/request.h"
#include "callgate/result.h"

namespace callgate::script {

Result<Request> decode_responses_request(std::string_view body);

// Items of an `input` array, a JSON array, as messages. The calls of an answer belong to the message before them.
void add_responses_items(Request& request, std::string_view items);

}  // namespace callgate::script
