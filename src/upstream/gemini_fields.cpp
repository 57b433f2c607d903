// What becomes of the fields of a Chat Completions request in a GenerateContent request.
#include <array>

#include "upstream/gemini.h"

namespace callgate::upstream {
namespace {

constexpr std::string_view kSame = "passed on under the same name";
constexpr std::string_view kLeft = "left out";

constexpr auto kFields = std::to_array<RequestField>({
    {"model", true, "in the path"},
    {"messages", true, "`systemInstruction` and `contents`, see above"},
    {"stream", true, "`streamGenerateContent` or `generateContent` in the path"},
    {"tools", true, "`functionDeclarations` with `parametersJsonSchema`; `strict` is left out"},
    {"other_tools", true, "the API's own, see above; others are left out and reported"},
    {"tool_choice", true, "`functionCallingConfig`: `AUTO`, `NONE`, `ANY`, and one allowed name"},
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
    {"logit_bias", false, kLeft},
    {"modalities", false, kLeft},
    {"audio", false, kLeft},
    {"prediction", false, kLeft},
    {"verbosity", false, kLeft},
    {"web_search_options", false, kLeft},
    {"user", false, kLeft},
    {"safety_identifier", false, kLeft},
    {"metadata", false, kLeft},
    {"service_tier", false, kLeft},
    {"store", false, kLeft},
    {"prompt_cache_key", false, kLeft},
    {"prompt_cache_retention", false, kLeft},
});

}  // namespace

std::span<const RequestField> gemini_fields() { return kFields; }

}  // namespace callgate::upstream
