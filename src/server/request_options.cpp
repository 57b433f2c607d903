#include "server/request_options.h"

#include <algorithm>
#include <array>

namespace callgate::server {
namespace {

struct Choice {
  std::string_view header;
  std::string_view policy;
  std::string_view expected;
};

constexpr std::array<Choice, 14> kChoices = {{
    {"x-callgate-stop-after-tools", "stop_after_tools", "off, first or burst"},
    {"x-callgate-suppress-tail-after-tools", "suppress_tail_after_tools", "true or false"},
    {"x-callgate-tool-call-max", "tool_call_max", "a whole number"},
    {"x-callgate-call-whitespace", "call_whitespace", "true or false"},
    {"x-callgate-dedupe-calls", "dedupe_calls", "true or false"},
    {"x-callgate-undeclared-tools", "undeclared_tools", "pass, text or drop_with_note"},
    {"x-callgate-invalid-arguments", "invalid_arguments", "pass, repair or raw"},
    {"x-callgate-reasoning", "reasoning", "reasoning_content, reasoning, think_tags or hide"},
    {"x-callgate-call-id-style", "call_id_style", "native or random"},
    {"x-callgate-output", "output", "tool_calls, json, xml or xml_only"},
    {"x-proxy-output-mode", "output", "openai-json or obsidian-xml"},
    {"x-callgate-error-after-tools", "error_after_tools", "report or tool_calls"},
    {"x-callgate-estimate-usage", "estimate_usage", "true or false"},
    {"x-callgate-trailing-counters", "trailing_counters", "true or false"},
}};

const Choice* find_choice(std::string_view header) {
  const auto found = std::find_if(kChoices.begin(), kChoices.end(), [&](const Choice& choice) {
    return net::equals_ignoring_case(choice.header, header);
  });
  return found == kChoices.end() ? nullptr : &*found;
}

}  // namespace

Result<RequestOptions> read_options(const net::Headers& headers, const PolicyOptions& configured) {
  RequestOptions options{.policy = configured};
  for (const net::Header header : headers) {
    if (header.name.size() < 2 || (header.name[0] | 0x20) != 'x') continue;
    if (net::equals_ignoring_case(header.name, "x-callgate-timing")) {
      options.timing = header.value == "1" || header.value == "true";
      continue;
    }
    const Choice* choice = find_choice(header.name);
    if (choice == nullptr) continue;
    if (!set_policy(options.policy, choice->policy, header.value)) {
      return fail(ErrorCode::invalid_request, "header " + std::string(choice->header) + ": \"" +
                                                  std::string(header.value) + "\", expected " +
                                                  std::string(choice->expected));
    }
  }
  const std::uint32_t limit = configured.tool_call_max;
  std::uint32_t& asked = options.policy.tool_call_max;
  if (limit != 0 && (asked == 0 || asked > limit)) asked = limit;
  return options;
}

}  // namespace callgate::server
