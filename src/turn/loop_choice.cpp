#include "turn/loop_choice.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "access/access.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "client/gemini/gemini.h"
#include "config/tool_config.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

struct LoopOptions {
  std::optional<bool> on;
  std::optional<bool> show;
  std::optional<std::vector<std::string>> tools;
  std::optional<std::int64_t> rounds;
  std::optional<std::int64_t> calls;
  std::optional<TextSplit> split;
  std::optional<std::uint32_t> split_min_characters;
  std::string conversation;
  std::string memory;
};

constexpr std::size_t kLongestConversation = 200;

tl::unexpected<Error> expected(std::string_view name, std::string_view what) {
  const std::string field = "callgate." + shortened(name);
  return fail(ErrorCode::invalid_request, field + ": expected " + std::string(what), field);
}

Result<void> read_member(json::Reader& in, const std::string& name, LoopOptions& asked) {
  const json::Kind kind = in.peek();
  if (name == "loop" || name == "show_tool_calls") {
    if (kind != json::Kind::boolean) return expected(name, "true or false");
    (name == "loop" ? asked.on : asked.show) = in.boolean();
  } else if (name == "max_tool_rounds" || name == "max_calls") {
    std::optional<std::int64_t> number;
    if (kind == json::Kind::number) number = in.integer();
    if (!number || *number < 0) return expected(name, "a whole number, 0 or more");
    (name == "max_calls" ? asked.calls : asked.rounds) = number;
  } else if (name == "split") {
    PolicyOptions policy;
    const bool known = kind == json::Kind::string && set_policy(policy, name, in.string());
    if (!known) return expected(name, "none or sentences");
    asked.split = policy.split;
  } else if (name == "split_min_characters") {
    std::optional<std::int64_t> number;
    if (kind == json::Kind::number) number = in.integer();
    const bool fits = number && *number >= 0 && *number <= std::int64_t{1} << 31;
    if (!fits) return expected(name, "a whole number, 0 or more");
    asked.split_min_characters = static_cast<std::uint32_t>(*number);
  } else if (name == "tools") {
    if (kind != json::Kind::array) return expected(name, "a list of names");
    asked.tools.emplace();
    while (in.next_element()) {
      if (in.peek() != json::Kind::string) return expected(name, "a list of names");
      asked.tools->emplace_back(in.string());
    }
  } else if (name == "conversation" || name == "memory") {
    if (kind != json::Kind::string) return expected(name, "some text");
    (name == "memory" ? asked.memory : asked.conversation) = in.string();
  } else {
    return expected(name,
                    "loop, tools, show_tool_calls, max_tool_rounds, max_calls, split, conversation "
                    "or memory here");
  }
  return {};
}

Result<LoopOptions> read_asked(Request& request) {
  LoopOptions asked;
  const auto found = std::find_if(request.extra.begin(), request.extra.end(),
                                  [](const ExtraField& field) { return field.name == "callgate"; });
  if (found == request.extra.end()) return asked;
  const std::string text = std::move(found->value.text);
  request.extra.erase(found);
  json::Reader in(text);
  if (in.peek() != json::Kind::object) {
    return fail(ErrorCode::invalid_request, "callgate: expected an object", "callgate");
  }
  for (std::string_view key; in.next_member(key);) {
    if (auto read = read_member(in, std::string(key), asked); !read) {
      return tl::unexpected(read.error());
    }
  }
  return asked;
}

// What the request remembers, if it names a conversation and wants that.
Result<void> choose_memory(const LoopOptions& asked, const std::string& name, const Config& config,
                           LoopChoice& choice) {
  const bool odd = std::any_of(name.begin(), name.end(), [](unsigned char letter) {
    return letter < 0x20 || letter == 0x7f;
  });
  if (odd || name.size() > kLongestConversation || !utf8::is_valid(name)) {
    return expected("conversation", "up to 200 bytes without control characters");
  }
  loop::Options chosen;
  const std::string& mode = asked.memory.empty() ? config.loop.memory : asked.memory;
  if (!loop::set_option(chosen, "memory", mode)) {
    return expected("memory", "outside, inside or none");
  }
  choice.options.memory = name.empty() ? loop::Memory::none : chosen.memory;
  if (choice.options.memory != loop::Memory::none) choice.conversation = name;
  return {};
}

// 0 is no limit for calls, but no round for rounds.
void lower(std::uint32_t& limit, std::int64_t wanted, bool zero_is_no_limit) {
  if (zero_is_no_limit && wanted == 0) return;
  if (zero_is_no_limit && limit == 0) limit = static_cast<std::uint32_t>(-1);
  limit = static_cast<std::uint32_t>(std::min<std::int64_t>(limit, wanted));
}

// Callgate's own tools that the caller may use.
std::vector<std::string_view> usable_names(const std::vector<loop::Tool>& tools,
                                           const KeyConfig* key) {
  std::vector<std::string_view> names;
  for (const loop::Tool& tool : tools) {
    if (key == nullptr || may_use_tool(*key, tool.spec.name)) names.push_back(tool.spec.name);
  }
  return names;
}

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A tool that the key may not use is spoken of as one that does not exist.
Result<void> keep_wanted(std::vector<loop::Tool>& tools, const std::vector<std::string>& names,
                         const KeyConfig* key) {
  const std::vector<std::string_view> usable = usable_names(tools, key);
  for (const std::string& name : names) {
    if (contains(usable, name)) continue;
    std::string message =
        "callgate.tools: there is no tool " + in_quotes(name) + " for this model and key; known:";
    constexpr std::size_t kMostNamed = 100;
    for (std::size_t i = 0; i < std::min(kMostNamed, usable.size()); ++i) {
      message.append(" ").append(usable[i]);
    }
    if (usable.size() > kMostNamed) message += " ...";
    if (usable.empty()) message += " none";
    return fail(ErrorCode::invalid_request, std::move(message), "callgate.tools");
  }
  std::erase_if(tools, [&](const loop::Tool& tool) { return !contains(names, tool.spec.name); });
  return {};
}

}  // namespace

void LoopChoice::apply_to(PolicyOptions& policy) const {
  policy.split = split.value_or(policy.split);
  policy.split_min_characters = split_min_characters.value_or(policy.split_min_characters);
}

// As the client's protocol calls it.
static std::string choice_field(const Request& request) {
  const bool gemini = request.origin == client::kGemini.name;
  return gemini ? "toolConfig.functionCallingConfig" : "tool_choice";
}

Result<void> check_tool_choice(const Request& request, std::span<const std::string_view> own) {
  const ToolChoice& choice = request.tool_choice;
  const std::string field = choice_field(request);
  const bool has_tools = !request.tools.empty() || !request.other_tools.empty() || !own.empty();
  if (choice.mode == ToolChoice::Mode::required && !has_tools) {
    return fail(ErrorCode::invalid_request,
                field + ": \"required\" without tools, expected tools to choose from", field);
  }
  if (choice.mode != ToolChoice::Mode::named) return {};
  const bool declared = std::any_of(request.tools.begin(), request.tools.end(),
                                    [&](const ToolSpec& tool) { return tool.name == choice.name; });
  if (declared || contains(own, choice.name)) return {};
  std::string message = field + ": ";
  json::append_string(message, choice.name);
  return fail(ErrorCode::invalid_request, message + ", expected a declared tool", field);
}

static Result<LoopChoice> choose(Request& request, const net::Headers& headers,
                                 const Config& config, const ModelConfig& model,
                                 const KeyConfig* key, const tool::Catalogue* tools) {
  const Result<LoopOptions> asked = read_asked(request);
  if (!asked) return tl::unexpected(asked.error());
  LoopChoice choice;
  choice.split = asked->split;
  choice.split_min_characters = asked->split_min_characters;
  choice.on = model.loop;
  if (const std::string_view header = headers.find("x-callgate-loop").value_or("");
      !header.empty()) {
    choice.on = header == "1" || header == "true";
  }
  choice.on = asked->on.value_or(choice.on);
  std::string conversation = asked->conversation;
  if (conversation.empty()) conversation = headers.find("x-callgate-conversation").value_or("");
  if (!choice.on && conversation.empty()) return choice;
  choice.options = *to_loop_options(config.loop);
  if (auto chosen = choose_memory(*asked, conversation, config, choice); !chosen) {
    return tl::unexpected(chosen.error());
  }
  const bool with_tools = choice.on;
  choice.on = choice.on || !choice.conversation.empty();
  if (!choice.on) return choice;
  choice.options.show_tool_calls = asked->show.value_or(choice.options.show_tool_calls);
  if (asked->rounds) lower(choice.options.max_tool_rounds, *asked->rounds, false);
  if (asked->calls) lower(choice.options.max_calls, *asked->calls, true);
  if (key != nullptr) {
    choice.options.key = key->name;
    choice.options.rules.push_back({.key = "*", .allow = key->tools, .deny = key->deny_tools});
    if (key->tools.empty()) choice.options.rules.back().deny = {"*"};
  }
  if (tools != nullptr && with_tools) choice.tools = loop_tools(*tools, config, model.loop_tools);
  for (loop::Tool& tool : choice.tools) {
    const loop::Millis most = choice.options.tool_timeout;
    if (tool.timeout == 0 || (most > 0 && most < tool.timeout)) tool.timeout = most;
  }
  if (asked->tools) {
    if (auto kept = keep_wanted(choice.tools, *asked->tools, key); !kept) {
      return tl::unexpected(kept.error());
    }
  }
  return choice;
}

Result<LoopChoice> choose_loop(Request& request, const net::Headers& headers, const Config& config,
                               const ModelConfig& model, const KeyConfig* key,
                               const tool::Catalogue* tools) {
  auto choice = choose(request, headers, config, model, key, tools);
  if (!choice) return choice;
  const auto checked = check_tool_choice(request, usable_names(choice->tools, key));
  if (!checked) return tl::unexpected(checked.error());
  return choice;
}

}  // namespace callgate::server
