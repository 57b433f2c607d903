// docs/protocols.md has a table of what each pair of protocol and upstream format loses of a request. It is made here, from
// requests that say everything that callgate knows of their protocol. CALLGATE_GOLDEN_UPDATE=1 rewrites it: read the diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "engine/golden_testing.h"
#include "upstream/wire_format.h"

namespace callgate::protocol_losses_test {
namespace {

struct Sample {
  std::string_view protocol;
  std::string_view path;
  std::string_view body;
};

// A row per protocol.
constexpr Sample kSamples[] = {
    {"openai_chat", "/v1/chat/completions",
     R"({"model":"m","messages":[{"role":"user","name":"ann","content":[{"type":"text","text":"hi"},
     {"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},
     {"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}]}],"tools":[{"type":"function","function":{"name":"f","strict":true}}],
     "tool_choice":"required","parallel_tool_calls":false,"n":2,"temperature":0.5,"top_p":0.5,"seed":1,"stop":["x"],"max_tokens":9,
     "presence_penalty":0.5,"frequency_penalty":0.5,"logit_bias":{"1":1},"logprobs":true,"top_logprobs":2,"reasoning_effort":"low",
     "response_format":{"type":"json_object"},"user":"u","metadata":{"a":"b"},"service_tier":"flex","store":true,"verbosity":"low",
     "prediction":{"type":"content","content":"x"},"modalities":["text","audio"],"audio":{"voice":"a"},"prompt_cache_key":"k","new":1})"},
    {"openai_responses", "/v1/responses",
     R"({"model":"m","instructions":"Be brief.","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"},
     {"type":"input_image","image_url":"data:image/png;base64,AA==","detail":"low"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AA=="},
     {"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}]},
     {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAA"},{"type":"custom_tool_call","call_id":"c1","name":"patch","input":"x"},
     {"type":"custom_tool_call_output","call_id":"c1","output":[{"type":"input_text","text":"ok"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]},
     {"type":"compaction","encrypted_content":"gAAAA"},{"type":"hologram","id":"h_1"},{"role":"user","content":"go on"}],
     "tools":[{"type":"function","name":"f","strict":true},{"type":"custom","name":"patch","format":{"type":"grammar","syntax":"lark","definition":"start: \"a\""}},
     {"type":"namespace","name":"n","tools":[{"type":"function","name":"g"}]},{"type":"web_search"},{"type":"mcp","server_label":"s","server_url":"https://a/b"}],
     "tool_choice":"required","parallel_tool_calls":false,"temperature":0.5,"top_p":0.5,"top_logprobs":2,"max_output_tokens":9,
     "text":{"format":{"type":"json_object"},"verbosity":"low"},"reasoning":{"effort":"low","summary":"auto"},"include":["reasoning.encrypted_content"],
     "truncation":"auto","max_tool_calls":3,"metadata":{"a":"b"},"user":"u","safety_identifier":"s","prompt_cache_key":"k","service_tier":"flex",
     "conversation":"conv_1","prompt":{"id":"p_1"},"store":false,"new":1})"},
    {"anthropic_messages", "/v1/messages",
     R"({"model":"m","max_tokens":9,"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],
     "messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},
     {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AA=="}},{"type":"hologram","data":"x"}]},
     {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"x"},
     {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},
     {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":[{"type":"text","text":"no"},
     {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]}]}],
     "tools":[{"name":"f","input_schema":{"type":"object"},"strict":true,"cache_control":{"type":"ephemeral"}},{"type":"web_search_20250305","name":"web_search"}],
     "tool_choice":{"type":"any","disable_parallel_tool_use":true},"temperature":0.5,"top_p":0.5,"top_k":4,"stop_sequences":["x"],
     "metadata":{"user_id":"u","org":"o"},"service_tier":"standard_only","thinking":{"type":"enabled","budget_tokens":1024},
     "output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}},"context_management":{"edits":[]},
     "container":"c","mcp_servers":[{"type":"url","url":"https://a/b","name":"s"}],"inference_geo":"eu","cache_control":{"type":"ephemeral"},"new":1})"},
    {"gemini", "/v1beta/models/m:generateContent",
     R"({"contents":[{"role":"user","parts":[{"text":"hi"},{"inlineData":{"mimeType":"image/png","data":"AA=="}},
     {"inlineData":{"mimeType":"audio/wav","data":"AA=="}},{"fileData":{"mimeType":"video/mp4","fileUri":"gs://a/b"}},
     {"executableCode":{"language":"PYTHON","code":"1"}}]}],"tools":[{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}}],
     "toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"},"retrievalConfig":{"languageCode":"en"}},"generationConfig":{"temperature":0.5,"topP":0.5,"topK":4,"seed":1,
     "maxOutputTokens":9,"stopSequences":["x"],"candidateCount":2,"presencePenalty":0.5,"frequencyPenalty":0.5,"responseLogprobs":true,
     "logprobs":2,"responseMimeType":"application/json","thinkingConfig":{"thinkingLevel":"LOW"},"speechConfig":{}},
     "safetySettings":[{"category":"a"}],"cachedContent":"c","labels":{"a":"b"},"new":1})"},
    {"ollama", "/api/chat",
     R"({"model":"m","messages":[{"role":"user","content":"hi","images":["iVBORw0KGgo="]}],"tools":[{"type":"function","function":{"name":"f"}}],
     "format":"json","think":true,"keep_alive":"5m","truncate":true,"shift":true,"logprobs":true,"top_logprobs":2,"options":{"num_ctx":8,"num_predict":9,"temperature":0.5,
     "top_p":0.5,"top_k":4,"min_p":0.1,"typical_p":0.1,"seed":1,"stop":["x"],"presence_penalty":0.5,"frequency_penalty":0.5,
     "repeat_penalty":1.1},"new":1})"},
    {"openai_completions", "/v1/completions",
     R"({"model":"m","prompt":"hi","n":2,"best_of":2,"temperature":0.5,"top_p":0.5,"seed":1,"stop":["x"],"max_tokens":9,
     "presence_penalty":0.5,"frequency_penalty":0.5,"logit_bias":{"1":1},"user":"u","new":1})"},
};

constexpr std::string_view kBegin = "<!-- losses: made by a test -->\n";
constexpr std::string_view kEnd = "<!-- end of losses -->\n";

std::string losses_of(const Request& request, const WireFormat& wire) {
  const auto sent = wire.encode(request, {.model = {}, .key = {}, .auth = {}, .stream = true});
  if (!sent) return "refused: " + sent.error().message;
  std::vector<std::string> names;
  for (const DroppedField& field : sent->dropped) names.push_back("`" + field.name + "`");
  // What only the request's own format can say: turn/attempt.cpp leaves it out.
  if (request.origin != wire.name) {
    for (const auto& field : request.client.own_fields) names.push_back("`" + field.name + "`");
    for (const NativeField& field : request.native) {
      if (field.elsewhere == NativeField::Elsewhere::named) {
        names.push_back("`" + field.name + "`");
      }
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string out;
  for (const std::string& name : names) out.append(out.empty() ? "" : ", ").append(name);
  return out.empty() ? "nothing" : out;
}

std::string make_table() {
  std::string table = "| protocol | upstream | left out of such a request |\n|---|---|---|\n";
  for (const Sample& sample : kSamples) {
    const Protocol* protocol = client::find(sample.protocol);
    EXPECT_NE(protocol, nullptr);
    auto request = protocol->decode({.body = sample.body, .path = sample.path});
    EXPECT_TRUE(request.has_value()) << (request ? "" : request.error().message);
    if (!request) continue;
    for (const WireFormat* wire : upstream::all()) {
      table += "| `" + std::string(sample.protocol) + "` | `" + std::string(wire->name) + "` | " +
               losses_of(*request, *wire) + " |\n";
    }
  }
  return table;
}

TEST(ProtocolLosses, are_documented) {
  const std::filesystem::path path = source_path("docs/protocols.md");
  std::string text = engine::read_file(path);
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = text.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::size_t start = begin + kBegin.size();
  const std::string table = make_table();
  if (std::getenv("CALLGATE_GOLDEN_UPDATE") != nullptr) {
    std::ofstream(path, std::ios::binary) << text.replace(start, end - start, table);
    return;
  }
  EXPECT_EQ(text.substr(start, end - start), table);
}

TEST(ProtocolLosses, are_none_where_the_upstream_speaks_the_same) {
  for (const Sample& sample : kSamples) {
    const WireFormat* wire = upstream::find(sample.protocol);
    if (wire == nullptr) continue;
    const auto request =
        client::find(sample.protocol)->decode({.body = sample.body, .path = sample.path});
    ASSERT_TRUE(request.has_value());
    EXPECT_EQ(losses_of(*request, *wire), "nothing") << sample.protocol;
  }
}

}  // namespace
}  // namespace callgate::protocol_losses_test
