// What becomes of the fields of a Chat Completions request in a Messages request.
#include "upstream/anthropic_messages/anthropic_messages.h"
#include "upstream/field_table.h"

namespace callgate::upstream {
namespace {

constexpr auto kMessagesFields = field_table(
    {
        {"model", true, kSame},
        {"messages", true, "`system` and `messages`, see below"},
        {"stream", true, kSame},
        {"tools", true, "`tools` with `input_schema`; `strict` and `cache_control` are kept"},
        {"other_tools", true, "tools that are not functions: passed on if they have a `name`"},
        {"tool_choice", true, "`auto`, `none`, `any` for required, `tool` for a named one"},
        {"parallel_tool_calls", true, "false is `tool_choice.disable_parallel_tool_use`"},
        {"max_tokens", true,
         "passed on; 8192 where neither it nor `max_completion_tokens` is given"},
        {"max_completion_tokens", true, "`max_tokens`"},
        {"temperature", true, "passed on; more than 1 is sent as 1; left out beside thinking"},
        {"top_p", true, "passed on; 1 and what stands beside thinking are left out"},
        {"top_k", true, "passed on; left out beside thinking"},
        {"stop", true, "`stop_sequences`; blank ones are left out"},
        {"user", true, "`metadata.user_id`"},
        {"safety_identifier", true, "`metadata.user_id` where `user` is not given"},
        {"metadata", true, "its `user_id`; the rest is left out"},
        {"reasoning_effort", true,
         "`output_config.effort` and adaptive thinking; `none` turns it off"},
        {"response_format", true,
         "a JSON schema is `output_config.format`; `json_object` is left out"},
        {"service_tier", true, "`auto` and `priority` are `auto`, `default` is `standard_only`"},
        {"thinking", true, kSame},
        {"output_config", true, "passed on, instead of what effort and format would give"},
        {"cache_control", true, kSame},
        {"container", true, kSame},
        {"context_management", true, kSame},
        {"inference_geo", true, kSame},
        {"mcp_servers", true, kSame},
        {"speed", true, kSame},
        {"stream_options", true, "not needed: usage always comes"},
        {"n", false, "one answer comes"},
    },
    {"seed", "logprobs", "top_logprobs", "logit_bias", "presence_penalty", "frequency_penalty",
     "prediction", "modalities", "audio", "verbosity", "web_search_options", "store",
     "prompt_cache_key", "prompt_cache_retention"});

}  // namespace

std::span<const RequestField> anthropic_fields() { return kMessagesFields; }

}  // namespace callgate::upstream
