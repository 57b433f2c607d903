#include "turn/request_options.h"

#include <algorithm>
#include <array>

#include "base/glob.h"
#include "base/url_query.h"

namespace callgate::server {
namespace {

struct Choice {
  std::string_view header;
  std::string_view policy;
  std::string_view expected;
};

constexpr std::array<Choice, 16> kChoices = {{
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
    {"x-callgate-split", "split", "none or sentences"},
    {"x-callgate-split-min-characters", "split_min_characters", "a whole number"},
}};

const Choice* find_choice(std::string_view header) {
  const auto found = std::find_if(kChoices.begin(), kChoices.end(), [&](const Choice& choice) {
    return net::equals_ignoring_case(choice.header, header);
  });
  return found == kChoices.end() ? nullptr : &*found;
}

Result<void> set_asked(PolicyOptions& policy, const Choice& choice, std::string_view where,
                       std::string_view value) {
  if (set_policy(policy, choice.policy, value)) return {};
  return fail(ErrorCode::invalid_request, std::string(where) + ": \"" + std::string(value) +
                                              "\", expected " + std::string(choice.expected));
}

// Other parameters are not ours to judge.
Result<void> read_query(std::string_view query, PolicyOptions& policy) {
  for (const UrlParameter& parameter : read_url_query(query)) {
    if (parameter.name != "split" && parameter.name != "split_min_characters") continue;
    const auto choice = std::find_if(kChoices.begin(), kChoices.end(), [&](const Choice& known) {
      return known.policy == parameter.name;
    });
    if (auto set = set_asked(policy, *choice, "query " + parameter.name, parameter.value); !set) {
      return set;
    }
  }
  return {};
}

}  // namespace

void choose_output(PolicyOptions& policy, std::string_view user_agent,
                   const OutputByClient& by_client) {
  const std::pair<std::string, std::string>* best = nullptr;
  for (const auto& row : by_client) {
    const bool longer = best == nullptr || row.first.size() > best->first.size();
    if (longer && glob_matches(row.first, user_agent, Case::ignored)) best = &row;
  }
  if (best != nullptr) (void)set_policy(policy, "output", best->second);
}

Result<RequestOptions> read_options(const net::Headers& headers, const PolicyOptions& configured,
                                    std::string_view query) {
  RequestOptions options{.policy = configured};
  for (const net::Header header : headers) {
    if (header.name.size() < 2 || (header.name[0] | 0x20) != 'x') continue;
    if (net::equals_ignoring_case(header.name, "x-callgate-timing")) {
      options.timing = header.value == "1" || header.value == "true";
      continue;
    }
    const Choice* choice = find_choice(header.name);
    if (choice == nullptr) continue;
    const std::string where = "header " + std::string(choice->header);
    if (auto set = set_asked(options.policy, *choice, where, header.value); !set) {
      return tl::unexpected(set.error());
    }
  }
  if (auto read = read_query(query, options.policy); !read) return tl::unexpected(read.error());
  const std::uint32_t limit = configured.tool_call_max;
  std::uint32_t& asked = options.policy.tool_call_max;
  if (limit != 0 && (asked == 0 || asked > limit)) asked = limit;
  return options;
}

}  // namespace callgate::server
