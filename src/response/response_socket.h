// Responses over WebSocket: GET /v1/responses, upgraded. A text frame asks for a response, and the events of its stream come back
// as text frames.
//
//   > {"type":"response.create","model":"m","input":[...],"previous_response_id":"resp_1","store":false,"stream_id":"a"}
//   < {"stream_id":"a","type":"response.created","sequence_number":0,"response":{...}}
//   < {"type":"error","status":400,"error":{"type":"invalid_request_error","code":"previous_response_not_found",...}}
//
// What has the same `stream_id` is answered in order, others at the same time. The socket remembers the last responses, stored or
// not; one whose continuation fails is forgotten.
#pragma once

#include "response/response_desk.h"

namespace callgate::server {

net::Task<> open_response_socket(const ResponseDesk& desk, Ask& ask);

}  // namespace callgate::server
