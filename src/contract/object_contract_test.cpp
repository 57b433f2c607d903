#include "contract/object_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::contract::object_contract_test {
namespace {

const ToolSpec& weather() {
  static const ToolSpec tool = [] {
    ToolSpec made;
    made.name = "get_weather";
    made.parameters.text = R"({"type":"object","required":["city"]})";
    return made;
  }();
  return tool;
}

ContractTerms terms() {
  static constexpr std::string_view kMarkers[] = {"<tool_call>"};
  static constexpr std::string_view kSecrets[] = {"secret-0123456789"};
  ContractTerms made;
  made.tools = {&weather(), 1};
  made.call_expected = true;
  made.markers = kMarkers;
  made.secrets = kSecrets;
  return made;
}

std::vector<std::string> failures(std::string_view protocol, std::string_view type,
                                  std::string_view bytes, std::size_t step) {
  const auto contract = make_contract(protocol, terms());
  contract->accept_head(200, type);
  for (std::size_t at = 0; at < bytes.size(); at += step) contract->push(bytes.substr(at, step));
  contract->finish();
  std::vector<std::string> failed;
  for (const RuleVerdict& verdict : contract->verdicts()) {
    EXPECT_EQ(verdict.seen.find("secret-0123456789"), std::string::npos);
    if (verdict.verdict == Verdict::fail) failed.emplace_back(verdict.rule);
  }
  return failed;
}

const std::string kGeminiCall =
    R"(data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"get_weather","args":{"city":"Paris"}}}],"role":"model"},"index":0}],"modelVersion":"m"})"
    "\n\n";
const std::string kGeminiEnd =
    R"(data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1},"modelVersion":"m"})"
    "\n\n";
const std::string kOllamaCall =
    R"({"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"get_weather","arguments":{"city":"Paris"}}}]},"done":false})"
    "\n";
const std::string kOllamaEnd =
    R"({"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":2})"
    "\n";

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

TEST(ObjectContract, finds_what_is_wrong) {
  using testing::ElementsAre;
  using testing::IsEmpty;
  struct Case {
    std::string_view protocol;
    std::string bytes;
    std::vector<std::string> failed;
  };
  const std::string gemini = kGeminiCall + kGeminiEnd;
  const std::string ollama = kOllamaCall + kOllamaEnd;
  const Case cases[] = {
      {"gemini", gemini, {}},
      {"gemini", ": hello\n\n" + gemini, {"no_comments"}},
      {"gemini", kGeminiCall, {"stream_complete", "finish_once"}},
      {"gemini", gemini + kGeminiEnd, {"finish_once"}},
      {"gemini", gemini + kGeminiCall, {"nothing_after_finish"}},
      {"gemini", replaced(gemini, "STOP", "DONE"), {"finish_reason_known"}},
      {"gemini", replaced(gemini, "promptTokenCount", "tokens"), {"usage_form"}},
      {"gemini", replaced(gemini, R"("city")", R"("town")"), {"arguments_fit_tool"}},
      {"gemini", replaced(gemini, "get_weather", "get_time"), {"tool_is_declared"}},
      {"gemini", replaced(gemini, R"({"city":"Paris"})", R"("{}")"), {"arguments_are_objects"}},
      {"gemini", replaced(gemini, R"({"text":""})", R"({"text":"<tool_call>"})"), {"no_markup"}},
      {"gemini", kGeminiEnd, {"call_made"}},
      {"gemini",
       "data: {\"error\":{\"code\":500}}\n\n",
       {"stream_complete", "no_error", "call_made", "finish_once"}},
      {"ollama", ollama, {}},
      {"ollama", kOllamaCall + "\n" + kOllamaEnd, {"no_comments"}},
      {"ollama", kOllamaCall, {"stream_complete", "finish_once"}},
      {"ollama", replaced(ollama, "\"eval_count\"", "\"count\""), {"usage_form"}},
      {"ollama", replaced(ollama, R"({"city":"Paris"})", R"("{}")"), {"arguments_are_objects"}},
      {"ollama", "not json\n" + ollama, {"frames_are_json"}},
      {"ollama",
       replaced(ollama, R"("content":"")", R"("content":"secret-0123456789")"),
       {"no_secrets"}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.bytes);
    const std::string_view type =
        each.protocol == "gemini" ? "text/event-stream" : "application/x-ndjson";
    EXPECT_EQ(failures(each.protocol, type, each.bytes, 4096), each.failed);
    EXPECT_EQ(failures(each.protocol, type, each.bytes, 1), each.failed);
  }
  EXPECT_THAT(failures("ollama", "application/json", ollama, 4096), ElementsAre("content_type"));
}

TEST(ObjectContract, has_the_same_transcript_however_it_was_cut) {
  const auto transcript = [](std::size_t step, const std::string& bytes) {
    const auto contract = make_contract("ollama", terms());
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      contract->push(std::string_view(bytes).substr(at, step));
    }
    contract->finish();
    return contract->transcript();
  };
  const std::string bytes = kOllamaCall + kOllamaEnd;
  EXPECT_EQ(transcript(1, bytes), "call \"get_weather\" {\"city\":\"Paris\"}\nfinish \"stop\"\n");
  EXPECT_EQ(transcript(4096, bytes), transcript(1, bytes));
}

TEST(ObjectContract, says_of_a_refusal_only_that_it_is_one) {
  const auto contract = make_contract("gemini", terms());
  contract->accept_head(404, "application/json");
  contract->push("{}");
  contract->finish();
  EXPECT_EQ(contract->verdicts()[0].verdict, Verdict::fail);
  EXPECT_EQ(contract->verdicts()[0].seen, "404");
}

}  // namespace
}  // namespace callgate::contract::object_contract_test
