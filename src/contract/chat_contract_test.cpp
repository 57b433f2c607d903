#include "contract/chat_contract.h"

#include <gtest/gtest.h>

#include <set>

namespace callgate::contract::chat_contract_test {
namespace {

const std::vector<ToolSpec>& tools() {
  static const std::vector<ToolSpec> tools{
      {.name = "get_weather",
       .description = {},
       .parameters = {
           R"({"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]})"}}};
  return tools;
}
constexpr std::string_view kMarkers[] = {"<tool_call>"};
constexpr std::string_view kSecrets[] = {"hunter2-hunter2"};

const ContractTerms kTerms{.tools = tools(),
                           .include_usage = true,
                           .call_expected = true,
                           .markers = kMarkers,
                           .secrets = kSecrets};

std::string frame(const std::string& rest) {
  return R"(data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m",)" + rest +
         "}\n\n";
}
std::string delta(const std::string& members, const std::string& finish = "null") {
  return frame(R"("choices":[{"index":0,"delta":{)" + members + R"(},"finish_reason":)" + finish +
               "}]");
}
std::string call(const std::string& members) {
  return delta(R"("tool_calls":[{)" + members + "}]");
}

const std::string kRole = delta(R"("role":"assistant","content":"")");
const std::string kText = delta(R"("content":"Let me look.")");
const std::string kStart = call(
    R"("index":0,"id":"a","type":"function","function":{"name":"get_weather","arguments":""})");
const std::string kHalf = call(R"("index":0,"function":{"arguments":"{\"city\":"})");
const std::string kRest = call(R"("index":0,"function":{"arguments":"\"Paris\"}"})");
const std::string kFinish = delta("", "\"tool_calls\"");
const std::string kUsage =
    frame(R"("choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5})");
const std::string kDone = "data: [DONE]\n\n";
const std::string kSecond =
    call(
        R"("index":1,"id":"b","type":"function","function":{"name":"get_weather","arguments":""})") +
    call(R"("index":1,"function":{"arguments":"{\"city\":\"Rome\"}"})");

std::string good() { return kRole + kText + kStart + kHalf + kRest + kFinish + kUsage + kDone; }

std::string with(std::string_view old, std::string_view replacement, std::string stream = good()) {
  const std::size_t at = stream.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return stream.replace(at, old.size(), replacement);
}

ChatContract check(std::string_view stream, const ContractTerms& terms = kTerms,
                   std::size_t step = std::string::npos) {
  ChatContract contract(terms);
  contract.accept_head(200, "text/event-stream");
  for (; !stream.empty(); stream.remove_prefix(std::min(step, stream.size()))) {
    contract.push(stream.substr(0, step));
  }
  contract.finish();
  return contract;
}

using Rules = std::set<std::string_view>;
Rules failed(const ChatContract& contract) {
  Rules rules;
  for (const RuleVerdict& verdict : contract.verdicts()) {
    EXPECT_NE(verdict.seen, "") << verdict.rule;
    if (verdict.verdict == Verdict::fail) rules.insert(verdict.rule);
  }
  return rules;
}

TEST(ChatContract, a_good_stream_passes_every_rule_however_it_is_cut) {
  const std::string stream = good();
  const auto whole = check(stream);
  EXPECT_EQ(failed(whole), Rules{});
  for (const std::size_t step : {1, 2, 7, 64}) {
    const auto cut = check(stream, kTerms, step);
    EXPECT_EQ(cut.verdicts(), whole.verdicts());
    EXPECT_EQ(cut.transcript(), whole.transcript());
  }
  EXPECT_EQ(whole.progress().calls_whole, 1u);
  for (const RuleVerdict& verdict : whole.verdicts()) {
    const bool unasked = verdict.rule == "forced_tool";
    EXPECT_EQ(verdict.verdict == Verdict::not_applicable, unasked) << verdict.rule;
  }
}

struct Broken {
  std::string stream;
  Rules rules;
};

std::vector<Broken> broken_frames() {
  return {
      {with("\n\ndata: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,"
            "\"model\":\"m\",\"choices\":[],",
            "\n\ndata: {\"id\":\"c2\",\"object\":\"chunk\",\"created\":\"1\",\"model\":\"\","
            "\"choices\":[],"),
       {"frame_id", "frame_object", "frame_created", "frame_model"}},
      {good().substr(0, good().size() - 1), {"frames_closed"}},
      {kRole + "data: nonsense\n\n" + good().substr(kRole.size()), {"frames_are_json"}},
      {kRole + "data: [1]\n\n" + good().substr(kRole.size()), {"frames_are_json"}},
      {with("Let", "L\xC3"), {"whole_characters"}},
      {with("Let", "L\\uD83D"), {"whole_characters"}},
      {with("Let", "L\\uDE00\\uD83D\\uDE00"), {"whole_characters"}},
      {with("Let", "L\\\\uD83D"), {}},
      {kRole + "data: {\"error\":{\"message\":\"no\"}}\n\n" + kDone,
       {"no_error", "call_made", "finish_once", "usage_as_asked"}},
      {with("\"choices\":[],", ""), {"choices_array", "usage_form"}},
      {with("\"index\":0,\"delta\":{}", "\"index\":1,\"delta\":{}"), {"choice_index"}},
      {with("\"delta\":{},", ""), {"choice_delta"}},
      {with(",\"finish_reason\":null", ""), {"finish_reason_present"}},
      {with("\"role\":\"assistant\",", ""), {"role_first"}},
      {with("\"content\":\"Let", "\"role\":\"assistant\",\"content\":\"Let"), {"role_once"}},
      {with("\"Let me look.\"", "[\"Let\"]"), {"text_is_string"}},
      {with("\"content\":\"Let me look.\"", ""), {"deltas_not_empty"}},
  };
}

std::vector<Broken> broken_calls() {
  const std::string two = with(kFinish, kSecond + kFinish);
  return {
      {two, {}},
      {kRole + kText + delta("", "\"stop\"") + kUsage + kDone, {"call_made"}},
      {with(kStart, delta(R"("function_call":{"name":"x"})") + kStart), {"no_legacy_call"}},
      {with("\"Let me look.\"", "\"Let me look.\",\"tool_calls\":[]"), {"one_call_per_delta"}},
      {with("\"index\":0,\"id\"", "\"id\""), {"call_index"}},
      {with("\"index\":1,\"function\"", "\"index\":1.5,\"function\"", two), {"call_index"}},
      {kRole + kStart + kHalf + kSecond + kRest + kFinish + kUsage + kDone, {"calls_in_sequence"}},
      {with("\"id\":\"a\"", "\"id\":\"\""), {"call_id_first"}},
      {with("\"index\":0,\"function\"", "\"index\":0,\"id\":\"a\",\"function\""), {"call_id_once"}},
      {with("\"id\":\"b\"", "\"id\":\"a\"", two), {"call_id_unique"}},
      {with("\"name\":\"get_weather\",", ""), {"call_name_first"}},
      {with("\"function\":{\"arguments\":\"{", "\"function\":{\"name\":\"x\",\"arguments\":\"{"),
       {"call_name_once"}},
      {with("\"type\":\"function\",", ""), {"call_type_first"}},
      {with("\"index\":0,\"function\"", "\"index\":0,\"type\":\"function\",\"function\""),
       {"call_type_once"}},
      {with(",\"arguments\":\"\"", ""), {"arguments_are_strings"}},
      {with("\"\\\"Paris\\\"}\"", "\"{\\\"city\\\":\\\"Paris\\\"}}\""), {"arguments_fit_tool"}},
      {with("\"{\\\"city\\\":\"", "\"{\\\"city\\\"\"",
            with("\"\\\"Paris\\\"}\"", "\"{\\\"city\\\":\\\"Paris\\\"}\"")),
       {"arguments_are_fragments", "arguments_are_json"}},
      {with("Paris\\\"}", "Paris\\\""), {"arguments_are_json"}},
      {with("get_weather", "get_time"), {"tool_is_declared"}},
      {with("city", "town"), {"arguments_fit_tool"}},
      {with("\\\"Paris\\\"", "7"), {"arguments_fit_tool"}},
      {with("Paris\\\"", "Paris\\\",\\\"days\\\":1.5"), {"arguments_fit_tool"}},
  };
}

std::vector<Broken> broken_ends() {
  return {
      {with(kFinish, ""), {"finish_once", "usage_last"}},
      {with(kFinish, kFinish + kFinish), {"finish_once", "nothing_after_finish"}},
      {with("\"tool_calls\"}", "\"eos\"}"), {"finish_reason_known"}},
      {with("\"tool_calls\"}", "\"stop\"}"), {"finish_matches_calls"}},
      {with("\"tool_calls\"}", "\"length\"}"), {}},
      {kRole + kText + kFinish + kUsage + kDone, {"call_made", "finish_matches_calls"}},
      {with(kFinish, kFinish + kText), {"nothing_after_finish"}},
      {with(kFinish, kFinish + frame("\"choices\":[]")), {"nothing_after_finish"}},
      {with(kText, frame("\"choices\":[]") + kText), {}},
      {with(kUsage, ""), {"usage_as_asked"}},
      {with("\"total_tokens\":5", "\"total_tokens\":\"5\""), {"usage_form"}},
      {kRole + kStart + kHalf + kRest + kUsage + kFinish + kDone, {"usage_last"}},
      {with(kUsage, kUsage + kUsage), {"usage_last"}},
      {with(kDone, ""), {"done_once"}},
      {good() + kDone, {"done_once"}},
      {good() + kText, {"nothing_after_done"}},
      {with("Let me", "<tool_\"},\"finish_reason\":null}]}\n\n" + delta("\"content\":\"call>\"") +
                          "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,"
                          "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\""),
       {"no_markup"}},
      {with("Let me", "hunter2-hunter2"), {"no_secrets"}},
      {with("Let me", "sk-abcdefgh12345678"), {"no_secrets"}},
      {": Bearer abcdefgh12345678\n\n" + good(), {"no_secrets"}},
      {with("Let me", "ask-me-about-sk-learn-and-friends"), {}},
  };
}

TEST(ChatContract, every_defect_fails_its_rules_and_no_other) {
  for (const auto& cases : {broken_frames(), broken_calls(), broken_ends()}) {
    for (const Broken& broken : cases) {
      EXPECT_EQ(failed(check(broken.stream)), broken.rules) << broken.stream;
      EXPECT_EQ(failed(check(broken.stream, kTerms, 1)), broken.rules) << broken.stream;
    }
  }
}

TEST(ChatContract, any_bytes_get_verdicts_that_do_not_depend_on_cuts) {
  const std::string stream = good();
  for (std::size_t at = 0; at < stream.size(); at += 3) {
    for (const char c : {'"', '\\', '\n', '\xC3'}) {
      std::string changed = stream;
      changed[at] = c;
      EXPECT_EQ(failed(check(changed)), failed(check(changed, kTerms, 97))) << changed;
    }
    EXPECT_NE(failed(check(stream.substr(0, at))), Rules{}) << at;
  }
}

TEST(ChatContract, a_word_is_no_key_wherever_the_bytes_are_cut) {
  const std::string words(700, '.');
  EXPECT_EQ(failed(check(with("Let me", words + "task-abcdefgh12345678" + words), kTerms, 1)),
            Rules{});
}

TEST(ChatContract, the_head_has_rules_of_its_own) {
  ChatContract plain(kTerms);
  plain.accept_head(200, "Text/Event-Stream ; charset=utf-8", "x-echo: nothing");
  plain.push(good());
  plain.finish();
  EXPECT_EQ(failed(plain), Rules{});

  ChatContract page(kTerms);
  page.accept_head(200, "text/html");
  page.push(good());
  page.finish("the connection was reset");
  EXPECT_EQ(failed(page), (Rules{"content_type", "stream_complete"}));

  ChatContract refused(kTerms);
  refused.accept_head(401, "application/json", "x-echo: hunter2-hunter2");
  refused.push(R"({"error":"hunter2-)");
  refused.push(R"(hunter2 is wrong"})");
  refused.finish();
  EXPECT_EQ(failed(refused), (Rules{"status_ok", "no_secrets"}));
  EXPECT_EQ(refused.verdicts().front().seen, R"(401: {"error":"*** is wrong"})");
}

TEST(ChatContract, what_was_asked_decides) {
  ContractTerms terms = kTerms;
  terms.include_usage = false;
  EXPECT_EQ(failed(check(good(), terms)), Rules{"usage_as_asked"});
  EXPECT_EQ(failed(check(with(kUsage, ""), terms)), Rules{});
  const std::string null_usage = with("}]}\n", "}],\"usage\":null}\n", with(kUsage, ""));
  EXPECT_EQ(failed(check(null_usage, terms)), Rules{});
  terms.include_usage = true;
  terms.usage_known = false;
  EXPECT_EQ(failed(check(with(kUsage, ""), terms)), Rules{});
  terms.forced_tool = "get_weather";
  EXPECT_EQ(failed(check(with("\"tool_calls\"}", "\"stop\"}"), terms)), Rules{});
  terms.forced_tool = "get_time";
  EXPECT_EQ(failed(check(good(), terms)), Rules{"forced_tool"});
  terms.choices = 2;
  EXPECT_EQ(failed(check(good(), terms)),
            (Rules{"forced_tool", "call_made", "finish_once", "role_first", "usage_last"}));
}

TEST(ChatContract, no_sentence_repeats_a_key) {
  const std::string secret = "hunter2-hunter2";
  const std::string padding(75, 'x');
  for (const std::string& stream :
       {with("Let me", padding + secret), with("get_weather", secret), with("Paris\\\"}", secret),
        with("\"choices\":[],", "\"x\":\"" + secret + "\","), with("tool_calls\"}", secret + "\"}"),
        kRole + "data: " + padding.substr(4) + secret + "\n\n"}) {
    ChatContract contract = check(stream);
    EXPECT_TRUE(failed(contract).contains("no_secrets")) << stream;
    for (const RuleVerdict& verdict : contract.verdicts()) {
      EXPECT_EQ(verdict.seen.find("hunter"), std::string::npos) << verdict.seen;
    }
  }
  EXPECT_EQ(mask_secrets("a hunter2-hunter2 b sk-abcdefgh12345678", kSecrets), "a *** b ***");
}

TEST(ChatContract, the_transcript_knows_no_ids_no_times_and_no_cuts) {
  const std::string expected =
      "choice 0 content \"Let me look.\"\n"
      "choice 0 call 0 \"get_weather\"\n"
      "choice 0 call 0 arguments \"{\\\"city\\\":\\\"Paris\\\"}\"\n"
      "choice 0 finish \"tool_calls\"\n"
      "usage prompt_tokens 3, completion_tokens 2, total_tokens 5\n"
      "model \"m\"\ndone\n";
  EXPECT_EQ(check(good()).transcript(), expected);
  std::string other = kRole + delta("\"content\":\"Let \"") + delta("\"content\":\"me look.\"") +
                      with("\"a\"", "\"z\"", kStart) + kHalf + kRest + kFinish + kUsage + kDone;
  for (std::size_t at = 0; (at = other.find("\"created\":1", at)) != std::string::npos; ++at) {
    other.replace(at, 11, "\"created\":2");
  }
  EXPECT_EQ(check(other).transcript(), expected);
  EXPECT_NE(check(with("Paris", "Rome")).transcript(), expected);
}

TEST(ChatContract, rules_have_names_of_their_own_and_say_one_sentence) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kContractRuleCount; ++i) {
    const ContractRuleText text = text_of(static_cast<ContractRule>(i));
    EXPECT_TRUE(names.insert(text.name).second) << text.name;
    EXPECT_TRUE(text.asks.ends_with(".")) << text.name;
  }
}

}  // namespace
}  // namespace callgate::contract::chat_contract_test
