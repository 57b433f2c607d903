#include "engine/prepare_request.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/fnv1a.h"
#include "chat/content.h"
#include "chat/replayed_calls.h"
#include "chat/scrubbed.h"
#include "dialect/render/render.h"
#include "dialect/render/tool_prompt.h"
#include "json/writer.h"

namespace callgate::engine {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_kimi_id(std::string_view id) {
  const std::size_t colon = id.rfind(':');
  return id.starts_with("functions.") && colon != std::string_view::npos &&
         all_digits(id.substr(colon + 1));
}

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr std::size_t kMistralSize = 9;

bool is_mistral_id(std::string_view id) {
  return id.size() == kMistralSize && std::all_of(id.begin(), id.end(), is_alphanumeric);
}

// The same id gives the same nine characters in every turn of a conversation.
std::string mistral_id(std::string_view id) {
  constexpr std::string_view kDigits =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::uint64_t hash = fnv1a(id);
  std::string text;
  for (std::size_t i = 0; i < kMistralSize; ++i, hash /= kDigits.size()) {
    text += kDigits[hash % kDigits.size()];
  }
  return text;
}

class CallIds {
 public:
  CallIds(CallIdForm form, const std::vector<Message>& messages) : form_(form) {
    for (const Message& message : messages) {
      for (const CallRecord& call : message.calls) taken_.insert(call.id);
    }
  }

  void map_call(CallRecord& call) {
    const std::string id = call.id;
    switch (form_) {
      case CallIdForm::any:
        return;
      case CallIdForm::kimi:
        if (!is_kimi_id(id)) call.id = next_kimi_id(call.name);
        ++number_;
        break;
      case CallIdForm::mistral:
        if (!is_mistral_id(id)) call.id = mistral_id(id);
        break;
    }
    mapped_[id] = call.id;
  }

  void map_result(std::string& id) const {
    const auto found = mapped_.find(id);
    if (found != mapped_.end()) {
      id = found->second;
    } else if (form_ == CallIdForm::mistral && !id.empty() && !is_mistral_id(id)) {
      id = mistral_id(id);
    }
  }

 private:
  std::string next_kimi_id(const std::string& name) {
    for (;; ++number_) {
      std::string id = "functions." + name + ":" + std::to_string(number_);
      if (taken_.insert(id).second) return id;
    }
  }

  CallIdForm form_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::string> mapped_;
  std::uint32_t number_ = 0;
};

void map_call_ids(CallIdForm form, std::vector<Message>& messages) {
  if (form == CallIdForm::any) return;
  CallIds ids(form, messages);
  for (Message& message : messages) {
    for (CallRecord& call : message.calls) ids.map_call(call);
    if (message.role == Role::tool) ids.map_result(message.tool_call_id);
  }
}

void keep_system_prompts(SystemPrompts rule, std::vector<Message>& messages) {
  switch (rule) {
    case SystemPrompts::pass:
      return;
    case SystemPrompts::drop:
      std::erase_if(messages, is_prompt);
      return;
    case SystemPrompts::first: {
      bool seen = false;
      std::erase_if(messages, [&](const Message& message) {
        return is_prompt(message) && std::exchange(seen, true);
      });
      return;
    }
  }
}

void force_params(const std::vector<ExtraField>& params, std::vector<ExtraField>& extra) {
  for (const ExtraField& param : params) {
    std::erase_if(extra, [&](const ExtraField& field) { return field.name == param.name; });
    // One limit of tokens goes by two names.
    if (param.name == "max_tokens" || param.name == "max_completion_tokens") {
      std::erase_if(extra, [](const ExtraField& field) {
        return field.name == "max_tokens" || field.name == "max_completion_tokens";
      });
    }
    extra.push_back(param);
  }
}

// Appends text to what a message already says, whatever its form.
void append_text(Message& message, std::string_view text) {
  const std::vector<ContentPart> parts = parts_of(message.content);
  const bool only_text = std::all_of(parts.begin(), parts.end(), [](const ContentPart& part) {
    return part.kind == ContentPart::Kind::text;
  });
  if (only_text) {
    std::string whole = text_of(message.content);
    if (!whole.empty()) whole += "\n\n";
    message.content = text_content(whole.append(text));
    return;
  }
  std::string& array = message.content.text;
  array.pop_back();
  array += ",{\"type\":\"text\",\"text\":";
  json::append_string(array, text);
  array += "}]";
}

// Calls as the model would have written them. No dialect writes arguments other than an object: those are shown as they are.
void write_calls(std::string_view dialect, Message& message) {
  std::string text;
  if (!dialect::render_calls(dialect, message.calls, text)) {
    for (const CallRecord& call : message.calls) {
      text.append(text.empty() ? "" : "\n").append(call.name).append(" ").append(call.arguments);
    }
  }
  message.calls.clear();
  append_text(message, text);
}

// Assistant calls become text, and each run of results one message of the user.
class HistoryWriter {
 public:
  explicit HistoryWriter(std::string_view dialect) : dialect_(dialect) {}

  std::vector<Message> write(std::vector<Message> messages) {
    for (Message& message : messages) {
      if (message.role == Role::tool) {
        results_.push_back({.id = message.tool_call_id,
                            .name = names_[message.tool_call_id],
                            .text = text_of(message.content)});
        continue;
      }
      flush();
      for (const CallRecord& call : message.calls) names_[call.id] = call.name;
      if (!message.calls.empty()) write_calls(dialect_, message);
      written_.push_back(std::move(message));
    }
    flush();
    return std::move(written_);
  }

 private:
  void flush() {
    if (results_.empty()) return;
    std::string text;
    dialect::render_results(dialect_, results_, text);
    Message message;
    message.content = text_content(text);
    written_.push_back(std::move(message));
    results_.clear();
  }

  std::string_view dialect_;
  std::unordered_map<std::string, std::string> names_;
  std::vector<dialect::ToolResult> results_;
  std::vector<Message> written_;
};

// The first system prompt says this as well.
void append_to_system(std::vector<Message>& messages, std::string_view text) {
  auto system = std::find_if(messages.begin(), messages.end(), is_prompt);
  if (system == messages.end()) {
    Message message;
    message.role = Role::system;
    system = messages.insert(messages.begin(), std::move(message));
  }
  append_text(*system, text);
}

void write_tools(std::string_view dialect, Request& request) {
  if (!request.tools.empty() && request.tool_choice.mode != ToolChoice::Mode::none) {
    std::string prompt;
    dialect::render_tool_prompt(
        dialect, request.tools,
        {.choice = request.tool_choice, .parallel = request.parallel_tool_calls.value_or(true)},
        prompt);
    append_to_system(request.messages, prompt);
  }
  request.messages = HistoryWriter(dialect).write(std::move(request.messages));
  request.tools.clear();
  request.tool_choice = {};
  request.parallel_tool_calls.reset();
  request.legacy_functions = false;
}

// The upstream's own template shows the tools. What the client's `tool_choice` insists on is said in words, for the
// server is not told; tools that must not be used are not shown.
void leave_calls_in_text(const TextTools& text, Request& request) {
  if (request.tools.empty()) return;
  const ToolChoice choice = std::exchange(request.tool_choice, {});
  if (choice.mode == ToolChoice::Mode::none) {
    request.tools.clear();
    request.parallel_tool_calls.reset();
    return;
  }
  if (text.choose_none) request.tool_choice.mode = ToolChoice::Mode::none;
  if (text.keep_special_tokens) {
    force_params({{.name = "skip_special_tokens", .value = {"false"}}}, request.extra);
  }
  const std::string rule = dialect::required_call_rule(choice);
  if (!rule.empty()) append_to_system(request.messages, rule);
}

}  // namespace

bool RequestRules::change_anything() const {
  return system != SystemPrompts::pass || call_ids != CallIdForm::any || !prompt_dialect.empty() ||
         !params.empty() || strip_replayed_calls || !scrub.empty();
}

CallIdForm call_ids_of(std::string_view dialect) {
  if (dialect == "kimi_k2") return CallIdForm::kimi;
  if (dialect == "mistral_old" || dialect == "mistral_v13") return CallIdForm::mistral;
  return CallIdForm::any;
}

Request prepare_request(const Request& request, const RequestRules& rules,
                        const std::optional<TextTools>& text) {
  Request prepared = request;
  prepared.body = {};  // it says something else from here on
  scrub_request(prepared, rules.scrub);
  if (rules.strip_replayed_calls) strip_replayed_calls(prepared.messages);
  keep_system_prompts(rules.system, prepared.messages);
  map_call_ids(rules.call_ids, prepared.messages);
  if (!rules.prompt_dialect.empty()) write_tools(rules.prompt_dialect, prepared);
  if (text) leave_calls_in_text(*text, prepared);
  force_params(rules.params, prepared.extra);
  return prepared;
}

}  // namespace callgate::engine
