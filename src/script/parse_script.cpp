#include <algorithm>
#include <limits>

#include "script/line_reader.h"
#include "script/script.h"
#include "script/step_reader.h"

namespace callgate::script {
namespace {

constexpr std::size_t kMaxNesting = 8;
constexpr std::uint64_t kMaxSteps = 1'000'000;  // of one rule, repeats unrolled

class ScriptParser {
 public:
  explicit ScriptParser(std::string_view text) : in_(text) {}
  Result<Script> run();

 private:
  void line();
  bool setting();
  bool rule_line();
  bool said_step();
  bool stream_step();
  bool connection_step();
  void open_rule();
  void open_repeat();
  void close_repeat();
  void close_rule();

  template <class What>
  void add(What what) {
    open_.back().push_back(Step{std::move(what)});
  }
  Rule& rule() { return script_.rules.empty() ? preamble_ : script_.rules.back(); }

  LineReader in_;
  Script script_;
  Rule preamble_;                           // what stands before the first rule
  std::vector<std::vector<Step>> open_{1};  // the steps of the rule, then of each open repeat
  std::vector<std::uint32_t> counts_;       // of the open repeats
};

std::uint64_t unrolled(const std::vector<Step>& steps) {
  std::uint64_t total = 0;
  for (const Step& step : steps) {
    const Repeat* repeat = std::get_if<Repeat>(&step.what);
    ++total;
    // An empty repeat takes time too.
    if (repeat != nullptr)
      total += repeat->count * std::max<std::uint64_t>(1, unrolled(repeat->steps));
    if (total > kMaxSteps) return kMaxSteps + 1;
  }
  return total;
}

bool has_demo(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    const Repeat* repeat = std::get_if<Repeat>(&step.what);
    return std::holds_alternative<Demo>(step.what) ||
           (repeat != nullptr && has_demo(repeat->steps));
  });
}

// Something of a streamed answer leaves.
bool writes(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    const Repeat* repeat = std::get_if<Repeat>(&step.what);
    if (repeat != nullptr) return writes(repeat->steps);
    const auto is = [&]<class... What>() {
      return (std::holds_alternative<What>(step.what) || ...);
    };
    return is.template operator()<Say, Call, Finish, Done, Frame, Raw, Head, Demo>();
  });
}

Result<Script> ScriptParser::run() {
  while (in_.next()) {
    line();
    if (!in_.at_end()) in_.fail_word(in_.word(), "the end of the line");
  }
  close_rule();
  if (in_.failed()) return tl::unexpected<Error>(in_.error());
  if (script_.rules.empty()) {
    preamble_.name = "always";
    script_.rules.push_back(std::move(preamble_));
  } else {
    for (Rule& rule : script_.rules) {
      rule.steps.insert(rule.steps.begin(), preamble_.steps.begin(), preamble_.steps.end());
      rule.headers.insert(rule.headers.begin(), preamble_.headers.begin(), preamble_.headers.end());
    }
  }
  for (Rule& rule : script_.rules) rule.reads_request = has_demo(rule.steps);
  if (script_.models.empty()) script_.models.push_back("script");
  return std::move(script_);
}

void ScriptParser::line() {
  if (setting() || rule_line() || said_step() || stream_step() || connection_step()) return;
  in_.fail("\"" + std::string(in_.keyword()) + "\" is no step; docs/script.md lists them");
}

// What belongs to the whole script.
bool ScriptParser::setting() {
  const std::string_view keyword = in_.keyword();
  if (keyword != "seed" && keyword != "created" && keyword != "model") return false;
  if (!script_.rules.empty()) {
    in_.fail(std::string(keyword) + ": belongs before the first rule");
  } else if (keyword == "seed") {
    script_.seed = in_.number(std::numeric_limits<std::uint64_t>::max());
  } else if (keyword == "created") {
    script_.created = static_cast<std::int64_t>(in_.number(std::uint64_t{1} << 40));
  } else {
    const std::string_view name = in_.word();
    if (name.empty()) in_.fail_word(name, "a model name");
    script_.models.emplace_back(name);
  }
  return true;
}

bool ScriptParser::rule_line() {
  const std::string_view keyword = in_.keyword();
  if (keyword == "rule") {
    open_rule();
  } else if (keyword == "header") {
    read_header(in_, rule().headers);
  } else if ((keyword == "when" || keyword == "times") && script_.rules.empty()) {
    in_.fail(std::string(keyword) + ": belongs in a rule");
  } else if (keyword == "when") {
    read_condition(in_, rule().when);
  } else if (keyword == "times") {
    rule().times = static_cast<std::uint32_t>(in_.number(1'000'000'000));
  } else {
    return false;
  }
  return true;
}

bool ScriptParser::said_step() {
  const std::string_view keyword = in_.keyword();
  if (keyword == "text") {
    add(Say{Voice::text, in_.strings()});
  } else if (keyword == "reasoning") {
    add(Say{Voice::reasoning, in_.strings()});
  } else if (keyword == "refusal") {
    add(Say{Voice::refusal, in_.strings()});
  } else if (keyword == "call") {
    add(read_call(in_));
  } else if (keyword == "usage") {
    add(read_usage(in_));
  } else if (keyword == "finish") {
    add(read_finish(in_));
  } else if (keyword == "demo") {
    add(Demo{});
  } else {
    return false;
  }
  return true;
}

bool ScriptParser::stream_step() {
  const std::string_view keyword = in_.keyword();
  if (keyword == "pace") {
    add(Pace{in_.milliseconds()});
  } else if (keyword == "delay") {
    add(Delay{in_.milliseconds()});
  } else if (keyword == "cut") {
    add(read_cut(in_));
  } else if (keyword == "write") {
    add(read_write_mode(in_));
  } else if (keyword == "truncate") {
    add(Truncate{in_.number(std::uint64_t{1} << 32)});
  } else if (keyword == "frame") {
    add(read_frame(in_));
  } else if (keyword == "raw") {
    add(Raw{read_bytes(in_)});
  } else if (keyword == "done") {
    add(Done{});
  } else if (keyword == "no_done") {
    add(NoDone{});
  } else if (keyword == "fault") {
    if (in_.take("none")) {
      add(ClearFaults{});
    } else {
      add(read_faults(in_));
    }
  } else {
    return false;
  }
  return true;
}

bool ScriptParser::connection_step() {
  const std::string_view keyword = in_.keyword();
  if (keyword == "status") {
    if (writes(preamble_.steps) || std::any_of(open_.begin(), open_.end(), writes)) {
      in_.fail("status: is a whole answer, so nothing may be written before it");
    }
    add(read_status(in_));
  } else if (keyword == "head") {
    add(Head{});
  } else if (keyword == "abort") {
    add(End{Rendering::Op::Kind::reset});
  } else if (keyword == "close") {
    add(End{Rendering::Op::Kind::close});
  } else if (keyword == "hang") {
    add(End{Rendering::Op::Kind::hang});
  } else if (keyword == "repeat") {
    open_repeat();
  } else if (keyword == "}") {
    close_repeat();
  } else {
    return false;
  }
  return true;
}

void ScriptParser::open_rule() {
  close_rule();
  script_.rules.emplace_back();
  const std::string_view name = in_.word();
  rule().name = name.empty() ? "line " + std::to_string(in_.line()) : std::string(name);
}

void ScriptParser::close_rule() {
  if (open_.size() > 1) in_.fail("repeat: no } closes it");
  rule().steps = std::move(open_.front());
  open_.assign(1, {});
  counts_.clear();
  if (unrolled(rule().steps) > kMaxSteps) {
    in_.fail("rule " + rule().name + ": more than 1000000 steps, repeats unrolled");
  }
}

void ScriptParser::open_repeat() {
  const std::uint64_t count = in_.number(kMaxSteps);
  if (!in_.take("{")) in_.fail_word(in_.word(), "repeat N {");
  if (open_.size() > kMaxNesting) in_.fail("repeat: nested too deep");
  counts_.push_back(static_cast<std::uint32_t>(count));
  open_.emplace_back();
}

void ScriptParser::close_repeat() {
  if (counts_.empty()) {
    in_.fail("}: closes nothing");
    return;
  }
  Repeat repeat{counts_.back(), std::move(open_.back())};
  counts_.pop_back();
  open_.pop_back();
  add(std::move(repeat));
}

}  // namespace

Result<Script> parse_script(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return ScriptParser(text).run();
}

}  // namespace callgate::script
