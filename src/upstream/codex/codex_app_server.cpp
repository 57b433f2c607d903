#include "upstream/codex/codex_app_server.h"

#include <array>

#include "json/member.h"
#include "json/writer.h"
#include "upstream/codex/codex_decoder.h"
#include "upstream/codex/codex_error.h"
#include "upstream/codex/codex_request.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

constexpr std::array<std::string_view, 7> kAppServerCarried = {
    "model", "messages", "stream", "tools", "tool_choice", "reasoning_effort", "response_format"};

void append_dynamic_tools(json::ObjectWriter& thread, const Request& request,
                          std::vector<DroppedField>& dropped) {
  if (request.tools.empty() || request.tool_choice.mode == ToolChoice::Mode::none) return;
  std::string& out = thread.key("dynamicTools");
  out.push_back('[');
  for (std::size_t i = 0; i < request.tools.size(); ++i) {
    const ToolSpec& tool = request.tools[i];
    if (i > 0) out.push_back(',');
    json::ObjectWriter object(out);
    object.string("type", "function");
    object.string("name", tool.name);
    object.string("description", tool.description);
    object.raw("inputSchema", tool.parameters.empty() ? R"({"type":"object","properties":{}})"
                                                      : std::string_view(tool.parameters.text));
    object.close();
    for (const ExtraField& field : tool.extra) {
      dropped.push_back({"tools[" + std::to_string(i) + "].function." + field.name, false});
    }
  }
  out.push_back(']');
}

// {"type":"json_schema","json_schema":{"name":"x","schema":{...}}}
void append_schema(json::ObjectWriter& turn, const Request& request,
                   std::vector<DroppedField>& dropped) {
  const std::string_view format = find_field(request.extra, "response_format");
  if (format.empty()) return;
  const std::string type = any_member_text(format, "type");
  const std::string_view schema =
      json::member_json(json::member_json(format, "json_schema"), "schema");
  if (type == "json_schema" && !schema.empty()) return turn.raw("outputSchema", schema);
  if (type != "text") dropped.push_back({"response_format", true});
}

// {"contentItems":[{"type":"inputText","text":"18"}],"success":true}
void append_result(std::string& out, const Message& message, std::size_t index,
                   std::vector<DroppedField>& dropped) {
  out += "{\"contentItems\":[";
  const std::vector<ContentPart> parts = parts_of(message.content);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind == ContentPart::Kind::other) {
      dropped.push_back({place_of_part(index, i), true});
      continue;
    }
    if (out.back() != '[') out.push_back(',');
    json::ObjectWriter item(out);
    const bool is_text = parts[i].kind == ContentPart::Kind::text;
    item.string("type", is_text ? "inputText" : "inputImage");
    item.string(is_text ? "text" : "imageUrl", is_text ? parts[i].text : image_url_of(parts[i]));
    item.close();
  }
  if (out.back() == '[') out += R"({"type":"inputText","text":""})";
  out += "],\"success\":true}";
}

void append_results(std::string& out, const Request& request, std::size_t begin,
                    std::vector<DroppedField>& dropped) {
  out.push_back('[');
  for (std::size_t i = begin; i < request.messages.size(); ++i) {
    if (i > begin) out.push_back(',');
    json::ObjectWriter object(out);
    object.string("callId", request.messages[i].tool_call_id);
    append_result(object.key("result"), request.messages[i], i, dropped);
    object.close();
  }
  out.push_back(']');
}

Result<UpstreamRequest> encode_app_server(const Request& request, const EncodeOptions& options) {
  UpstreamRequest encoded;
  encoded.dropped = fields_left_behind(request, kAppServerCarried);
  const ToolChoice::Mode choice = request.tool_choice.mode;
  if (choice == ToolChoice::Mode::required || choice == ToolChoice::Mode::named) {
    encoded.dropped.push_back({"tool_choice", true});
  }
  const ConversationParts parts = parts_of_conversation(request);
  json::ObjectWriter all(encoded.body);

  json::ObjectWriter thread(all.key("thread"));
  thread.string("model", options.model.empty() ? std::string_view(request.model) : options.model);
  if (parts.lead > 0) thread.string("baseInstructions", instructions_of(request, parts.lead));
  append_dynamic_tools(thread, request, encoded.dropped);
  thread.close();

  std::string& items = all.key("items");
  items.push_back('[');
  append_items(items, request, parts.lead, parts.prompt, encoded.dropped);
  items.push_back(']');

  json::ObjectWriter turn(all.key("turn"));
  std::string& input = turn.key("input");
  input.push_back('[');
  append_input(input, request, parts.prompt, "url", encoded.dropped);
  input.push_back(']');
  const std::string effort = field_text(request.extra, "reasoning_effort");
  if (!effort.empty()) turn.string("effort", effort);
  append_schema(turn, request, encoded.dropped);
  turn.close();

  std::vector<DroppedField> same;  // the items have reported these
  append_results(all.key("results"), request, parts.since_call, same);
  all.close();
  put_on_one_line(encoded.body);
  return encoded;
}

// Only the model inside the process answers with a status; its body is the lines of a turn that failed.
Error decode_app_server_error(int status, std::string_view body) {
  json::Reader reader;
  CodexLine line;
  const std::string_view first = body.substr(0, body.find('\n'));
  if (read_codex_line(first, reader, line) && !line.params.empty()) {
    return decode_codex_error(line.params);
  }
  Error error = decode_codex_error(body);
  error.status = status;
  return error;
}

}  // namespace

std::span<const std::string_view> codex_app_server_fields() { return kAppServerCarried; }

const WireFormat kCodexAppServer = {
    .name = "codex_app_server",
    .framing = WireFormat::Framing::lines,
    .encode = encode_app_server,
    .make_decoder = make_codex_decoder,
    .structured_calls = true,
    .decode_error = decode_app_server_error,
};

}  // namespace callgate::upstream
