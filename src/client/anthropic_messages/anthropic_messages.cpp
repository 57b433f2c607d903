#include "client/anthropic_messages/anthropic_messages.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "json/writer.h"

namespace callgate::client {
namespace {

constexpr Endpoint kMessagesEndpoints[] = {
    {"POST", "/v1/messages", Endpoint::Kind::turn},
    {"POST", "/v1/messages/count_tokens", Endpoint::Kind::count_tokens},
    {"GET", "/v1/models", Endpoint::Kind::models, "anthropic-version"},
    {"GET", "/v1/models/*", Endpoint::Kind::model, "anthropic-version"},
};

std::unique_ptr<ResponseEncoder> make_messages_encoder(const Request& request,
                                                       const ResponseIdentity& identity) {
  return request.stream ? make_messages_stream(request, identity)
                        : make_messages_whole(request, identity);
}

bool is_quota(const Error& error) {
  return error.upstream_code == "insufficient_quota" || error.type == "billing_error";
}

std::string_view type_of_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_request:
    case ErrorCode::not_allowed:
    case ErrorCode::conflict:
      return "invalid_request_error";
    case ErrorCode::unauthenticated:
      return "authentication_error";
    case ErrorCode::forbidden:
      return "permission_error";
    case ErrorCode::not_found:
      return "not_found_error";
    case ErrorCode::too_large:
      return "request_too_large";
    case ErrorCode::rate_limited:
      return "rate_limit_error";
    case ErrorCode::unavailable:
      return "overloaded_error";
    case ErrorCode::timed_out:
      return "timeout_error";
    case ErrorCode::upstream_failed:
    case ErrorCode::internal:
      return "api_error";
  }
  return "api_error";
}

// By the status, which says more where an upstream gave it.
std::string_view type_of_error(const Error& error) {
  if (is_quota(error)) return "billing_error";
  switch (messages_status(error)) {
    case 400:
    case 422:
      return "invalid_request_error";
    case 404:
      return "not_found_error";
    case 408:
    case 504:
      return "timeout_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
    case 529:
      return "overloaded_error";
    default:
      return type_of_code(error.code);
  }
}

// Words of the API itself; an upstream of another format has others, which its clients do not know.
bool is_own_type(std::string_view type) {
  static constexpr std::array<std::string_view, 10> kTypes = {
      "invalid_request_error", "authentication_error", "permission_error", "not_found_error",
      "request_too_large",     "rate_limit_error",     "api_error",        "overloaded_error",
      "timeout_error",         "billing_error"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

// 2026-11-18T00:00:00Z
std::string date_text(std::int64_t unix_seconds) {
  using std::chrono::floor;
  const std::chrono::sys_seconds time{std::chrono::seconds(unix_seconds)};
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const auto two = [](std::int64_t value) {
    std::string digits = std::to_string(value);
    return digits.size() < 2 ? "0" + digits : digits;
  };
  return std::to_string(static_cast<int>(date.year())) + "-" +
         two(static_cast<unsigned>(date.month())) + "-" + two(static_cast<unsigned>(date.day())) +
         "T" + two(clock.hours().count()) + ":" + two(clock.minutes().count()) + ":" +
         two(clock.seconds().count()) + "Z";
}

void append_messages_model(std::string& out, const ModelEntry& model) {
  json::ObjectWriter object(out);
  object.string("type", "model");
  object.string("id", model.id);
  object.string("display_name", model.id);
  object.string("created_at", date_text(model.created));
  object.close();
}

std::string print_messages_model(const ModelEntry& model) {
  std::string body;
  append_messages_model(body, model);
  return body;
}

std::string print_messages_models(std::span<const ModelEntry> models) {
  std::string body;
  json::ObjectWriter list(body);
  std::string& data = list.key("data");
  data.push_back('[');
  for (const ModelEntry& model : models) {
    if (data.back() != '[') data.push_back(',');
    append_messages_model(data, model);
  }
  data.push_back(']');
  list.boolean("has_more", false);
  if (models.empty()) {
    list.null("first_id");
    list.null("last_id");
  } else {
    list.string("first_id", models.front().id);
    list.string("last_id", models.back().id);
  }
  list.close();
  return body;
}

std::string print_messages_count(std::int64_t tokens) {
  return "{\"input_tokens\":" + std::to_string(tokens) + "}";
}

}  // namespace

// A gateway that can serve nothing now is overloaded, which clients of the API know to wait for.
int messages_status(const Error& error) {
  if (is_quota(error)) return 429;
  if (error.code == ErrorCode::unavailable && error.status == 0) return 529;
  return client::status_of(error);
}

std::string messages_error_body(const Error& error) {
  std::string body;
  json::ObjectWriter envelope(body);
  envelope.string("type", "error");
  json::ObjectWriter object(envelope.key("error"));
  object.string("type", is_own_type(error.type) && !is_quota(error) ? std::string_view(error.type)
                                                                    : type_of_error(error));
  object.string("message", error.message);
  // SDKs then send the whole conversation again.
  if (error.param == "thread") object.raw("details", R"({"error_code":"thread_not_found"})");
  object.close();
  if (!error.request_id.empty()) envelope.string("request_id", error.request_id);
  envelope.close();
  return body;
}

const Protocol kAnthropicMessages = {
    .name = kMessagesName,
    .endpoints = kMessagesEndpoints,
    .id_prefix = "msg_",
    .stream_type = "text/event-stream; charset=utf-8",
    .keep_alive = "event: ping\ndata: {\"type\":\"ping\"}\n\n",
    .decode = decode_messages,
    .make_encoder = make_messages_encoder,
    .error_body = messages_error_body,
    .print_models = print_messages_models,
    .print_model = print_messages_model,
    .print_token_count = print_messages_count,
    .status = messages_status,
    .id_header = "request-id",
};

}  // namespace callgate::client
