#include "script/scripted_model.h"

#include <cstring>

#include "script/message_text.h"

namespace callgate::script {
namespace {

constexpr std::size_t kMaxKept = 256;
constexpr std::size_t kMaxKeptBytes = std::size_t{64} << 20;

template <class Number>
void append_bytes(std::string& key, Number number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  key.append(bytes, sizeof number);
}

// Ids differ between rules and between the turns of a conversation.
std::uint64_t seed_of(std::uint64_t seed, std::size_t rule, std::uint32_t turn) {
  return seed * 0x100000001B3ULL + rule * 0x10001ULL + turn;
}

std::string no_rule_message(const Request& request) {
  std::string message = "no rule of the script matches: model \"" + request.model + "\", turn " +
                        std::to_string(turn_number(request));
  return message + ", " + std::to_string(request.messages.size()) + " messages";
}

}  // namespace

ScriptedModel::ScriptedModel(Script script)
    : ScriptedModel(std::make_shared<const Script>(std::move(script))) {}

ScriptedModel::ScriptedModel(std::shared_ptr<const Script> script)
    : script_(std::move(script)), uses_(script_->rules.size(), 0) {}

ScriptedModel::Match ScriptedModel::match(const Request& request) {
  for (std::size_t i = 0; i < script_->rules.size(); ++i) {
    const Rule& rule = script_->rules[i];
    if (rule.times && uses_[i] >= *rule.times) continue;
    if (!rule.when.matches(request)) continue;
    if (rule.times) ++uses_[i];
    return {&rule, i};
  }
  return {};
}

// Everything that the bytes of a reply depend on.
const std::string& ScriptedModel::key_of(const Match& match, const Request& request,
                                         const ReplyOptions& options, std::uint32_t turn) {
  key_.clear();
  append_bytes(key_, match.index);
  append_bytes(key_, turn);
  append_bytes(key_, request.choices);
  append_bytes(key_, prompt_count(request));
  append_bytes(key_, options.call_text.render);
  append_bytes(key_, options.faults.bits());
  key_.push_back(
      static_cast<char>(request.stream * 4 + request.include_usage * 2 + request.legacy_functions));
  key_.append(options.wire).push_back('\0');
  key_.append(options.form).push_back('\0');
  key_.append(options.call_text.dialect).push_back('\0');
  key_.append(options.faults.finish()).push_back('\0');
  key_.append(request.model);
  return key_;
}

void ScriptedModel::keep(const std::string& key,
                         const std::shared_ptr<const Rendering>& rendering) {
  kept_bytes_ += rendering->bytes.size();
  if (kept_.size() >= kMaxKept || kept_bytes_ > kMaxKeptBytes) {
    kept_.clear();
    kept_bytes_ = rendering->bytes.size();
  }
  kept_.emplace(key, rendering);
}

Reply ScriptedModel::reply(const Request& request, const ReplyOptions& options) {
  RenderOptions how{.format = find_reply_format(options.wire),
                    .faults = options.faults,
                    .call_text = options.call_text,
                    .place = options.place,
                    .form = options.form,
                    .created = script_->created};
  const auto error = [&](int status, std::string_view message) {
    return Reply(std::make_shared<const Rendering>(render_error(status, message, request, how)));
  };
  if (how.format == nullptr) {
    how.format = find_reply_format("openai_chat");
    return error(400, "the scripted model does not speak " + std::string(options.wire));
  }
  const Match found = match(request);
  if (found.rule == nullptr) return error(404, no_rule_message(request));
  const std::uint32_t turn = turn_number(request);
  how.seed = seed_of(script_->seed, found.index, turn);
  if (found.rule->reads_request || !options.place.empty()) {
    return Reply(std::make_shared<const Rendering>(render(*found.rule, request, how)));
  }
  const std::string& key = key_of(found, request, options, turn);
  if (const auto kept = kept_.find(key); kept != kept_.end()) return Reply(kept->second);
  auto rendering = std::make_shared<const Rendering>(render(*found.rule, request, how));
  keep(key, rendering);
  return Reply(std::move(rendering));
}

std::string_view demo_script() {
  // The steps before the first rule are in front of every rule.
  return R"(model demo
cut text words
cut arguments 8
pace 15ms

rule faults
  when tools
  when user contains "a faulty server"
  pace 40ms
  reasoning "The server in front of me forgets ids. Let us see who notices."
  text "I ask for the weather in Paris and in Oslo."
  delay 400ms
  fault no_id no_index repeat_name
  call get_weather {"city": "Paris"}
  call get_weather {"city": "Oslo"}
  finish stop

rule quotes
  when tools
  when user contains "single quotes"
  pace 40ms
  text "Let me look that up.\n"
  text "<|tool_calls|>" "[{'name': 'get_weather', 'arguments': {'city': 'Paris'}}]"

rule demo
  demo
)";
}

}  // namespace callgate::script
