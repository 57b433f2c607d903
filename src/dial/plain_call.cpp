#include "dial/plain_call.h"

#include <memory>
#include <utility>

#include "upstream/request_parts.h"

namespace callgate::server {

UpstreamRequest plain_request(const UpstreamConfig& upstream, std::string_view method,
                              std::string path, std::string body) {
  UpstreamRequest request;
  request.method = method;
  request.path = std::move(path);
  request.body = std::move(body);
  const bool is_gemini = upstream.wire == "gemini";
  const bool is_anthropic = upstream.wire == "anthropic_messages";
  const EncodeOptions options{
      .model = {}, .key = upstream.key.reveal(), .auth = upstream.auth, .stream = false};
  upstream::add_key(request, options,
                    is_gemini      ? "x-goog-api-key"
                    : is_anthropic ? "x-api-key"
                                   : "bearer");
  if (is_anthropic) request.headers.emplace_back("anthropic-version", "2023-06-01");
  return request;
}

net::Task<Result<PlainAnswer>> ask_plainly(net::Loop& loop, UpstreamTarget& target,
                                           UpstreamRequest request, Milliseconds time,
                                           std::size_t most) {
  const ModelConfig nobody;
  const Request nothing;
  const std::unique_ptr<UpstreamCall> call = target.call(nobody);
  CallPatience patience(loop, *call, time);
  Error late{.code = ErrorCode::timed_out,
             .message = "no answer within " + std::to_string(time.count()) + " ms"};
  const auto sent = co_await call->send(nothing, request);
  if (patience.is_over()) co_return tl::unexpected(std::move(late));
  if (!sent) co_return tl::unexpected(sent.error());
  PlainAnswer answer{.status = call->status(), .body = {}};
  while (true) {
    const auto piece = co_await call->read(net::kNever);
    if (patience.is_over()) co_return tl::unexpected(std::move(late));
    if (!piece) co_return tl::unexpected(piece.error());
    if (piece->bytes.empty()) co_return answer;
    if (answer.body.size() + piece->bytes.size() > most) {
      co_return fail(ErrorCode::upstream_failed, "the answer is too long");
    }
    answer.body.append(piece->bytes);
  }
}

}  // namespace callgate::server
