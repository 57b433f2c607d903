// Connection: the body of a request.
#include "compress/content_decoder.h"
#include "net/connection.h"

namespace callgate::net {
namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::size_t kBodyDecodedAtOnce = std::size_t{1} << 20;  // then others have their turn

tl::unexpected<Error> undecodable(const Error& error) {
  return tl::unexpected(Error{.code = ErrorCode::invalid_request,
                              .message = error.message,
                              .upstream_code = error.upstream_code});
}

}  // namespace

void Connection::drop_body() {
  parser_.drop_body();
  std::string().swap(decoded_);
  body_memory_.release();
}

Millis Connection::patience(std::uint64_t began) const {
  const ServerOptions& options = server_.options_;
  const Millis idle = options.body_idle_timeout;
  if (options.min_body_rate == 0) return idle;
  const std::uint64_t earned = parser_.body().size() * 1000 / options.min_body_rate;
  const std::uint64_t limit = began + static_cast<std::uint64_t>(idle.count()) + earned;
  const std::uint64_t now = loop().now();
  return now >= limit ? Millis(0) : std::min(idle, Millis(limit - now));
}

Task<Result<std::string_view>> Connection::body(std::size_t limit) {
  if (limit != 0) parser_.limit_body(limit);
  const bool waiting = parser_.state() == RequestParser::State::body;
  if (waiting && head().expects_continue && !std::exchange(continued_, true)) {
    Gather out;
    out.add(kContinue);
    if (auto sent = co_await flush(out); !sent) co_return tl::unexpected(sent.error());
  }
  const std::uint64_t began = loop().now();
  while (parser_.state() == RequestParser::State::body) {
    if (!body_memory_.grow_to(parser_.body().size())) {
      drop_body();
      Error scarce = out_of_memory();
      co_return tl::unexpected(std::move(scarce));
    }
    const IoResult got = stream_.read(loop().read_buffer());
    if (got.status == IoStatus::done) {
      feed({loop().read_buffer().data(), got.bytes});
      if (stream_.must_yield()) co_await loop().sleep(Millis(0));
      continue;
    }
    const Millis wait = patience(began);
    Ready ready = Ready::closed;
    if (wait.count() == 0) {
      ready = Ready::timed_out;
    } else if (got.status == IoStatus::want_read || got.status == IoStatus::want_write) {
      ready = co_await stream_.wait(got.status, wait);
    }
    if (ready == Ready::timed_out) {
      const bool silent = wait == server_.options_.body_idle_timeout;
      Error late{.code = ErrorCode::timed_out,
                 .message = silent ? "the request body stopped arriving"
                                   : "the request body arrives too slowly",
                 .status = 408};
      co_return tl::unexpected(std::move(late));
    }
    if (ready == Ready::closed) {
      gone_ = true;
      co_return fail(ErrorCode::unavailable, kClientLeft);
    }
  }
  if (parser_.state() == RequestParser::State::failed) {
    const bool large = parser_.fault().status == 413;
    co_return fail(large ? ErrorCode::too_large : ErrorCode::invalid_request,
                   parser_.fault().message);
  }
  watch();
  if (!parser_.body().empty() && head().headers.find("content-encoding")) {
    co_return co_await decode_body();
  }
  co_return std::string_view(parser_.body());
}

Task<Result<std::string_view>> Connection::decode_body() {
  if (!decoded_.empty()) co_return std::string_view(decoded_);
  const std::string_view encoded = parser_.body();
  auto decoder =
      compress::ContentDecoder::make(*head().headers.find("content-encoding"), "the request");
  if (!decoder) co_return undecodable(decoder.error());
  if (decoder->is_identity()) co_return encoded;
  decoder->push(encoded);
  std::size_t at_once = 0;
  while (true) {
    const Result<std::string_view> piece = decoder->next();
    if (!piece) co_return undecodable(piece.error());
    if (piece->empty()) break;
    if (decoded_.size() + piece->size() > parser_.body_limit()) {
      co_return fail(ErrorCode::too_large, "the request body is too large");
    }
    // The decoder has the body once more.
    if (!body_memory_.grow_to(2 * encoded.size() + decoded_.size() + piece->size())) {
      Error scarce = out_of_memory();
      co_return tl::unexpected(std::move(scarce));
    }
    decoded_.append(*piece);
    at_once += piece->size();
    if (at_once >= kBodyDecodedAtOnce) {
      at_once = 0;
      co_await loop().sleep(Millis(0));
    }
  }
  if (const auto whole = decoder->finish(); !whole) co_return undecodable(whole.error());
  co_return std::string_view(decoded_);
}

}  // namespace callgate::net
