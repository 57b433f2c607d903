// A smoke run from the page: it asks this gateway as a client would, and has the answer held to the rules of its protocol
// (docs/smoke.md). Pure.
//
//   GET ?model=m&protocol=chat  ->  {"path":"/v1/chat/completions","body":"{\"model\":\"m\",...}"}
//   {"protocol":"chat","status":200,"content_type":"text/event-stream","base64":"ZGF0YTog..."}
//     ->  {"passed":45,"failed":0,"rules":[{"rule":"status_ok","verdict":"pass","seen":"200"},...]}
#pragma once

#include <string>
#include <string_view>

#include "callgate/result.h"
#include "contract/smoke_request.h"

namespace callgate::server {

Result<contract::SmokeQuestion> read_smoke_question(std::string_view query);
std::string print_smoke_request(const contract::SmokeQuestion& question);

struct SmokeAnswer {
  contract::SmokeQuestion question;  // its model does not matter here
  int status = 0;
  std::string content_type;
  std::string bytes;
};
Result<SmokeAnswer> read_smoke_answer(std::string_view body);
std::string print_smoke_verdicts(const SmokeAnswer& answer);

}  // namespace callgate::server
