#include "upstream/openai_responses/responses_same.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "chat/body_mark.h"
#include "chat/sealed_reasoning.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/openai_responses/responses_input.h"
#include "upstream/openai_responses/responses_tools.h"

namespace callgate::upstream {
namespace {

// Members that callgate answers for itself, whatever the body says.
constexpr std::array<std::string_view, 10> kOwnMembers = {
    "model",   "stream",    "store", "background", "previous_response_id",
    "include", "stream_id", "type",  "generate",   "callgate"};

bool is_own_member(std::string_view name) {
  return std::find(kOwnMembers.begin(), kOwnMembers.end(), name) != kOwnMembers.end();
}

// `[a,b]` -> `a,b`
std::string_view elements(std::string_view list) {
  return list.size() < 2 || !list.starts_with('[') ? std::string_view()
                                                   : list.substr(1, list.size() - 2);
}

void append_elements(std::string& list, std::string_view more) {
  if (more.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
  if (list.back() != '[') list.push_back(',');
  list.append(more);
}

// Items of reasoning without the ids that callgate gave them, for the upstream keeps nothing under them. Empty: there are none.
std::string without_reasoning_ids(std::string_view input) {
  constexpr std::string_view kReasoning = "\"reasoning\"";
  if (!input.starts_with('[') || input.find(kReasoning) == std::string_view::npos) return {};
  std::string list = "[";
  json::Reader in(input);
  while (in.next_element()) {
    const std::string_view item = in.raw();
    if (list.back() != '[') list.push_back(',');
    if (json::given_member(item, "type") != kReasoning) {
      list.append(item);
      continue;
    }
    json::ObjectWriter object(list);
    json::Reader members(item);
    for (std::string_view key; members.next_member(key);) {
      const std::string name(key);
      const std::string_view value = members.raw();
      if (name != "id") object.raw_escaped(name, value);
    }
    object.close();
  }
  return list + "]";
}

// What callgate sealed for another upstream means nothing to this one: the messages have it open, or not at all.
bool holds_seal(std::string_view body) {
  return body.find("\"" + std::string(kReasoningSeal)) != std::string_view::npos;
}

class SameResponsesBody {
 public:
  SameResponsesBody(const Request& request, const EncodeOptions& options,
                    const std::string& canonical)
      : request_(request),
        canonical_(canonical),
        keeps_messages_(keeps_messages(request) && !request.client.compacts &&
                        !holds_seal(request.body.text)),
        keeps_tools_(keeps_tools(request)),
        object_(out_) {
    object_.string("model",
                   options.model.empty() ? std::string_view(request.model) : options.model);
  }

  std::string write() {
    json::Reader in(request_.body.text);
    for (std::string_view key; in.next_member(key);) {
      const std::string name(key);
      const std::string_view value = in.raw();
      if (!is_own_member(name) && value != "null") write_member(name, value);
    }
    write_rest();
    object_.close();
    return std::move(out_);
  }

 private:
  std::string_view changed(std::string_view name) const {
    return json::given_member(canonical_, name);
  }

  void write_member(const std::string& name, std::string_view value) {
    if (name == "input") return write_input(value);
    if (name == "tools") return write_tools(value);
    // Where the prompt was rewritten, all of it is in the input.
    if (name == "instructions" && !keeps_messages_) return;
    if (name == "tool_choice" || name == "parallel_tool_calls") {
      const std::string_view now = keeps_tools_ ? value : changed(name);
      if (!now.empty()) object_.raw(name, now);
      return;
    }
    if (name == "reasoning") {
      const std::string_view effort = json::given_member(changed(name), "effort");
      const bool same = effort.empty() || effort == json::given_member(value, "effort");
      return object_.raw(name, same ? value : changed(name));
    }
    const std::string_view now = changed(name);
    // A number or text that was forced.
    const bool scalar = !now.empty() && !now.starts_with('{') && !now.starts_with('[');
    object_.raw_escaped(name, scalar ? now : value);
  }

  void write_input(std::string_view value) {
    if (!keeps_messages_) return object_.raw("input", changed("input"));
    const std::string anonymous = without_reasoning_ids(value);
    if (!anonymous.empty()) value = anonymous;
    if (request_.messages.size() == request_.client.messages) return object_.raw("input", value);
    Request more;
    more.messages.assign(
        request_.messages.begin() + static_cast<std::ptrdiff_t>(request_.client.messages),
        request_.messages.end());
    std::string list = "[";
    if (value.starts_with('"')) {
      list.append(R"({"type":"message","role":"user","content":)").append(value).append("}");
    } else {
      append_elements(list, elements(value));
    }
    append_elements(list, elements(encode_responses_input(more).items));
    object_.raw("input", list + "]");
  }

  void write_tools(std::string_view value) {
    if (!keeps_tools_) {
      if (const std::string_view now = changed("tools"); !now.empty()) object_.raw("tools", now);
      return;
    }
    if (request_.tools.size() == request_.client.tools) return object_.raw("tools", value);
    Request more;
    more.tools.assign(request_.tools.begin() + static_cast<std::ptrdiff_t>(request_.client.tools),
                      request_.tools.end());
    std::string list = "[";
    append_elements(list, elements(value));
    append_elements(list, elements(responses_tools(more)));
    object_.raw("tools", list + "]");
  }

  // What the body did not have.
  void write_rest() {
    json::Reader in(canonical_);
    for (std::string_view key; in.next_member(key);) {
      const std::string name(key);
      const std::string_view value = in.raw();
      const bool given = !json::given_member(request_.body.text, name).empty();
      if (name == "include") {
        write_include(value);
      } else if (name == "store" || name == "stream" || (!given && name != "model")) {
        object_.raw(name, value);
      }
    }
  }

  // What the client wants to see, and what callgate needs.
  void write_include(std::string_view needed) {
    const std::string_view given = json::given_member(request_.body.text, "include");
    std::string list = "[";
    append_elements(list, elements(given));
    json::Reader in(needed);
    while (in.next_element()) {
      const std::string_view element = in.raw();
      if (given.find(element) == std::string_view::npos) append_elements(list, element);
    }
    object_.raw("include", list + "]");
  }

  const Request& request_;
  const std::string& canonical_;
  const bool keeps_messages_;
  const bool keeps_tools_;
  std::string out_;
  json::ObjectWriter object_;
};

}  // namespace

std::string same_format_body(const Request& request, const EncodeOptions& options,
                             const std::string& canonical) {
  return SameResponsesBody(request, options, canonical).write();
}

}  // namespace callgate::upstream
