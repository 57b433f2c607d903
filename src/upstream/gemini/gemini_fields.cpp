// What becomes of the fields of a Chat Completions request in a GenerateContent request.
#include "upstream/field_table.h"
#include "upstream/gemini/gemini.h"

namespace callgate::upstream {
namespace {

constexpr auto kGeminiFields = field_table(
    {
        {"model", true, "in the path"},
        {"messages", true, "`systemInstruction` and `contents`, see above"},
        {"stream", true, "`streamGenerateContent` or `generateContent` in the path"},
        {"tools", true, "`functionDeclarations` with `parametersJsonSchema`; `strict` is left out"},
        {"other_tools", true, "the API's own, see above; others are left out and reported"},
        {"tool_choice", true,
         "`functionCallingConfig`: `AUTO`, `NONE`, `ANY`, and one allowed name"},
        {"parallel_tool_calls", false, "left out; callgate itself lets only the first call pass"},
        {"n", true, "`candidateCount`"},
        {"max_tokens", true, "`maxOutputTokens`"},
        {"max_completion_tokens", true, "`maxOutputTokens`, before `max_tokens`"},
        {"temperature", true, kSame},
        {"top_p", true, "`topP`"},
        {"top_k", true, "`topK`"},
        {"stop", true, "`stopSequences`"},
        {"seed", true, kSame},
        {"presence_penalty", true, "`presencePenalty`"},
        {"frequency_penalty", true, "`frequencyPenalty`"},
        {"logprobs", true, "`responseLogprobs`"},
        {"top_logprobs", true, "`logprobs`"},
        {"reasoning_effort", true, "`thinkingConfig`, see above"},
        {"response_format", true, "`responseMimeType`, and a JSON schema as `responseJsonSchema`"},
        {"generationConfig", true, "passed on; what it names wins over the fields above"},
        {"thinkingConfig", true, "into `generationConfig`, instead of what the effort would give"},
        {"toolConfig", true, "passed on, instead of what `tool_choice` would give"},
        {"safetySettings", true, kSame},
        {"cachedContent", true, kSame},
        {"labels", true, kSame},
        {"stream_options", true, "not needed: usage always comes"},
    },
    {"logit_bias", "modalities", "audio", "prediction", "verbosity", "web_search_options", "user",
     "safety_identifier", "metadata", "service_tier", "store", "prompt_cache_key",
     "prompt_cache_retention"});

}  // namespace

std::span<const RequestField> gemini_fields() { return kGeminiFields; }

}  // namespace callgate::upstream
