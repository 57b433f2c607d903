#include "dial/credential/key_reply.h"

#include <algorithm>
#include <limits>

#include "json/reader.h"
#include "net/http.h"

namespace callgate::server {
namespace {

constexpr std::size_t kLongestKey = 16 << 10;
constexpr std::string_view kSpace = " \t\r\n";

tl::unexpected<Error> odd(std::string_view what) {
  return fail(ErrorCode::unavailable, std::string(what));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

bool is_sendable(std::string_view key) {
  return !key.empty() && key.size() <= kLongestKey &&
         std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 127; });
}

bool is_sendable(const std::pair<std::string, std::string>& header) {
  const auto& [name, value] = header;
  const bool plain =
      std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c < 127; });
  return plain && name.size() + value.size() <= kLongestKey && net::is_sendable({name, value});
}

// Nothing: the time is out of all range, and counts as not given.
std::optional<std::int64_t> ms_after(std::int64_t from, std::int64_t seconds) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4'000;
  if (seconds > kMost || seconds < -kMost) return std::nullopt;
  return from + seconds * 1'000;
}

void read_headers(json::Reader& in, KeyReply& reply) {
  for (std::string_view name; in.next_member(name);) {
    std::string header(name);
    if (in.peek() != json::Kind::string) {
      in.skip();
      continue;
    }
    reply.headers.emplace_back(std::move(header), in.string());
  }
}

Result<KeyReply> read_object(std::string_view text, std::int64_t now_ms) {
  KeyReply reply;
  json::Reader in(text);
  for (std::string_view name; in.next_member(name);) {
    const bool is_number = in.peek() == json::Kind::number;
    if ((name == "token" || name == "access_token") && in.peek() == json::Kind::string) {
      reply.key = in.string();
    } else if (name == "headers" && in.peek() == json::Kind::object) {
      read_headers(in, reply);
    } else if (name == "expires_in" && is_number) {
      if (const auto seconds = in.integer()) reply.expires_at = ms_after(now_ms, *seconds);
    } else if (name == "expires_at" && is_number) {
      if (const auto seconds = in.integer()) reply.expires_at = ms_after(0, *seconds);
    } else {
      in.skip();
    }
  }
  if (!in.finish()) return odd("its output begins as JSON and is not");
  return reply;
}

}  // namespace

Result<KeyReply> read_key_reply(std::string_view text, std::int64_t now_ms) {
  text = trimmed(text);
  Result<KeyReply> reply =
      KeyReply{.key = std::string(text), .headers = {}, .expires_at = std::nullopt};
  if (text.starts_with('{')) reply = read_object(text, now_ms);
  if (!reply) return reply;
  if (reply->empty()) return odd("it gave no credential");
  const bool sendable = reply->key.empty() || is_sendable(reply->key);
  if (!sendable || !std::all_of(reply->headers.begin(), reply->headers.end(),
                                [](const auto& header) { return is_sendable(header); })) {
    return odd("its credential is too long or has bytes that a header cannot carry");
  }
  return reply;
}

}  // namespace callgate::server
