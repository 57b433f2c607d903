// What answers and bodies may have many of that only some wire formats know; `@` is the number of each.
#pragma once

#include <string_view>

namespace callgate {

// What an answer may have many of beside calls and text.
struct OddAnswer {
  std::string_view name;
  std::string_view wire;
  std::string_view begin;
  std::string_view each;
  std::string_view end;
};
constexpr std::string_view kChatEnd =
    R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
    "\n\ndata: [DONE]\n\n";
constexpr std::string_view kMessagesBegin =
    "event: message_start\ndata: "
    R"({"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"m","usage":{"input_tokens":1,"output_tokens":1}}})"
    "\n\n";
constexpr std::string_view kMessagesEnd =
    "event: message_delta\ndata: "
    R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}})"
    "\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
constexpr OddAnswer kOddAnswers[] = {
    {"turns of reasoning", "openai_chat", "",
     R"(data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm @"}}]})"
     "\n\n"
     R"(data: {"choices":[{"index":0,"delta":{"content":"so @"}}]})"
     "\n\n",
     kChatEnd},
    {"annotations", "openai_chat", "",
     R"(data: {"choices":[{"index":0,"delta":{"content":"a","annotations":[{"type":"url_citation","url_citation":{"url":"https://example.com/@","title":"t","start_index":0,"end_index":1}}]}}]})"
     "\n\n",
     kChatEnd},
    {"blocks", "anthropic_messages", kMessagesBegin,
     "event: content_block_start\ndata: "
     R"({"type":"content_block_start","index":@,"content_block":{"type":"text","text":""}})"
     "\n\nevent: content_block_delta\ndata: "
     R"({"type":"content_block_delta","index":@,"delta":{"type":"text_delta","text":"a"}})"
     "\n\nevent: content_block_delta\ndata: "
     R"({"type":"content_block_delta","index":@,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://example.com/@","title":"t","cited_text":"c","encrypted_index":"e"}}})"
     "\n\nevent: content_block_stop\ndata: "
     R"({"type":"content_block_stop","index":@})"
     "\n\n",
     kMessagesEnd},
    {"thoughts", "anthropic_messages", kMessagesBegin,
     "event: content_block_start\ndata: "
     R"({"type":"content_block_start","index":@,"content_block":{"type":"thinking","thinking":"","signature":""}})"
     "\n\nevent: content_block_delta\ndata: "
     R"({"type":"content_block_delta","index":@,"delta":{"type":"thinking_delta","thinking":"hm"}})"
     "\n\nevent: content_block_delta\ndata: "
     R"({"type":"content_block_delta","index":@,"delta":{"type":"signature_delta","signature":"c2ln"}})"
     "\n\nevent: content_block_stop\ndata: "
     R"({"type":"content_block_stop","index":@})"
     "\n\n",
     kMessagesEnd},
    {"parts", "gemini", "",
     R"(data: {"candidates":[{"content":{"role":"model","parts":[{"text":"hm @","thought":true,"thoughtSignature":"c2ln"},{"text":"so @"}]},"index":0}]})"
     "\n\n",
     R"(data: {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]})"
     "\n\n"},
    {"items", "openai_responses",
     "event: response.created\ndata: "
     R"({"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","model":"m","output":[]}})"
     "\n\n",
     "event: response.output_item.added\ndata: "
     R"({"type":"response.output_item.added","output_index":@,"item":{"id":"rs_@","type":"reasoning","summary":[]}})"
     "\n\nevent: response.reasoning_summary_text.delta\ndata: "
     R"({"type":"response.reasoning_summary_text.delta","item_id":"rs_@","output_index":@,"summary_index":0,"delta":"hm"})"
     "\n\nevent: response.output_item.done\ndata: "
     R"({"type":"response.output_item.done","output_index":@,"item":{"id":"rs_@","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}})"
     "\n\n",
     "event: response.completed\ndata: "
     R"({"type":"response.completed","response":{"id":"r","object":"response","status":"completed","model":"m","output":[]}})"
     "\n\n"},
};

// What a body may have many of that no other wire format has.
struct OddBody {
  std::string_view name;
  std::string_view protocol;
  std::string_view begin;
  std::string_view each;  // with commas between them
  std::string_view end;
};
constexpr OddBody kOddBodies[] = {
    {"reasoning items", "openai_responses", R"({"model":"m","input":[)",
     R"({"type":"reasoning","id":"rs_@","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"c2ln"},{"type":"message","role":"user","content":"x"})",
     "]}"},
    {"custom calls", "openai_responses",
     R"({"model":"m","tools":[{"type":"custom","name":"patch"}],"input":[)",
     R"({"type":"custom_tool_call","call_id":"c@","name":"patch","input":"x"},{"type":"custom_tool_call_output","call_id":"c@","output":"done"})",
     "]}"},
    {"custom tools", "openai_responses", R"({"model":"m","input":"x","tools":[)",
     R"({"type":"custom","name":"patch_@","format":{"type":"grammar","syntax":"regex","definition":"[a-z]{1,9}"}})",
     "]}"},
    {"include", "openai_responses", R"({"model":"m","input":"x","include":[)",
     R"("reasoning.encrypted_content")", "]}"},
    {"metadata", "openai_chat", R"({"model":"m","messages":[{"role":"user","content":"x"}],)",
     R"("member_@":1)", "}"},
    {"stops", "openai_chat", R"({"model":"m","messages":[{"role":"user","content":"x"}],"stop":[)",
     R"("stop @")", "]}"},
    {"images", "openai_chat", R"({"model":"m","messages":[{"role":"user","content":[)",
     R"({"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}})", "]}]}"},
    {"tool references", "anthropic_messages",
     R"({"model":"m","max_tokens":9,"tools":[{"name":"tool_0","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"tool_0","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[)",
     R"({"type":"tool_reference","tool_name":"tool_0"})", "]}]}]}"},
    {"thoughts", "anthropic_messages",
     R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[)",
     R"({"type":"thinking","thinking":"hm @","signature":"c2ln"},{"type":"text","text":"so"})",
     R"(]},{"role":"user","content":"x"}]})"},
    {"cache marks", "anthropic_messages",
     R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":[)",
     R"({"type":"text","text":"x @","cache_control":{"type":"ephemeral"}})", "]}]}"},
    {"parts", "gemini", R"({"contents":[{"role":"user","parts":[)",
     R"({"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"text":"x"})", "]}]}"},
    {"images", "ollama", R"({"model":"m","messages":[{"role":"user","content":"x","images":[)",
     R"("iVBORw0KGgo=")", "]}]}"},
};

}  // namespace callgate
