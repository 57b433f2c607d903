#include "script/demo_model.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "chat/call_names.h"
#include "json/schema_sample.h"
#include "script/message_text.h"

namespace callgate::script {
namespace {

constexpr std::size_t kMaxQuote = 2000;

std::string quote(std::string_view text) {
  if (text.size() <= kMaxQuote) return std::string(text);
  std::string_view start = text.substr(0, kMaxQuote);
  start.remove_suffix(utf8::incomplete_tail(start));
  return std::string(start) + "...";
}

Say text_part(std::string text) { return Say{Voice::text, {std::move(text)}}; }

// The tool results that nothing but assistant text follows, with the messages before them.
struct Results {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool empty() const { return begin == end; }
};

Results open_results(const std::vector<Message>& messages) {
  std::size_t end = messages.size();
  while (end > 0 && messages[end - 1].role == Role::assistant && messages[end - 1].calls.empty()) {
    --end;
  }
  std::size_t begin = end;
  while (begin > 0 && messages[begin - 1].role == Role::tool) --begin;
  return {begin, end};
}

std::string tool_name(const CallNames& names, const Message& result) {
  if (const std::string_view name = names.find(result.tool_call_id); !name.empty()) {
    return std::string(name);
  }
  return result.name.empty() ? "The tool" : result.name;
}

std::string answer_results(const std::vector<Message>& messages, const Results& results) {
  std::string text;
  CallNames names;
  for (const Message& message : messages) names.add(message);
  for (std::size_t i = results.begin; i < results.end; ++i) {
    if (!text.empty()) text.push_back('\n');
    text += tool_name(names, messages[i]) + " says: " + quote(any_text_of(messages[i].content));
  }
  return text;
}

std::vector<const ToolSpec*> tools_to_call(const Request& request, bool both) {
  const ToolSpec* first = &request.tools.front();
  const bool named = request.tool_choice.mode == ToolChoice::Mode::named;
  if (named) {
    const auto found =
        std::find_if(request.tools.begin(), request.tools.end(),
                     [&](const ToolSpec& tool) { return tool.name == request.tool_choice.name; });
    if (found != request.tools.end()) first = &*found;
  }
  if (!both || !request.parallel_tool_calls.value_or(true)) return {first};
  return {first, !named && request.tools.size() > 1 ? &request.tools[1] : first};
}

void add_demo_calls(std::vector<Part>& parts, const Request& request, std::string_view user) {
  const bool both = user.find("both") != std::string_view::npos;
  const std::vector<const ToolSpec*> tools = tools_to_call(request, both);
  std::string text = "Let me ask " + tools.front()->name;
  if (tools.size() > 1) text += tools[0] == tools[1] ? " twice" : " and " + tools[1]->name;
  parts.push_back(text_part(text + "."));
  for (std::size_t i = 0; i < tools.size(); ++i) {
    // The second call of one tool asks for something else.
    const std::size_t first_word = i > 0 && tools[i] == tools[0] ? 1 : 0;
    parts.push_back(Call{
        tools[i]->name, {json::sample_arguments(tools[i]->parameters.text, user, first_word)}, {}});
  }
}

std::string small_talk(const Request& request, std::string_view user) {
  std::string text = "Hello from the demo model behind callgate. ";
  if (user.empty()) {
    text += "Say something, and I will repeat it.";
  } else {
    text += "You said: \"" + quote(user) + "\". ";
    text += request.tools.empty() ? "Declare a tool, and I will call it."
                                  : "Tools are off for this turn, so I call none.";
  }
  return text;
}

}  // namespace

std::vector<Part> demo_turn(const Request& request) {
  const std::string user = last_text(request, Role::user);
  std::vector<Part> parts;
  if (user.find("think") != std::string::npos) {
    parts.push_back(Say{Voice::reasoning, {"The user wants me to think. I will answer briefly."}});
  }
  const Results results = open_results(request.messages);
  if (!results.empty()) {
    parts.push_back(text_part(answer_results(request.messages, results)));
  } else if (!request.tools.empty() && request.tool_choice.mode != ToolChoice::Mode::none) {
    add_demo_calls(parts, request, user);
  } else {
    parts.push_back(text_part(small_talk(request, user)));
  }
  return parts;
}

}  // namespace callgate::script
