#include <charconv>

#include "base/base64.h"
#include "capture/capture_format.h"
#include "capture/capture_words.h"
#include "chat/error_word.h"
#include "json/reader.h"

namespace callgate::server {
namespace {

constexpr std::string_view kFirstMember = "{\"capture\":";

void read_string(json::Reader& in, std::string& into) { into = in.string(); }

void read_number(json::Reader& in, std::uint64_t& into) {
  const std::string_view text = in.number();
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (fault != std::errc() || end != text.data() + text.size()) in.fail("expected a whole number");
}

void read_integer(json::Reader& in, std::int64_t& into) {
  const std::optional<std::int64_t> value = in.integer();
  if (!value) return in.fail("expected a whole number");
  into = *value;
}

void read_status(json::Reader& in, int& into) {
  std::int64_t status = 0;
  read_integer(in, status);
  if (status < 0 || status > 999) return in.fail("expected an HTTP status");
  into = static_cast<int>(status);
}

void read_policy(json::Reader& in, PolicyOptions& policy) {
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    if (!set_policy(policy, name, in.string())) return in.fail("expected a policy and its value");
  }
}

void read_commit(json::Reader& in, std::string& commit) {
  commit = in.string();
  if (!commit.empty() && commit != "eager" && commit != "whole_call") {
    in.fail("expected eager or whole_call");
  }
}

void read_pipeline(json::Reader& in, CapturedPipeline& pipeline) {
  for (std::string_view key; in.next_member(key);) {
    if (key == "wire") {
      read_string(in, pipeline.wire);
    } else if (key == "protocol") {
      read_string(in, pipeline.protocol);
    } else if (key == "dialect") {
      read_string(in, pipeline.dialect);
    } else if (key == "dialect_is_default") {
      pipeline.dialect_is_default = in.boolean();
    } else if (key == "commit") {
      read_commit(in, pipeline.commit);
    } else if (key == "reasoning_open") {
      pipeline.reasoning_open = in.boolean();
    } else if (key == "response_id") {
      read_string(in, pipeline.response_id);
    } else if (key == "created") {
      read_integer(in, pipeline.created);
    } else if (key == "id_seed") {
      read_number(in, pipeline.id_seed);
    } else if (key == "max_frame") {
      read_number(in, pipeline.max_frame);
    } else if (key == "max_body") {
      read_number(in, pipeline.max_body);
    } else if (key == "max_held_back") {
      read_number(in, pipeline.max_held_back);
    } else if (key == "elapsed_ms") {
      pipeline.elapsed_ms.emplace();
      while (in.next_element()) read_integer(in, pipeline.elapsed_ms->emplace_back());
    } else if (key == "policy") {
      read_policy(in, pipeline.policy);
    } else {
      in.skip();
    }
  }
}

void read_first_line(json::Reader& in, CaptureRecord& record) {
  std::int64_t format = 0;
  for (std::string_view key; in.next_member(key);) {
    if (key == "capture") {
      read_integer(in, format);
      if (format != kCaptureFormat) return in.fail("expected a capture of format 1");
    } else if (key == "version") {
      read_string(in, record.version);
    } else if (key == "request") {
      read_string(in, record.request_id);
    } else if (key == "time") {
      read_integer(in, record.time_ms);
    } else if (key == "model") {
      read_string(in, record.model);
    } else if (key == "protocol") {
      read_string(in, record.protocol);
    } else if (key == "request_as") {
      read_string(in, record.request_as);
    } else if (key == "pipeline") {
      read_pipeline(in, record.pipeline.emplace());
    } else {
      in.skip();
    }
  }
  if (format == 0) in.fail("expected {\"capture\":1,...}");
}

void read_headers(json::Reader& in, CapturedHead& head) {
  while (in.next_element()) {
    auto& [name, value] = head.headers.emplace_back();
    if (!in.next_element()) return in.fail("expected a header as [name, value]");
    name = in.string();
    if (!in.next_element()) return in.fail("expected a header as [name, value]");
    value = in.string();
    if (in.next_element()) return in.fail("expected a header as [name, value]");
  }
}

void read_head(json::Reader& in, CapturedHead& head) {
  for (std::string_view key; in.next_member(key);) {
    if (key == "status") {
      read_status(in, head.status);
    } else if (key == "method") {
      read_string(in, head.method);
    } else if (key == "path") {
      read_string(in, head.path);
    } else if (key == "upstream") {
      read_string(in, head.upstream);
    } else if (key == "headers") {
      read_headers(in, head);
    } else {
      in.skip();
    }
  }
}

void read_error(json::Reader& in, Error& error) {
  for (std::string_view key; in.next_member(key);) {
    if (key == "code") {
      const auto code = to_error_code(in.string());
      if (!code) return in.fail("expected an error code");
      error.code = *code;
    } else if (key == "message") {
      read_string(in, error.message);
    } else if (key == "param") {
      read_string(in, error.param);
    } else if (key == "type") {
      read_string(in, error.type);
    } else if (key == "upstream_code") {
      read_string(in, error.upstream_code);
    } else if (key == "status") {
      read_status(in, error.status);
    } else {
      in.skip();
    }
  }
}

std::optional<Direction> direction_of(std::string_view word) {
  for (const Direction direction : {Direction::client_in, Direction::upstream_out,
                                    Direction::upstream_in, Direction::client_out}) {
    if (word == to_string(direction)) return direction;
  }
  return std::nullopt;
}

// Reads the member that tells what kind of line it is; false when `key` is another one.
bool read_content(json::Reader& in, std::string_view key, CaptureLine& line) {
  using Kind = CaptureLine::Kind;
  if (key == "head") {
    line.kind = Kind::head;
    read_head(in, line.head);
  } else if (key == "data") {
    line.kind = Kind::bytes;
    read_string(in, line.bytes);
  } else if (key == "base64") {
    line.kind = Kind::bytes;
    auto bytes = base64::decode(in.string());
    if (bytes) {
      line.bytes = std::move(*bytes);
    } else {
      in.fail("expected base64");
    }
  } else if (key == "comment") {
    line.kind = Kind::comment;
    read_string(in, line.bytes);
  } else if (key == "closed" || key == "cut" || key == "released") {
    line.kind = key == "cut" ? Kind::cut : key == "closed" ? Kind::closed : Kind::released;
    if (!in.boolean()) in.fail("expected true");
  } else if (key == "error") {
    line.kind = Kind::failed;
    read_error(in, line.error);
  } else {
    return false;
  }
  return true;
}

void read_round(json::Reader& in, CapturedRound& round) {
  for (std::string_view key; in.next_member(key);) {
    if (key == "pipeline") {
      read_pipeline(in, round.pipeline);
    } else if (key == "request") {
      read_string(in, round.request);
    } else {
      in.skip();
    }
  }
}

void read_line(json::Reader& in, CaptureRecord& record) {
  CaptureLine line;
  bool has_direction = false;
  int contents = 0;
  for (std::string_view key; in.next_member(key);) {
    if (key == "t") {
      read_integer(in, line.time_us);
    } else if (key == "dir") {
      const auto direction = direction_of(in.string());
      if (!direction) return in.fail("expected client_in, upstream_out, upstream_in or client_out");
      line.direction = *direction;
      has_direction = true;
    } else if (key == "end") {
      read_string(in, record.end);
      if (record.end.empty()) return in.fail("expected how it ended");
    } else if (key == "truncated") {
      record.truncated = in.boolean();
    } else if (key == "round") {
      line.kind = CaptureLine::Kind::round;
      read_round(in, record.rounds.emplace_back());
      ++contents;
    } else if (read_content(in, key, line)) {
      ++contents;
    } else {
      in.skip();
    }
  }
  if (!record.end.empty()) return;
  if (!has_direction || contents != 1) return in.fail("expected a direction and what passed");
  record.lines.push_back(std::move(line));
}

}  // namespace

bool looks_like_capture(std::string_view text) { return text.starts_with(kFirstMember); }

Result<CaptureRecord> read_capture(std::string_view text) {
  CaptureRecord record;
  json::Reader in;
  std::size_t number = 0;
  for (; !text.empty() && record.end.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    in.reset(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number == 0) {
      read_first_line(in, record);
    } else {
      read_line(in, record);
    }
    if (in.finish()) continue;
    return fail(ErrorCode::invalid_request, "line " + std::to_string(number + 1) + ", byte " +
                                                std::to_string(in.error().offset) + ": " +
                                                std::string(in.error().message));
  }
  if (number == 0) return fail(ErrorCode::invalid_request, "line 1: the file is empty");
  return record;
}

}  // namespace callgate::server
