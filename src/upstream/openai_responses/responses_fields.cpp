// What becomes of the fields of a Chat Completions request in a Responses request.
#include "upstream/field_table.h"
#include "upstream/openai_responses/openai_responses.h"

namespace callgate::upstream {
namespace {

constexpr auto kResponsesFields = field_table(
    {
        {"model", true, kSame},
        {"messages", true, "`input`, see above"},
        {"stream", true, kSame},
        {"tools", true, "`tools`, flattened; `strict` is false where it is not given"},
        {"other_tools", true,
         "tools that are not functions: custom ones flattened, others as they are"},
        {"tool_choice", true, "passed on, the forms that are objects flattened"},
        {"parallel_tool_calls", true, "passed on where there are tools"},
        {"max_tokens", true, "`max_output_tokens`"},
        {"max_completion_tokens", true, "`max_output_tokens`"},
        {"temperature", true, kSame},
        {"top_p", true, kSame},
        {"logprobs", true, "true is `message.output_text.logprobs` in `include`"},
        {"top_logprobs", true, kSame},
        {"reasoning_effort", true, "`reasoning.effort`"},
        {"reasoning", true, "passed on; its `effort` counts before `reasoning_effort`"},
        {"response_format", true, "`text.format`"},
        {"verbosity", true, "`text.verbosity`"},
        {"text", true, "passed on; its members count before the two above"},
        {"store", true, "passed on; false where it is not given"},
        {"include", true, "passed on; `reasoning.encrypted_content` where it is not given"},
        {"user", true, kSame},
        {"safety_identifier", true, kSame},
        {"metadata", true, kSame},
        {"service_tier", true, kSame},
        {"prompt_cache_key", true, kSame},
        {"prompt_cache_retention", true, kSame},
        {"prompt_cache_options", true, kSame},
        {"instructions", true, kSame},
        {"previous_response_id", true, kSame},
        {"conversation", true, kSame},
        {"prompt", true, kSame},
        {"truncation", true, kSame},
        {"max_tool_calls", true, kSame},
        {"context_management", true, kSame},
        {"moderation", true, kSame},
        {"stream_options", true, "its `include_obfuscation`; usage always comes"},
        {"n", false, "one answer comes"},
    },
    {"stop", "seed", "logit_bias", "presence_penalty", "frequency_penalty", "prediction",
     "modalities", "audio", "web_search_options", "background"});

}  // namespace

std::span<const RequestField> responses_fields() { return kResponsesFields; }

}  // namespace callgate::upstream
