// A GenerateContentRequest -> Request. The model and whether it streams stand in the path.
//
//   {"contents":[{"role":"user","parts":[{"text":"hi"}]}],"systemInstruction":{"parts":[{"text":"Be brief."}]},
//    "tools":[{"functionDeclarations":[{"name":"find","parametersJsonSchema":{"type":"object"}}]}],
//    "toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"generationConfig":{"maxOutputTokens":64}}
//
// Names may also be written as find_me. `null` means that a field is not given. What callgate does not know reaches an upstream
// that speaks the same, from Request::body; others report it as dropped.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "callgate/result.h"
#include "chat/field_reader.h"
#include "client/gemini/gemini_content.h"
#include "json/reader.h"

namespace callgate::client {

// `generation_config` -> `generationConfig`
std::string gemini_name(std::string_view key);

class GeminiRequestReader : private FieldReader {
 public:
  // REQUIRES: `in` reads an object that check_body() accepts; it outlives the reader.
  GeminiRequestReader(json::Reader& in, Request& request)
      : FieldReader(in), request_(request), contents_(request.messages) {}

  Result<void> read();

 private:
  // Every function returns false after the first fault.
  bool read_field(std::string_view key, const std::string& name);
  bool read_contents();
  bool read_content(std::size_t index);
  bool read_instruction();
  bool read_parts(FieldPath path, std::vector<GeminiWirePart>& parts);
  bool read_part(const FieldPath& path, GeminiWirePart& part);
  bool read_part_field(const FieldPath& path, std::string_view key, const std::string& name,
                       GeminiWirePart& part);
  bool read_call(const FieldPath& path, GeminiWirePart& part);
  bool read_response(const FieldPath& path, GeminiWirePart& part);

  bool read_tools();
  bool read_tool(std::size_t index);
  bool read_declarations(FieldPath path);
  bool read_declaration(const FieldPath& path);
  bool read_tool_config();
  bool read_calling_config(const FieldPath& path, bool& mapped);
  bool take_mode(const FieldPath& path, std::string_view mode, bool& mapped);

  bool read_config();
  bool read_config_field(std::string_view key, const std::string& name);
  bool read_number(const FieldPath& path, std::string_view field);
  bool read_stops(const FieldPath& path);
  bool read_candidate_count(const FieldPath& path);
  bool read_thinking(const FieldPath& path);
  void add_format();

  Request& request_;
  GeminiContents contents_;
  std::optional<Message> system_;
  bool has_contents_ = false;
  std::vector<std::string> allowed_;  // names that the model may call
  // Of generationConfig.
  std::string mime_type_;
  std::string_view schema_;
  std::string others_;  // members that nothing else stands for
};

}  // namespace callgate::client
