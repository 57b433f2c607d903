// docs/protocols.md has a table of what each pair of protocol and upstream format loses of a request. It is made here, from
// requests that say everything that callgate knows of their protocol. CALLGATE_GOLDEN_UPDATE=1 rewrites it: read the diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "engine/golden_testing.h"
#include "upstream/wire_format.h"

namespace callgate {
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
}  // namespace callgate
