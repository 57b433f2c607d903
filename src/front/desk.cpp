#include "front/desk.h"

#include "client/protocol.h"
#include "turn/observe.h"
#include "turn/refusal.h"
#include "turn/turn_trace.h"

namespace callgate::server {

net::Task<> Desk::refuse(Ask& ask, const Error& given, int status) const {
  const Error error = bounded(given);
  add_refusal_headers(ask.headers, error);
  const bool chosen = status != 0;
  if (!chosen) status = ask.protocol->status_of(error);
  observe_refusal(world, ask, status, error);
  const Milliseconds waited(loop.now() - ask.started_ms);
  trace_refusal(world, mint, ask, status, error, waited);
  Error named = error;
  named.request_id = ask.id;
  if (chosen) named.status = status;
  co_await respond_json(ask, status, ask.protocol->error_body(named));
}

net::Task<> respond_json(Ask& ask, int status, std::string_view body) {
  ask.headers.add("content-type", "application/json");
  co_await ask.exchange.respond(status, ask.headers, body);
}

}  // namespace callgate::server
