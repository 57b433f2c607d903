// For models of which nobody said what they write: the openers of all dialects are watched, and the first one that can
// mean only one dialect picks it for the rest of the turn. Until then text flows.
//
//   Let me see.<|tool_calls_section_begin|>...      kimi_k2 from the marker on
//   <tool_call>{"name": ...                         hermes; with <function= it is qwen3_coder, with a name glm47
//   {"name": "declared_tool", "parameters": ...     a call; other JSON is text
#include <algorithm>
#include <array>
#include <string>

#include "dialect/marked_json.h"

namespace callgate::dialect {
namespace {

enum class Look : std::uint8_t {
  none,        // the opener says it all
  tool_call,   // the byte behind <tool_call> decides
  tool_calls,  // ... behind <tool_calls>
  invokes,     // ... behind <function_calls>
  object,      // a bare object
  list,        // a bare list, of JSON or of Python calls
  tag,         // a tag named like a declared tool
};

struct Sign {
  std::string_view text;
  std::string_view dialect;
  Look look = Look::none;
};

constexpr Sign kSigns[] = {
    {"<", {}, Look::tag},
    {"<tool_call>", {}, Look::tool_call},
    {"<tool_calls>", {}, Look::tool_calls},
    {"<function_calls>", {}, Look::invokes},
    {"{", {}, Look::object},
    {"[", {}, Look::list},
    {"<function=", "qwen3_coder"},
    {"<function name=", "minicpm5"},
    {"<invoke name=", "anthropic_xml"},
    {"<antml:function_calls>", "anthropic_xml"},
    {"<antml:invoke name=", "anthropic_xml"},
    {"<function_call>", "granite20b_fc"},
    {"<|tool_call|>", "granite"},
    {"functools[", "phi4_mini"},
    {"<|python_tag|>", "llama3_json"},
    {"[TOOL_CALLS]", "mistral_v13"},
    {"[THINK]", "mistral_v13"},
    {"<|tool_calls_section_begin|>", "kimi_k2"},
    {"<|tool_call_section_begin|>", "kimi_k2"},
    {"<|tool_call_begin|>", "kimi_k2"},
    {"◁think▷", "kimi_k2"},
    {"<｜tool▁calls▁begin｜>", "deepseek_v31"},
    {"<｜tool▁call▁begin｜>", "deepseek_v31"},
    {"<|tool▁calls▁begin|>", "deepseek_v31"},
    {"<|tool▁call▁begin|>", "deepseek_v31"},
    {"<|tool_calls_begin|>", "deepseek_v31"},
    {"<｜DSML｜", "deepseek_v4"},
    {"<|DSML|", "deepseek_v4"},
    {"<‖DSML‖", "deepseek_v4"},
    {"<｜｜DSML｜｜", "deepseek_v4"},
    {"<TOOLCALL>", "nemotron_deci"},
    {"<|action_start|>", "internlm2"},
    {"<longcat_tool_call>", "longcat"},
    {"<longcat_think>", "longcat"},
    {"<|START_ACTION|>", "cohere_command_r7b"},
    {"<|START_THINKING|>", "cohere_command_r7b"},
    {"<|START_RESPONSE|>", "cohere_command_r7b"},
    {"<|START_TEXT|>", "cohere_command_r7b"},
    {"<|tools_prefix|>", "apertus"},
    {"<|inner_prefix|>", "apertus"},
    {"<|function_call|>", "gigachat3"},
    {"function call<|role_sep|>", "gigachat3"},
    {"<|message_sep|>", "gigachat3"},
    {"<dots_function_call>", "dots"},
    {"<|tool_call:begin|>", "solar_open"},
    {"<|tool_calls|>", "solar_open"},
    {"<|think|>", "solar_open"},
    {"<|begin|>assistant", "solar_open"},
    {"<|channel|>", "harmony"},
    {"<|start|>assistant", "harmony"},
    {"<seed:tool_call>", "seed_oss"},
    {"<seed:think>", "seed_oss"},
    {"<minimax:tool_call>", "minimax_m2"},
    {"]<]minimax[>[", "minimax_m3"},
    {"<mm:think>", "minimax_m3"},
    {"<｜tool_calls_begin｜>", "step3"},
    {"<｜tool_call_begin｜>", "step3"},
    {"<steptml:invoke", "step3"},
    {"<|open|>", "kimi_k3"},
    {"<use_tool", "use_tool"},
    {"<|tool_call>", "gemma4"},
    {"<|channel>", "gemma4"},
    {"<start_function_call>", "functiongemma"},
    {"<|tool_call_start|>", "lfm2"},
    {"<|python_start|>", "pythonic"},
};
// The prompt may have opened any of these; </think> is the usual one.
constexpr Envelope kReasoning[] = {
    {"<think>", "</think>"},  {"", "</seed:think>"},         {"", "</mm:think>"},
    {"", "[/THINK]"},         {"", "<|END_THINKING|>"},      {"", "<channel|>"},
    {"", "<|inner_suffix|>"}, {"", "<|close|>think<|sep|>"}, {"", "◁/think▷"},
};
constexpr std::string_view kTail[] = {"<|im_end|>",           "<|eot_id|>",        "<|eom_id|>",
                                      "<|endoftext|>",        "<|end_of_text|>",   "</s>",
                                      "<|endofresponse|>",    "<|assistant_end|>", "<|end|>",
                                      "<｜end▁of▁sentence｜>"};
constexpr CallKeys kKeys{};
constexpr std::size_t kMaxName = 256;

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '/' || c == ':';
}

// Reads on until the dialect is known, then hands the turn over. Bare JSON calls it reads itself.
class SignReader final : public CallReader {
 public:
  SignReader(const Prose& prose, const DialectOptions& options)
      : tools_(options.tools), json_(make_marked_json(prose, kKeys, options)) {}

  void open(std::size_t opener, Output& out) override {
    opener_ = opener;
    reading_json_ = false;
    name_.clear();
    picked_ = {};
    look_ = kSigns[opener].look;
    if (look_ == Look::object) read_json(out);
  }

  Step push(std::string_view bytes, Output& out) override {
    if (reading_json_) return json_->push(bytes, out);
    if (look_ == Look::none) return pick(kSigns[opener_].dialect);
    if (look_ == Look::tag) return read_tag(bytes, out);
    std::size_t at = 0;
    while (at < bytes.size() && name_.empty() && is_space(bytes[at])) ++at;
    while (at < bytes.size() && is_name_byte(bytes[at]) && name_.size() < kMaxName) {
      name_.push_back(bytes[at++]);
    }
    out.hold(bytes.substr(0, at));
    if (at == bytes.size()) return {.used = at};
    Step step = decide(bytes[at], out);
    step.used = at;
    return step;
  }

  void finish(Output& out) override {
    if (reading_json_) json_->finish(out);
  }
  bool overflow(Output& out) override { return reading_json_ && json_->overflow(out); }

  std::string_view picked() const { return picked_; }

 private:
  Step pick(std::string_view dialect) {
    picked_ = dialect;
    return {.next = Step::Next::handed_over};
  }

  Step read_json(Output& out) {
    reading_json_ = true;
    json_->open(opener_, out);
    return {};
  }

  // Holds back no more than what a declared name begins with.
  Step read_tag(std::string_view bytes, Output& out) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      const char c = bytes[at];
      const bool ends = c == '>' || c == '/' || is_space(c);
      if (ends && is_declared(tools_, name_)) {
        out.hold(bytes.substr(0, at));
        Step step = pick("generic_xml");
        step.used = at;
        return step;
      }
      if (!is_name_byte(c) || !begins_declared(c)) {
        out.hold(bytes.substr(0, at));
        return {.used = at, .next = Step::Next::rejected};
      }
      name_.push_back(c);
    }
    out.hold(bytes);
    return {.used = bytes.size()};
  }

  bool begins_declared(char next) const {
    return std::any_of(tools_.begin(), tools_.end(), [&](const ToolSpec& tool) {
      return tool.name.size() > name_.size() && tool.name.starts_with(name_) &&
             tool.name[name_.size()] == next;
    });
  }

  // `next` is the first byte behind white space, or behind a name.
  Step decide(char next, Output& out) {
    const bool json = name_.empty() && (next == '{' || next == '[');
    const bool tag = name_.empty() && next == '<';
    const bool tool = is_declared(tools_, name_);
    switch (look_) {
      case Look::tool_call:
        if (json) return pick("hermes");
        if (tag) return pick("qwen3_coder");
        if (tool && next == '<') return pick("glm47");
        if (tool && is_space(next)) return pick("glm45");
        break;
      case Look::tool_calls:
        if (json) return pick("jamba");
        if (tag) return pick("hunyuan");
        break;
      case Look::invokes:
        if (tag) return pick("anthropic_xml");
        if (tool && next == '(') return pick("olmo3");
        break;
      case Look::list:
        if (tool && next == '(') return pick("pythonic");
        return read_list(out);
      case Look::none:
      case Look::object:
      case Look::tag:
        break;
    }
    return {.next = Step::Next::rejected};
  }

  // Reads again what has been read behind the bracket.
  Step read_list(Output& out) {
    const std::string read(out.held().substr(1));
    out.unhold(read.size());
    read_json(out);
    const Step step = json_->push(read, out);
    if (step.next != Step::Next::more) out.hold(std::string_view(read).substr(step.used));
    return {.next = step.next};
  }

  std::span<const ToolSpec> tools_;
  std::unique_ptr<CallReader> json_;
  std::size_t opener_ = 0;
  Look look_ = Look::none;
  bool reading_json_ = false;
  std::string name_;
  std::string_view picked_;
};

constexpr auto kOpeners = [] {
  std::array<Opener, std::size(kSigns)> openers{};
  for (std::size_t i = 0; i < openers.size(); ++i) {
    const Look look = kSigns[i].look;
    const bool bare = look == Look::object || look == Look::list;
    openers[i] = {kSigns[i].text,
                  look == Look::list ? Opener::Where::first : Opener::Where::anywhere,
                  bare ? Opener::Names::declared : Opener::Names::any};
  }
  return openers;
}();
constexpr Prose kProse{.reasoning = kReasoning, .call_open = kOpeners, .tail = kTail};

class AutoParser final : public AuditedParser {
 public:
  explicit AutoParser(const DialectOptions& options) : options_(options) {
    auto reader = std::make_unique<SignReader>(kProse, options);
    reader_ = reader.get();
    turn_ = make_turn_parser(kProse, std::move(reader), options);
  }

  void push(std::string_view text, Channel channel, EventSink& sink) override {
    if (dialect_ != nullptr) {
      dialect_->push(text, channel, sink);
      return;
    }
    channel_ = channel;
    turn_->push(text, channel, sink);
    if (turn_->is_handed_over()) hand_over(channel, sink);
  }

  void finish(EventSink& sink) override {
    if (dialect_ == nullptr) {
      turn_->finish(sink);
      if (turn_->is_handed_over()) hand_over(channel_, sink);
    }
    if (dialect_ != nullptr) dialect_->finish(sink);
  }

  void cut_off() override {
    if (dialect_ != nullptr) return dialect_->cut_off();
    turn_->cut_off();
  }

  const Audit& audit() const override {
    return dialect_ != nullptr ? dialect_->audit() : turn_->audit();
  }
  std::size_t held_size() const override {
    return dialect_ != nullptr ? dialect_->held_size() : turn_->held_size();
  }
  void take_over(Output&& out, Channel prose) override { turn_->take_over(std::move(out), prose); }

 private:
  void hand_over(Channel channel, EventSink& sink) {
    const Dialect* dialect = find(reader_->picked());
    TurnParser::Handover from = turn_->hand_over();
    if (dialect->commit == Commit::whole_call) from.out.set_commit(Commit::whole_call);
    // Every parser of this room is audited.
    dialect_.reset(static_cast<AuditedParser*>(dialect->make(options_).release()));
    dialect_->take_over(std::move(from.out), from.prose);
    dialect_->push(from.bytes, channel, sink);
  }

  DialectOptions options_;
  SignReader* reader_ = nullptr;
  std::unique_ptr<TurnParser> turn_;
  std::unique_ptr<AuditedParser> dialect_;
  Channel channel_ = Channel::text;  // of the last push
};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return std::make_unique<AutoParser>(options);
}

}  // namespace

extern const Dialect automatic;
constinit const Dialect automatic{
    .name = "auto", .spec = "whatever the first opener says", .make = make};

}  // namespace callgate::dialect
