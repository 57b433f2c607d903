#include "client/openai_chat/openai_chat_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "chat/message_reader.h"
#include "client/body.h"
#include "client/openai_chat/openai_chat.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

constexpr std::int64_t kMaxChoices = 128;

struct Range {
  std::string_view name;
  double least;
  double most;
  bool whole;
};

// Checked here, passed on as they are written.
constexpr std::array<Range, 6> kRanges = {{
    {"temperature", 0, 2, false},
    {"top_p", 0, 1, false},
    {"presence_penalty", -2, 2, false},
    {"frequency_penalty", -2, 2, false},
    {"max_tokens", 1, HUGE_VAL, true},
    {"max_completion_tokens", 1, HUGE_VAL, true},
}};

}  // namespace

Result<Request> OpenaiRequestReader::read() {
  if (read_body() && in_.finish() && check_whole()) return std::move(request_);
  // A text that is not JSON has no meaning that could be wrong.
  if (auto good = check_body(body_); !good) return tl::unexpected(good.error());
  return tl::unexpected(std::move(error_));
}

bool OpenaiRequestReader::read_body() {
  std::string name;
  for (std::string_view key; in_.next_member(key);) {
    name = key;
    if (!read_field(name)) return false;
  }
  return true;
}

bool OpenaiRequestReader::read_field(const std::string& name) {
  if (name == "messages") return read_messages();
  if (is_null()) {
    // Known fields: not given. Others: perhaps null means something to the upstream.
    if (name == "model") return fault_kind({"model"}, "the name of a model");
    static constexpr std::array<std::string_view, 9> kKnown = {
        "tools",          "tool_choice", "parallel_tool_calls", "n",   "stream",
        "stream_options", "functions",   "function_call",       "stop"};
    const bool known = std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end() ||
                       std::any_of(kRanges.begin(), kRanges.end(),
                                   [&](const Range& range) { return range.name == name; });
    if (!known) {
      keep(request_.extra, name);
    } else {
      in_.null();
    }
    return true;
  }
  if (name == "model") {
    has_model_ = true;
    return read_string({"model"}, request_.model);
  }
  if (name == "tools") return read_tools();
  if (name == "tool_choice" || name == "function_call") {
    return read_tool_choice(name == "tool_choice" ? "tool_choice" : "function_call");
  }
  if (name == "functions") return read_functions();
  if (name == "n") return read_choices();
  if (name == "stream") return read_boolean({"stream"}, request_.stream);
  if (name == "stream_options") return read_stream_options();
  if (name == "parallel_tool_calls") {
    return read_boolean({"parallel_tool_calls"}, request_.parallel_tool_calls.emplace());
  }
  for (const Range& range : kRanges) {
    if (range.name == name) return read_number(name, range.least, range.most, range.whole);
  }
  keep(request_.extra, name);
  return true;
}

bool OpenaiRequestReader::read_number(const std::string& name, double least, double most,
                                      bool whole) {
  const std::string expected = [&] {
    std::string text = whole ? "a whole number of at least " : "a number from ";
    json::append_integer(text, static_cast<std::int64_t>(least));
    if (whole) return text;
    text.append(" to ");
    json::append_integer(text, static_cast<std::int64_t>(most));
    return text;
  }();
  if (in_.peek() != json::Kind::number) return fault_kind({name}, expected);
  const std::string_view text = in_.number();
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool in_range = status == std::errc() && value >= least && value <= most;
  if (!in_range || (whole && std::floor(value) != value)) return fault({name}, text, expected);
  request_.extra.push_back({name, {std::string(text)}});
  return true;
}

bool OpenaiRequestReader::read_choices() {
  constexpr std::string_view kExpected = "a whole number from 1 to 128";
  if (in_.peek() != json::Kind::number) return fault_kind({"n"}, kExpected);
  json::Reader number(in_.raw());
  const std::optional<std::int64_t> value = number.integer();
  if (!value || *value < 1 || *value > kMaxChoices) return fault({"n"}, "out of range", kExpected);
  request_.choices = static_cast<std::uint32_t>(*value);
  return true;
}

bool OpenaiRequestReader::read_stream_options() {
  if (in_.peek() != json::Kind::object) return fault_kind({"stream_options"}, "an object");
  has_stream_options_ = true;
  request_.include_usage = false;
  request_.stream_options.clear();
  for (std::string_view key; in_.next_member(key);) {
    const std::string name(key);
    if (name != "include_usage") {
      keep(request_.stream_options, name);
    } else if (is_null()) {
      in_.null();
    } else if (!read_boolean({"stream_options", FieldPath::kNone, "include_usage"},
                             request_.include_usage)) {
      return false;
    }
  }
  return true;
}

bool OpenaiRequestReader::read_messages() {
  MessageReader reader(in_);
  if (!reader.read(request_.messages)) {
    error_ = reader.take_error();
    return false;
  }
  has_messages_ = true;
  return true;
}

bool OpenaiRequestReader::check_whole() {
  if (!has_model_ || request_.model.empty()) {
    return fault({"model"}, has_model_ ? "empty" : "missing", "the name of a model");
  }
  if (!has_messages_) return fault({"messages"}, "missing", "an array of messages");
  if (has_stream_options_ && !request_.stream) {
    return fault({"stream_options"}, "given without stream", "it only with \"stream\": true");
  }
  if (has_functions_) {
    if (!request_.tools.empty() || !request_.other_tools.empty()) {
      return fault({"functions"}, "given beside tools", "one of the two");
    }
    request_.tools = std::move(functions_);
    request_.legacy_functions = true;
    // The old form has room for one call per turn.
    if (!request_.parallel_tool_calls && !request_.tools.empty()) {
      request_.parallel_tool_calls = false;
    }
  }
  return check_tool_choice();
}

Result<Request> decode_openai_chat(std::string_view body) {
  json::Reader in(body);
  return OpenaiRequestReader(body, in).read();
}

}  // namespace callgate::client
