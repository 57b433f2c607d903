#include "base/base64.h"
#include "base/utf8.h"
#include "capture/capture_format.h"
#include "capture/capture_words.h"
#include "chat/error_word.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

std::string_view word_of(UndeclaredTools value) {
  switch (value) {
    case UndeclaredTools::pass:
      return "pass";
    case UndeclaredTools::text:
      return "text";
    case UndeclaredTools::drop_with_note:
      return "drop_with_note";
  }
  return "";
}

std::string_view word_of(InvalidArguments value) {
  switch (value) {
    case InvalidArguments::pass:
      return "pass";
    case InvalidArguments::repair:
      return "repair";
    case InvalidArguments::raw:
      return "raw";
  }
  return "";
}

std::string_view word_of(ReasoningForm value) {
  switch (value) {
    case ReasoningForm::reasoning_content:
      return "reasoning_content";
    case ReasoningForm::reasoning:
      return "reasoning";
    case ReasoningForm::think_tags:
      return "think_tags";
    case ReasoningForm::hide:
      return "hide";
  }
  return "";
}

std::string_view word_of(CallIdStyle value) {
  switch (value) {
    case CallIdStyle::native:
      return "native";
    case CallIdStyle::random:
      return "random";
  }
  return "";
}

std::string_view word_of(CallOutput value) {
  switch (value) {
    case CallOutput::tool_calls:
      return "tool_calls";
    case CallOutput::json:
      return "json";
    case CallOutput::xml:
      return "xml";
    case CallOutput::xml_only:
      return "xml_only";
  }
  return "";
}

std::string_view word_of(ErrorAfterTools value) {
  switch (value) {
    case ErrorAfterTools::report:
      return "report";
    case ErrorAfterTools::tool_calls:
      return "tool_calls";
  }
  return "";
}

std::string_view word_of(TextSplit value) {
  switch (value) {
    case TextSplit::none:
      return "none";
    case TextSplit::sentences:
      return "sentences";
  }
  return "";
}

std::string_view word_of(bool value) { return value ? "true" : "false"; }

void print_pipeline(std::string& out, const CapturedPipeline& pipeline) {
  json::ObjectWriter object(out);
  object.string("wire", pipeline.wire);
  object.string("protocol", pipeline.protocol);
  object.string("dialect", pipeline.dialect);
  object.boolean("dialect_is_default", pipeline.dialect_is_default);
  object.string("commit", pipeline.commit);
  object.boolean("reasoning_open", pipeline.reasoning_open);
  object.string("response_id", pipeline.response_id);
  object.integer("created", pipeline.created);
  object.raw("id_seed", std::to_string(pipeline.id_seed));
  object.raw("max_frame", std::to_string(pipeline.max_frame));
  object.raw("max_body", std::to_string(pipeline.max_body));
  object.raw("max_held_back", std::to_string(pipeline.max_held_back));
  json::ObjectWriter policy(object.key("policy"));
  for_each_policy(pipeline.policy, [&](std::string_view name, std::string_view value) {
    policy.string(name, value);
  });
  policy.close();
  if (pipeline.elapsed_ms) {
    std::string& list = object.key("elapsed_ms");
    list += '[';
    for (const std::int64_t value : *pipeline.elapsed_ms) {
      if (list.back() != '[') list += ',';
      json::append_integer(list, value);
    }
    list += ']';
  }
  object.close();
}

void print_head(std::string& out, const CapturedHead& head) {
  json::ObjectWriter object(out);
  if (head.status != 0) object.integer("status", head.status);
  if (!head.method.empty()) object.string("method", head.method);
  if (!head.path.empty()) object.string("path", head.path);
  if (!head.upstream.empty()) object.string("upstream", head.upstream);
  append_headers(object.key("headers"), head);
  object.close();
}

void print_error(std::string& out, const Error& error) {
  json::ObjectWriter object(out);
  object.string("code", to_string(error.code));
  object.string("message", error.message);
  if (!error.param.empty()) object.string("param", error.param);
  if (!error.type.empty()) object.string("type", error.type);
  if (!error.upstream_code.empty()) object.string("upstream_code", error.upstream_code);
  if (error.status != 0) object.integer("status", error.status);
  object.close();
}

void print_round(std::string& out, const CapturedRound& round) {
  json::ObjectWriter object(out);
  print_pipeline(object.key("pipeline"), round.pipeline);
  object.string("request", round.request);
  object.close();
}

// The pieces of a line as lines of their own.
void each_piece(const CaptureLine& line, FunctionRef<void(CaptureLine)> visit) {
  std::size_t begin = 0;
  for (const CapturedPiece& piece : line.pieces) {
    visit({.time_us = piece.time_us,
           .direction = line.direction,
           .kind = line.kind,
           .bytes = line.bytes.substr(begin, piece.end - begin)});
    begin = piece.end;
  }
}

// `round` is the next one that a line speaks of.
void print_line(std::string& out, const CaptureLine& line, const CaptureRecord& record,
                std::size_t& round) {
  json::ObjectWriter object(out);
  object.integer("t", line.time_us);
  object.string("dir", to_string(line.direction));
  switch (line.kind) {
    case CaptureLine::Kind::head:
      print_head(object.key("head"), line.head);
      break;
    case CaptureLine::Kind::bytes:
      if (utf8::is_valid(line.bytes)) {
        object.string("data", line.bytes);
      } else {
        std::string& text = object.key("base64");
        text += '"';
        base64::append_encoded(text, line.bytes);
        text += '"';
      }
      break;
    case CaptureLine::Kind::comment:
      object.string("comment", line.bytes);
      break;
    case CaptureLine::Kind::closed:
      object.boolean("closed", true);
      break;
    case CaptureLine::Kind::cut:
      object.boolean("cut", true);
      break;
    case CaptureLine::Kind::released:
      object.boolean("released", true);
      break;
    case CaptureLine::Kind::failed:
      print_error(object.key("error"), line.error);
      break;
    case CaptureLine::Kind::round:
      print_round(object.key("round"), record.rounds[round++]);
      break;
  }
  object.close();
  out += '\n';
}

}  // namespace

void for_each_policy(const PolicyOptions& options,
                     FunctionRef<void(std::string_view, std::string_view)> on_policy) {
  // Names every member, so that a new one does not compile until it is written here.
  const auto& [stop, suppress_tail, call_max, whitespace, dedupe, undeclared, invalid, reasoning,
               coalesce_bytes, id_style, output, error_after, estimate, counters, split, split_min,
               delimiter] = options;
  on_policy("stop_after_tools", callgate::to_string(stop));
  on_policy("suppress_tail_after_tools", word_of(suppress_tail));
  on_policy("tool_call_max", std::to_string(call_max));
  on_policy("call_whitespace", word_of(whitespace));
  on_policy("dedupe_calls", word_of(dedupe));
  on_policy("undeclared_tools", word_of(undeclared));
  on_policy("invalid_arguments", word_of(invalid));
  on_policy("reasoning", word_of(reasoning));
  on_policy("reasoning_coalesce_bytes", std::to_string(coalesce_bytes));
  on_policy("call_id_style", word_of(id_style));
  on_policy("output", word_of(output));
  on_policy("error_after_tools", word_of(error_after));
  on_policy("estimate_usage", word_of(estimate));
  on_policy("trailing_counters", word_of(counters));
  on_policy("split", word_of(split));
  on_policy("split_min_characters", std::to_string(split_min));
  if (!delimiter.empty()) on_policy("call_delimiter", delimiter);
}

void part_pieces(CaptureRecord& record) {
  std::vector<CaptureLine> lines;
  for (CaptureLine& line : record.lines) {
    if (line.pieces.empty()) {
      lines.push_back(std::move(line));
      continue;
    }
    each_piece(line, [&](CaptureLine piece) { lines.push_back(std::move(piece)); });
  }
  record.lines = std::move(lines);
}

std::string print_capture(const CaptureRecord& record) {
  std::string out;
  json::ObjectWriter head(out);
  head.integer("capture", kCaptureFormat);
  head.string("version", record.version);
  head.string("request", record.request_id);
  head.integer("time", record.time_ms);
  head.string("model", record.model);
  head.string("protocol", record.protocol);
  if (!record.request_as.empty()) head.string("request_as", record.request_as);
  if (record.pipeline) print_pipeline(head.key("pipeline"), *record.pipeline);
  head.close();
  out += '\n';
  std::size_t round = 0;
  for (const CaptureLine& line : record.lines) {
    if (line.pieces.empty()) {
      print_line(out, line, record, round);
      continue;
    }
    each_piece(line, [&](const CaptureLine& piece) { print_line(out, piece, record, round); });
  }
  if (record.end.empty()) return out;
  json::ObjectWriter end(out);
  end.string("end", record.end);
  end.boolean("truncated", record.truncated);
  end.close();
  out += '\n';
  return out;
}

}  // namespace callgate::server
