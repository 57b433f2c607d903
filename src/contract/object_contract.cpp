#include "contract/object_contract.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "base/utf8.h"
#include "contract/chat_contract.h"
#include "contract/event_contract.h"
#include "json/each.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "sse/decoder.h"

namespace callgate::contract {
namespace {

enum ObjectRuleId : std::uint8_t {
  kStatusOk,
  kContentType,
  kStreamComplete,
  kFramesAreJson,
  kWholeCharacters,
  kNoComments,
  kNoError,
  kModelNamed,
  kCallMade,
  kToolDeclared,
  kArgumentsAreObjects,
  kArgumentsFit,
  kFinishOnce,
  kFinishKnown,
  kNothingAfterFinish,
  kUsage,
  kNoMarkup,
  kNoSecrets,
  kObjectRuleCount,
};

constexpr std::array<ObjectRule, kObjectRuleCount> kObjectRules = {{
    {"status_ok", "the status is 200"},
    {"content_type", "the content type is that of the protocol's streams"},
    {"stream_complete", "the connection ends in order, after the object that ends the turn"},
    {"frames_are_json", "every frame or line is one JSON object"},
    {"whole_characters", "the bytes are valid UTF-8"},
    {"no_comments", "there are no comments and no blank lines between two lines"},
    {"no_error", "no object is an error"},
    {"model_named", "every object names the model"},
    {"call_made", "the model calls the tool"},
    {"tool_is_declared", "every call names a declared tool"},
    {"arguments_are_objects", "the arguments of a call are an object"},
    {"arguments_fit_tool", "they have what the tool requires"},
    {"finish_once", "one object says how the turn ended"},
    {"finish_reason_known", "it says so with a word of the protocol"},
    {"nothing_after_finish", "no text and no call follows it"},
    {"usage_form", "it has the counts of tokens"},
    {"no_markup", "no text has markers of calls"},
    {"no_secrets", "nothing in the answer is a key"},
}};

// What one object says.
struct ObjectSaid {
  std::string text;
  std::string reasoning;
  struct Call {
    std::string name;
    std::string_view arguments;  // JSON
  };
  std::vector<Call> calls;
  std::string finish;  // empty: it is not the last
  bool has_usage = false;
  bool has_model = false;
  std::string_view error;
};

ObjectSaid read_gemini_object(std::string_view json) {
  ObjectSaid said;
  said.error = json::given_member(json, "error");
  said.has_model = !json::member_text(json, "modelVersion").empty();
  said.has_usage =
      !json::given_member(json::given_member(json, "usageMetadata"), "promptTokenCount").empty();
  json::each_element(json::given_member(json, "candidates"), [&](std::string_view candidate) {
    said.finish += json::member_text(candidate, "finishReason");
    const std::string_view content = json::given_member(candidate, "content");
    json::each_element(json::given_member(content, "parts"), [&](std::string_view part) {
      const bool thought = json::given_member(part, "thought") == "true";
      (thought ? said.reasoning : said.text) += json::member_text(part, "text");
      const std::string_view call = json::given_member(part, "functionCall");
      if (call.empty()) return;
      said.calls.push_back({json::member_text(call, "name"), json::given_member(call, "args")});
    });
  });
  return said;
}

ObjectSaid read_ollama_object(std::string_view json) {
  ObjectSaid said;
  said.error = json::given_member(json, "error");
  said.has_model = !json::member_text(json, "model").empty();
  said.has_usage = !json::given_member(json, "prompt_eval_count").empty() &&
                   !json::given_member(json, "eval_count").empty();
  if (json::given_member(json, "done") == "true") {
    said.finish = json::member_text(json, "done_reason");
    if (said.finish.empty()) said.finish = "none";
  }
  const std::string_view message = json::given_member(json, "message");
  said.text = json::member_text(message, "content");
  said.reasoning = json::member_text(message, "thinking");
  json::each_element(json::given_member(message, "tool_calls"), [&](std::string_view call) {
    const std::string_view function = json::given_member(call, "function");
    said.calls.push_back(
        {json::member_text(function, "name"), json::given_member(function, "arguments")});
  });
  return said;
}

struct ObjectForm {
  std::string_view content_type;
  bool lines = false;
  ObjectSaid (*read)(std::string_view json) = nullptr;
  std::span<const std::string_view> finish_words;
};

constexpr std::string_view kGeminiWords[] = {
    "STOP",      "MAX_TOKENS",         "SAFETY", "RECITATION", "LANGUAGE",
    "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",   "OTHER"};
constexpr std::string_view kOllamaWords[] = {"stop", "length", "load", "unload", "content_filter"};
const ObjectForm kGeminiForm = {"text/event-stream", false, read_gemini_object, kGeminiWords};
const ObjectForm kOllamaForm = {"application/x-ndjson", true, read_ollama_object, kOllamaWords};

class ObjectContract final : public StreamContract {
 public:
  ObjectContract(const ObjectForm& form, const ContractTerms& terms) : form_(form), terms_(terms) {}

  void accept_head(int status, std::string_view content_type,
                   std::string_view other_headers) override {
    judge(kStatusOk, status == 200, std::to_string(status));
    refused_ = status != 200;
    const std::string type = to_lower(trimmed(content_type.substr(0, content_type.find(';'))));
    judge(kContentType, type == form_.content_type || refused_, std::string(content_type));
    bytes_.append(other_headers);
    head_bytes_ = bytes_.size();
  }

  void push(std::string_view bytes) override {
    bytes_.append(bytes);
    if (refused_) return;
    const auto on_frame = [this](const SseFrame& frame) { take(frame.data); };
    if (form_.lines) {
      lines_.push(bytes, on_frame);
    } else {
      events_.push(bytes, on_frame);
    }
  }

  void finish(std::string_view cut) override {
    const auto on_frame = [this](const SseFrame& frame) { take(frame.data); };
    if (!refused_) {
      form_.lines ? lines_.finish(on_frame) : events_.finish(on_frame);
      judge_answer(cut);
    }
    const std::string secret = find_secret(bytes_, terms_.secrets);
    judge(kNoSecrets, secret.empty(), secret.empty() ? "none" : secret);
  }

  const ContractProgress& progress() const override { return progress_; }

  std::vector<RuleVerdict> verdicts() const override {
    std::vector<RuleVerdict> made;
    for (std::size_t i = 0; i < kObjectRuleCount; ++i) {
      RuleVerdict verdict = verdicts_[i];
      verdict.rule = kObjectRules[i].name;
      made.push_back(std::move(verdict));
    }
    return made;
  }

  std::string transcript() const override {
    std::string out;
    const auto add = [&](std::string_view name, std::string_view text) {
      if (text.empty()) return;
      out.append(name).push_back(' ');
      json::append_string(out, text);
      out.push_back('\n');
    };
    add("reasoning", reasoning_);
    add("content", text_);
    for (const std::string& call : calls_) out.append("call ").append(call).append("\n");
    add("finish", finish_);
    return out;
  }

 private:
  void judge(ObjectRuleId rule, bool good, std::string seen) {
    RuleVerdict& verdict = verdicts_[rule];
    if (verdict.verdict == Verdict::fail) return;  // the first one is shown
    verdict.verdict = good ? Verdict::pass : Verdict::fail;
    verdict.seen = mask_secrets(seen, terms_.secrets);
  }
  std::string place() const { return "frame " + std::to_string(progress_.frames); }

  void take(std::string_view data) {
    ++progress_.frames;
    json::Reader in(data);
    const bool object = in.peek() == json::Kind::object;
    in.skip();
    if (!object || !in.finish()) return judge(kFramesAreJson, false, place());
    const ObjectSaid said = form_.read(data);
    if (!said.error.empty()) {
      return judge(kNoError, false, place() + ": " + std::string(said.error.substr(0, 200)));
    }
    if (!said.has_model) judge(kModelNamed, false, place());
    const bool speaks = !said.text.empty() || !said.reasoning.empty() || !said.calls.empty();
    if (finishes_ > 0 && speaks) judge(kNothingAfterFinish, false, place());
    text_ += said.text;
    reasoning_ += said.reasoning;
    progress_.said = progress_.said || speaks;
    for (const ObjectSaid::Call& call : said.calls) take_call(call);
    if (said.finish.empty()) return;
    ++finishes_;
    finish_ = said.finish;
    has_usage_ = has_usage_ || said.has_usage;
  }

  void take_call(const ObjectSaid::Call& call) {
    ++progress_.calls_begun;
    ++progress_.calls_whole;
    const bool object = call.arguments.starts_with('{');
    if (!object) judge(kArgumentsAreObjects, false, place() + ": " + std::string(call.arguments));
    const auto tool = std::find_if(terms_.tools.begin(), terms_.tools.end(),
                                   [&](const ToolSpec& known) { return known.name == call.name; });
    std::string line;
    json::append_string(line, call.name);
    if (tool == terms_.tools.end()) {
      judge(kToolDeclared, false, place() + ": " + line);
    } else if (object) {
      json::each_element(json::given_member(tool->parameters.text, "required"),
                         [&](std::string_view name) {
                           const std::string key(name.substr(1, name.size() - 2));
                           if (!json::given_member(call.arguments, key).empty()) return;
                           judge(kArgumentsFit, false, place() + ": lacks " + key);
                         });
    }
    line.push_back(' ');
    json::append_compact(line, object ? call.arguments : "null");
    calls_.push_back(std::move(line));
  }

  void judge_answer(std::string_view cut) {
    judge(kStreamComplete, cut.empty() && finishes_ > 0,
          !cut.empty()     ? std::string(cut)
          : finishes_ == 0 ? "nothing says that the turn ended"
                           : "yes");
    judge(kFramesAreJson, progress_.frames > 0, std::to_string(progress_.frames) + " frames");
    const std::string_view body = std::string_view(bytes_).substr(head_bytes_);
    judge(kWholeCharacters, utf8::is_valid(body), std::to_string(body.size()) + " bytes");
    const bool comments =
        form_.lines ? body.find("\n\n") != std::string_view::npos || body.starts_with('\n')
                    : events_.comments() > 0;
    judge(kNoComments, !comments, comments ? "some" : "none");
    judge(kNoError, true, "none");
    judge(kModelNamed, true, "in every object");
    const bool called = !calls_.empty();
    judge(kCallMade, called || !terms_.call_expected, std::to_string(calls_.size()) + " calls");
    if (called) {
      for (const ObjectRuleId rule : {kToolDeclared, kArgumentsAreObjects, kArgumentsFit}) {
        judge(rule, true, std::to_string(calls_.size()) + " calls");
      }
    }
    judge(kFinishOnce, finishes_ == 1, std::to_string(finishes_) + " times");
    if (finishes_ > 0) {
      const auto& words = form_.finish_words;
      judge(kFinishKnown, std::find(words.begin(), words.end(), finish_) != words.end(), finish_);
      judge(kNothingAfterFinish, true, "nothing");
      judge(kUsage, has_usage_ || !terms_.usage_known, has_usage_ ? "yes" : "no counts");
    }
    for (const std::string_view marker : terms_.markers) {
      if (text_.find(marker) == std::string::npos) continue;
      judge(kNoMarkup, false, "the text has " + std::string(marker));
    }
    judge(kNoMarkup, true, "none");
  }

  const ObjectForm& form_;
  const ContractTerms terms_;
  SseDecoder events_;
  LineDecoder lines_;
  std::string bytes_;  // headers and body, to search for keys
  std::size_t head_bytes_ = 0;
  bool refused_ = false;
  std::array<RuleVerdict, kObjectRuleCount> verdicts_;
  ContractProgress progress_;
  std::string text_;
  std::string reasoning_;
  std::vector<std::string> calls_;
  std::string finish_;
  std::size_t finishes_ = 0;
  bool has_usage_ = false;
};

constexpr std::string_view kContractProtocols[] = {"chat", "responses", "messages", "gemini",
                                                   "ollama"};

}  // namespace

std::span<const ObjectRule> object_rules() { return kObjectRules; }

std::unique_ptr<StreamContract> make_gemini_contract(const ContractTerms& terms) {
  return std::make_unique<ObjectContract>(kGeminiForm, terms);
}
std::unique_ptr<StreamContract> make_ollama_contract(const ContractTerms& terms) {
  return std::make_unique<ObjectContract>(kOllamaForm, terms);
}

std::span<const std::string_view> contract_protocols() { return kContractProtocols; }

std::unique_ptr<StreamContract> make_contract(std::string_view protocol,
                                              const ContractTerms& terms) {
  if (protocol == "responses") return make_responses_contract(terms);
  if (protocol == "messages") return make_messages_contract(terms);
  if (protocol == "gemini") return make_gemini_contract(terms);
  if (protocol == "ollama") return make_ollama_contract(terms);
  return std::make_unique<ChatContract>(terms);
}

}  // namespace callgate::contract
