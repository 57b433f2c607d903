#include "upstream/gemini/gemini_conversation.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "json/writer.h"
#include "upstream/gemini/gemini.h"
#include "upstream/gemini/gemini_origin.h"
#include "upstream/gemini/gemini_part.h"

namespace callgate::upstream {
namespace {

using Parts = std::vector<std::string>;

void append_parts(std::string& out, const Parts& parts) {
  for (const std::string& part : parts) {
    if (out.back() != '[') out.push_back(',');
    out.append(part);
  }
}

void move_into(Parts& target, Parts parts) {
  target.insert(target.end(), std::make_move_iterator(parts.begin()),
                std::make_move_iterator(parts.end()));
}

class GeminiWriter {
 public:
  GeminiWriter(const std::vector<Message>& messages, GeminiModel model, std::string_view origin)
      : messages_(messages), model_(model), origin_(origin) {}

  GeminiConversation write() {
    for (at_ = 0; at_ < messages_.size(); ++at_) {
      if (!add_as_written()) add(messages_[at_]);
    }
    GeminiConversation made{.dropped = std::move(dropped_)};
    // A conversation has a content. Where there are only system prompts, they are it.
    if (contents_.empty() && !system_.empty()) {
      contents_.emplace_back().parts = std::exchange(system_, {});
      own_system_ = {};
    }
    if (!own_system_.empty()) {
      made.system = own_system_;
    } else if (!system_.empty()) {
      made.system = R"({"parts":[)";
      append_parts(made.system, system_);
      made.system += "]}";
    }
    append_contents(made.contents);
    return made;
  }

 private:
  struct ToolAnswer {
    std::size_t call = 0;  // which call of the conversation it answers
    Parts parts;
  };
  struct Content {
    bool model = false;
    std::string_view as_written;  // by a client of this format
    std::vector<ToolAnswer> results;
    Parts parts;
  };
  struct PastCall {
    std::string id;
    std::string name;
    bool answered = false;
  };

  void add(const Message& message) {
    switch (message.role) {
      case Role::system:
      case Role::developer:
        note_name(message);
        own_system_ = system_.empty() ? origin_.system(message) : std::string_view();
        return move_into(system_, parts_in(message.content));
      case Role::user:
        note_name(message);
        return add_user(message);
      case Role::assistant:
        note_name(message);
        return add_assistant(message);
      case Role::tool:
        return content(false).results.push_back(answer_of(message));
    }
  }

  // Messages of one side that follow one another are one content.
  Content& content(bool model) {
    if (contents_.empty() || contents_.back().model != model ||
        !contents_.back().as_written.empty()) {
      contents_.emplace_back().model = model;
    }
    return contents_.back();
  }

  // True: the messages from here on went out as the client wrote them, and at_ is the last of them.
  bool add_as_written() {
    if (is_prompt(messages_[at_])) return false;
    const auto match = origin_.match(messages_, at_);
    if (!match) return false;
    for (std::size_t i = at_; i < at_ + match->messages; ++i) {
      for (const CallRecord& call : messages_[i].calls) remember(call);
      if (messages_[i].role == Role::tool) (void)call_answered(messages_[i]);
    }
    for (const std::string_view json : match->contents) {
      contents_.emplace_back().as_written = json;
      contents_.back().model = messages_[at_].role == Role::assistant;
    }
    at_ += match->messages - 1;
    return true;
  }

  Parts parts_in(const RawJson& json) {
    Parts made;
    const std::vector<ContentPart> parts = parts_of(json);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      bool lost = false;
      std::string part = gemini_part(parts[i], lost);
      if (!part.empty()) made.push_back(std::move(part));
      if (lost) drop("content[" + std::to_string(i) + "]", true);
    }
    return made;
  }

  void add_user(const Message& message) {
    Parts parts = parts_in(message.content);
    if (parts.empty()) return drop("content", true);
    move_into(content(false).parts, std::move(parts));
  }

  void add_assistant(const Message& message) {
    const std::vector<GeminiSignature> signatures = gemini_signatures(message);
    const auto signature_on = [&](std::string_view part) {
      std::string_view found;
      for (const GeminiSignature& each : signatures) {
        if (!each.call && each.id == part) found = each.data;
      }
      return found;
    };
    Parts parts;
    if (const std::string_view signature = signature_on(kGeminiThoughtPart); !signature.empty()) {
      parts.push_back(gemini_text(reasoning_of(message), signature, true));
    }
    add_text(message, signature_on(kGeminiTextPart), parts);
    add_calls(message, signatures, parts);
    if (const std::string_view signature = signature_on(kGeminiEndPart); !signature.empty()) {
      parts.push_back(gemini_text("", signature));
    }
    if (!find_field(message.extra, "tool_calls").empty()) drop("tool_calls", true);
    if (!find_field(message.extra, "audio").empty()) drop("audio", true);
    if (!parts.empty()) move_into(content(true).parts, std::move(parts));
  }

  static std::string reasoning_of(const Message& message) {
    const std::string reasoning = field_text(message.extra, "reasoning_content");
    return reasoning.empty() ? field_text(message.extra, "reasoning") : reasoning;
  }

  // The last part of the text has the signature.
  void add_text(const Message& message, std::string_view signature, Parts& parts) {
    Parts text = parts_in(message.content);
    const std::string refusal = field_text(message.extra, "refusal");
    if (text.empty() && !refusal.empty()) text.push_back(gemini_text(refusal, {}));
    if (!text.empty() && !signature.empty()) {
      text.back().pop_back();
      json::append_string(text.back() += ",\"thoughtSignature\":", signature);
      text.back().push_back('}');
    }
    move_into(parts, std::move(text));
  }

  void add_calls(const Message& message, const std::vector<GeminiSignature>& signatures,
                 Parts& parts) {
    const std::vector<std::string_view> signed_with = signatures_on_calls(message, signatures);
    for (std::size_t i = 0; i < message.calls.size(); ++i) {
      const CallRecord& call = message.calls[i];
      std::string_view signature = signed_with[i];
      const bool wanted = i == 0 && model_ == GeminiModel::levelled;
      if (signature.empty() && wanted) signature = kGeminiNoSignature;
      parts.push_back(gemini_call(call, gemini_call_id(call.id), signature));
      remember(call);
    }
  }

  void remember(const CallRecord& call) {
    if (call.id.empty()) unnamed_.push_back(calls_.size());
    latest_[call.id] = calls_.size();
    calls_.push_back({call.id, call.name});
  }

  // One for each call, by id. A signature whose id no call has goes by its place.
  static std::vector<std::string_view> signatures_on_calls(
      const Message& message, const std::vector<GeminiSignature>& signatures) {
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < message.calls.size(); ++i) places.emplace(message.calls[i].id, i);
    std::vector<std::string_view> found(message.calls.size());
    for (const GeminiSignature& signature : signatures) {
      const auto named = signature.id.empty() ? places.end() : places.find(signature.id);
      if (named != places.end()) {
        found[named->second] = signature.data;
      } else if (signature.call && *signature.call >= 0 &&
                 *signature.call < static_cast<std::int64_t>(found.size())) {
        found[static_cast<std::size_t>(*signature.call)] = signature.data;
      }
    }
    return found;
  }

  // By id. A result without one answers the first call without one, else the first that has no result yet.
  std::size_t call_answered(const Message& message) {
    std::size_t found = calls_.size();
    if (!message.tool_call_id.empty()) {
      const auto known = latest_.find(message.tool_call_id);
      if (known != latest_.end()) found = known->second;
    } else if (!unnamed_.empty()) {
      found = unnamed_.front();
      unnamed_.pop_front();
    } else {
      while (next_ < calls_.size() && calls_[next_].answered) ++next_;
      found = next_;
    }
    if (found < calls_.size()) calls_[found].answered = true;
    return found;
  }

  ToolAnswer answer_of(const Message& message) {
    ToolAnswer answer{.call = call_answered(message)};
    const bool known = answer.call < calls_.size();
    const std::string& id = known ? calls_[answer.call].id : message.tool_call_id;
    std::string out;
    json::ObjectWriter object(out);
    json::ObjectWriter response(object.key("functionResponse"));
    if (const std::string_view own = gemini_call_id(id); !own.empty()) response.string("id", own);
    // Without a call there is no name either, but the API wants one.
    response.string("name", known                  ? std::string_view(calls_[answer.call].name)
                            : message.name.empty() ? std::string_view("unknown")
                                                   : std::string_view(message.name));
    const bool failed = field_text(message.extra, "is_error") == "true";
    response.raw("response", gemini_response(text_of(message.content), failed));
    Parts media = media_in(message.content);
    const bool inside = model_ == GeminiModel::levelled;
    if (inside && !media.empty()) {
      response.key("parts").push_back('[');
      append_parts(out, media);
      out.push_back(']');
    }
    response.close();
    object.close();
    answer.parts.push_back(std::move(out));
    if (!inside) move_into(answer.parts, std::move(media));
    return answer;
  }

  // What a result holds beside text.
  Parts media_in(const RawJson& json) {
    Parts media;
    const std::vector<ContentPart> parts = parts_of(json);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].kind == ContentPart::Kind::text) continue;
      bool lost = false;
      std::string part = gemini_part(parts[i], lost);
      if (lost) drop("content[" + std::to_string(i) + "]", true);
      if (!part.empty()) media.push_back(std::move(part));
    }
    return media;
  }

  void append_contents(std::string& out) {
    out.push_back('[');
    for (Content& content : contents_) {
      if (out.back() != '[') out.push_back(',');
      if (!content.as_written.empty()) {
        out.append(content.as_written);
        continue;
      }
      std::stable_sort(content.results.begin(), content.results.end(),
                       [](const auto& a, const auto& b) { return a.call < b.call; });
      json::ObjectWriter object(out);
      object.string("role", content.model ? "model" : "user");
      object.key("parts").push_back('[');
      for (const ToolAnswer& answer : content.results) append_parts(out, answer.parts);
      append_parts(out, content.parts);
      out.push_back(']');
      object.close();
    }
    out.push_back(']');
  }

  void note_name(const Message& message) {
    if (!message.name.empty()) drop("name", false);
  }

  void drop(std::string_view what, bool changes_meaning) {
    dropped_.push_back(
        {"messages[" + std::to_string(at_) + "]." + std::string(what), changes_meaning});
  }

  const std::vector<Message>& messages_;
  const GeminiModel model_;
  GeminiOrigin origin_;
  std::string_view own_system_;
  std::size_t at_ = 0;
  Parts system_;
  std::vector<Content> contents_;
  std::vector<PastCall> calls_;                          // of the whole conversation
  std::unordered_map<std::string, std::size_t> latest_;  // by id: the last one of that id
  std::deque<std::size_t> unnamed_;                      // without an id and without an answer
  std::size_t next_ = 0;                                 // the first that may lack its answer
  std::vector<DroppedField> dropped_;
};

}  // namespace

GeminiConversation encode_gemini_conversation(const std::vector<Message>& messages,
                                              std::string_view model, std::string_view origin) {
  return GeminiWriter(messages, gemini_model(model), origin).write();
}

}  // namespace callgate::upstream
