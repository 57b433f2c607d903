#include "upstream/codex/codex_proto.h"

#include <array>

#include "json/writer.h"
#include "upstream/codex/codex_decoder.h"
#include "upstream/codex/codex_error.h"
#include "upstream/codex/codex_request.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

constexpr std::array<std::string_view, 4> kProtoCarried = {"model", "messages", "stream",
                                                           "reasoning_effort"};

// A lone question goes as it is; anything more as a transcript, followed by the images of the prompt.
void append_first(std::string& out, const Request& request, const ConversationParts& parts,
                  std::vector<DroppedField>& dropped) {
  out.push_back('[');
  if (parts.prompt == 0 && request.messages.size() == 1) {
    append_input(out, request, 0, "image_url", dropped);
  } else {
    json::ObjectWriter object(out);
    object.string("type", "text");
    object.string("text", transcript_of(request, 0, request.messages.size()));
    object.close();
    for (std::size_t i = 0; i < request.messages.size(); ++i) {
      const std::vector<ContentPart> content = parts_of(request.messages[i].content);
      for (std::size_t j = 0; j < content.size(); ++j) {
        if (content[j].kind == ContentPart::Kind::text) continue;
        dropped.push_back({place_of_part(i, j), true});
      }
    }
  }
  out.push_back(']');
}

Result<UpstreamRequest> encode_proto(const Request& request, const EncodeOptions& options) {
  UpstreamRequest encoded;
  encoded.dropped = fields_left_behind(request, kProtoCarried);
  if (!request.tools.empty()) encoded.dropped.push_back({"tools", true});
  const ConversationParts parts = parts_of_conversation(request);
  json::ObjectWriter all(encoded.body);
  append_first(all.key("first"), request, parts, encoded.dropped);
  std::string& next = all.key("next");
  next.push_back('[');
  std::vector<DroppedField> same;  // the first prompt has reported these
  append_input(next, request, parts.prompt, "image_url", same);
  next.push_back(']');
  all.string("model", options.model.empty() ? std::string_view(request.model) : options.model);
  const std::string effort = field_text(request.extra, "reasoning_effort");
  if (!effort.empty()) all.string("effort", effort);
  all.close();
  put_on_one_line(encoded.body);
  return encoded;
}

Error decode_proto_error(int status, std::string_view body) {
  json::Reader reader;
  CodexLine line;
  const std::string_view first = body.substr(0, body.find('\n'));
  const bool is_event = read_codex_line(first, reader, line) && !line.msg.empty();
  Error error = decode_codex_error(is_event ? line.msg : body);
  if (error.status == 0) error.status = status;
  return error;
}

}  // namespace

std::span<const std::string_view> codex_proto_fields() { return kProtoCarried; }

const WireFormat kCodexProto = {
    .name = "codex_proto",
    .framing = WireFormat::Framing::lines,
    .encode = encode_proto,
    .make_decoder = make_codex_decoder,
    .structured_calls = true,
    .decode_error = decode_proto_error,
};

}  // namespace callgate::upstream
