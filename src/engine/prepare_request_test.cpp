#include "engine/prepare_request.h"

#include <gtest/gtest.h>

#include "callgate/dialect.h"
#include "chat/content.h"
#include "chat/event_log.h"
#include "client/protocol.h"
#include "dialect/render/render.h"

namespace callgate::engine::prepare_request_test {
namespace {

constexpr std::string_view kConversation = R"({"model":"m","messages":[
  {"role":"system","content":"Be brief."},
  {"role":"user","content":"weather?"},
  {"role":"assistant","content":"Let me look.","tool_calls":[
    {"id":"call_x","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Paris\"}"}},
    {"id":"call_y","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Rome\", \"days\": 2}"}}]},
  {"role":"tool","tool_call_id":"call_x","content":"sun"},
  {"role":"tool","tool_call_id":"call_y","content":""},
  {"role":"user","content":"thanks"}],
  "tools":[{"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":
    {"type":"object","properties":{"city":{"type":"string","description":"where"},
     "days":{"type":"integer","default":1},"unit":{"type":"string","enum":["C","F"]}},"required":["city"]}}}],
  "temperature":1.5,"max_completion_tokens":7})";

Request conversation() { return *client::find("openai_chat")->decode({.body = kConversation}); }

std::string text_at(const Request& request, std::size_t index) {
  return text_of(request.messages.at(index).content);
}

bool contains(std::string_view whole, std::string_view part) {
  return whole.find(part) != std::string_view::npos;
}

// The calls that a dialect's parser finds in a text.
EventLog parsed(const Dialect& dialect, std::string_view text, const Request& request) {
  EventLog log;
  const auto parser = dialect.make({.tools = request.tools, .commit = dialect.commit});
  parser->push(text, Channel::text, log);
  parser->finish(log);
  return log;
}

TEST(PrepareRequest, writes_tools_calls_and_results_into_the_prompt_of_every_dialect) {
  const Request request = conversation();
  int dialects = 0;
  for (const Dialect* dialect : dialect::all()) {
    if (!dialect::writes_calls_as_text(dialect->name)) continue;
    SCOPED_TRACE(dialect->name);
    ++dialects;
    RequestRules rules;
    rules.prompt_dialect = dialect->name;
    const Request prepared = prepare_request(request, rules);
    EXPECT_TRUE(prepared.tools.empty());
    ASSERT_EQ(prepared.messages.size(), 5u);
    const std::string prompt = text_at(prepared, 0);
    EXPECT_TRUE(prompt.starts_with("Be brief.\n\n# Tools"));
    for (const std::string_view word : {"get_weather", "city", "unit", "Tells the weather."}) {
      EXPECT_TRUE(contains(prompt, word)) << word;
    }

    // The worked example is a call that the dialect's parser reads.
    constexpr std::string_view kBefore = "with your own values:\n\n";
    const std::size_t example = prompt.find(kBefore) + kBefore.size();
    const EventLog shown =
        parsed(*dialect, prompt.substr(example, prompt.find("\n\nRules:") - example), request);
    ASSERT_EQ(shown.calls().size(), 1u);
    EXPECT_EQ(shown.calls()[0].name, "get_weather");
    EXPECT_TRUE(contains(shown.calls()[0].arguments, "the city"));

    // History reads back as what was called.
    const EventLog history = parsed(*dialect, text_at(prepared, 2), request);
    ASSERT_EQ(history.calls().size(), 2u);
    EXPECT_TRUE(contains(history.calls()[0].arguments, "Paris"));
    EXPECT_TRUE(contains(history.calls()[1].arguments, "2"));
    EXPECT_TRUE(contains(history.text(), "Let me look."));

    // All results, in order, with their ids; an empty one says so.
    EXPECT_EQ(prepared.messages[3].role, Role::user);
    const std::string results = text_at(prepared, 3);
    const std::size_t first = results.find("call_x");
    EXPECT_LT(first, results.find("sun"));
    EXPECT_LT(results.find("sun"), results.find("call_y"));
    EXPECT_TRUE(contains(results, "(the tool returned nothing)"));
  }
  EXPECT_GE(dialects, 46);
}

TEST(PrepareRequest, says_in_words_what_tool_choice_asks_for) {
  RequestRules rules;
  rules.prompt_dialect = "hermes";
  Request request = conversation();
  request.tool_choice = {ToolChoice::Mode::named, "get_weather"};
  request.parallel_tool_calls = false;
  const std::string prompt = text_at(prepare_request(request, rules), 0);
  EXPECT_TRUE(contains(prompt, "You must use the tool get_weather in this answer."));
  EXPECT_TRUE(contains(prompt, "Use one tool per answer at most."));
  request.tool_choice = {ToolChoice::Mode::required, ""};
  EXPECT_TRUE(contains(text_at(prepare_request(request, rules), 0), "You must use a tool"));
  request.tool_choice = {ToolChoice::Mode::none, ""};
  EXPECT_EQ(text_at(prepare_request(request, rules), 0), "Be brief.");
}

std::string field(const Request& request, std::string_view name) {
  return std::string(find_field(request.extra, name));
}

TEST(PrepareRequest, leaves_tools_to_the_upstream_and_calls_in_the_text) {
  const Request request = conversation();
  const Request prepared =
      prepare_request(request, {}, TextTools{.choose_none = true, .keep_special_tokens = true});
  EXPECT_EQ(prepared.tools.size(), 1u);
  EXPECT_EQ(prepared.tool_choice.mode, ToolChoice::Mode::none);
  EXPECT_EQ(field(prepared, "skip_special_tokens"), "false");
  EXPECT_EQ(prepared.messages[2].calls.size(), 2u) << "the template writes the history";
  EXPECT_EQ(text_at(prepared, 0), "Be brief.");

  Request automatic = request;
  automatic.tool_choice.mode = ToolChoice::Mode::automatic;
  const Request shown = prepare_request(automatic, {}, TextTools{});
  EXPECT_EQ(shown.tools.size(), 1u);
  EXPECT_EQ(shown.tool_choice.mode, ToolChoice::Mode::unset) << "the field is left out";
  EXPECT_EQ(field(shown, "skip_special_tokens"), "");
}

TEST(PrepareRequest, asks_in_words_for_a_call_that_stays_in_the_text) {
  Request request = conversation();
  const TextTools text{.choose_none = true};
  request.tool_choice = {ToolChoice::Mode::named, "get_weather"};
  const Request named = prepare_request(request, {}, text);
  EXPECT_EQ(text_at(named, 0), "Be brief.\n\nYou must use the tool get_weather in this answer.");
  EXPECT_EQ(named.tool_choice.mode, ToolChoice::Mode::none);
  EXPECT_EQ(named.tool_choice.name, "");
  request.tool_choice = {ToolChoice::Mode::required, ""};
  EXPECT_TRUE(contains(text_at(prepare_request(request, {}, text), 0), "You must use a tool"));
  request.tool_choice = {ToolChoice::Mode::none, ""};
  const Request none = prepare_request(request, {}, TextTools{});
  EXPECT_TRUE(none.tools.empty()) << "a model that must not call is not shown tools";
  EXPECT_EQ(text_at(none, 0), "Be brief.");
}

TEST(PrepareRequest, lets_forced_parameters_overrule_what_text_calls_need) {
  RequestRules rules;
  rules.params = {{"skip_special_tokens", {"true"}}};
  const Request prepared =
      prepare_request(conversation(), rules, TextTools{.keep_special_tokens = true});
  EXPECT_EQ(field(prepared, "skip_special_tokens"), "true");
  Request toolless = conversation();
  toolless.tools.clear();
  const Request plain =
      prepare_request(toolless, {}, TextTools{.choose_none = true, .keep_special_tokens = true});
  EXPECT_EQ(plain.tool_choice.mode, ToolChoice::Mode::unset);
  EXPECT_EQ(field(plain, "skip_special_tokens"), "");
}

TEST(PrepareRequest, makes_a_system_prompt_where_there_is_none) {
  RequestRules rules;
  rules.system = SystemPrompts::drop;
  rules.prompt_dialect = "generic_xml";
  const Request prepared = prepare_request(conversation(), rules);
  EXPECT_EQ(prepared.messages[0].role, Role::system);
  const std::string prompt = text_at(prepared, 0);
  EXPECT_TRUE(prompt.starts_with("# Tools"));
  EXPECT_TRUE(contains(prompt, "- city (string, required): where\n"));
  EXPECT_TRUE(contains(prompt, "- days (integer, optional, default 1)\n"));
  EXPECT_TRUE(contains(prompt, "- unit (string, optional, one of [\"C\",\"F\"])\n"));
}

TEST(PrepareRequest, keeps_images_of_a_message_that_gets_text) {
  Request request = conversation();
  request.messages[2].content.text = R"([{"type":"image_url","image_url":{"url":"u"}}])";
  RequestRules rules;
  rules.prompt_dialect = "hermes";
  const auto parts = parts_of(prepare_request(request, rules).messages[2].content);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].kind, ContentPart::Kind::image);
  EXPECT_TRUE(contains(parts[1].text, "<tool_call>"));
}

TEST(PrepareRequest, keeps_the_first_system_prompt_or_none) {
  Request request = conversation();
  Message late{.role = Role::developer, .content = {"\"late\""}};
  request.messages.push_back(late);
  RequestRules rules;
  rules.system = SystemPrompts::first;
  EXPECT_EQ(prepare_request(request, rules).messages.size(), request.messages.size() - 1);
  rules.system = SystemPrompts::drop;
  EXPECT_EQ(prepare_request(request, rules).messages.size(), request.messages.size() - 2);
}

TEST(PrepareRequest, forces_parameters) {
  RequestRules rules;
  rules.params = {{"temperature", {"0.6"}}, {"max_tokens", {"100"}}};
  const Request prepared = prepare_request(conversation(), rules);
  ASSERT_EQ(prepared.extra.size(), 2u);
  EXPECT_EQ(prepared.extra[0].value.text, "0.6");
  EXPECT_EQ(prepared.extra[1].name, "max_tokens");
}

TEST(PrepareRequest, gives_foreign_ids_the_form_that_the_model_knows) {
  RequestRules rules;
  rules.call_ids = CallIdForm::kimi;
  Request request = conversation();
  request.messages[2].calls[1].id = request.messages[4].tool_call_id = "functions.get_weather:0";
  const Request kimi = prepare_request(request, rules);
  EXPECT_EQ(kimi.messages[2].calls[1].id, "functions.get_weather:0");
  EXPECT_EQ(kimi.messages[2].calls[0].id, "functions.get_weather:1");
  EXPECT_EQ(kimi.messages[3].tool_call_id, "functions.get_weather:1");
  EXPECT_EQ(kimi.messages[4].tool_call_id, "functions.get_weather:0");

  rules.call_ids = CallIdForm::mistral;
  request.messages[2].calls[1].id = request.messages[4].tool_call_id = "aB3dE6gH9";
  const Request mistral = prepare_request(request, rules);
  EXPECT_EQ(mistral.messages[2].calls[1].id, "aB3dE6gH9");
  EXPECT_EQ(mistral.messages[2].calls[0].id.size(), 9u);
  EXPECT_EQ(mistral.messages[3].tool_call_id, mistral.messages[2].calls[0].id);
}

TEST(PrepareRequest, knows_which_dialects_insist_on_a_form_of_ids) {
  EXPECT_EQ(call_ids_of("kimi_k2"), CallIdForm::kimi);
  EXPECT_EQ(call_ids_of("mistral_old"), CallIdForm::mistral);
  EXPECT_EQ(call_ids_of("mistral_v13"), CallIdForm::mistral);
  for (const std::string_view dialect : {"", "hermes", "kimi_k3", "native"}) {
    EXPECT_EQ(call_ids_of(dialect), CallIdForm::any) << dialect;
  }
}

TEST(PrepareRequest, mistral_takes_nine_letters_or_digits_and_nothing_else) {
  Request request = conversation();
  RequestRules rules;
  rules.call_ids = CallIdForm::mistral;
  for (const std::string id : {"aB3dE6gH", "aB3dE6gH99", "aB3dE6gH_", "aB3dE6g:9", "aB3d{6gH9",
                               "aB3d[6gH9", "aB3d/6gH9", "aB3d`6gH9", "aB3d@6gH9"}) {
    request.messages[2].calls[0].id = id;
    const std::string mapped = prepare_request(request, rules).messages[2].calls[0].id;
    EXPECT_NE(mapped, id);
    EXPECT_EQ(mapped.size(), 9u) << id;
    EXPECT_EQ(mapped.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "abcdefghijklmnopqrstuvwxyz"),
              std::string::npos)
        << mapped;
  }
  for (const std::string id :
       {"000000000", "999999999", "AAAAAAAAA", "ZZZZZZZZZ", "aaaaaaaaa", "zzzzzzzzz"}) {
    request.messages[2].calls[0].id = id;
    EXPECT_EQ(prepare_request(request, rules).messages[2].calls[0].id, id);
  }
}

TEST(PrepareRequest, mistral_gets_a_valid_id_for_a_result_whose_call_is_gone) {
  Request request = conversation();
  request.messages[2].calls.clear();
  request.messages[4].tool_call_id = "";
  RequestRules rules;
  rules.call_ids = CallIdForm::mistral;
  const Request prepared = prepare_request(request, rules);
  EXPECT_EQ(prepared.messages[3].tool_call_id.size(), 9u);
  EXPECT_EQ(prepared.messages[4].tool_call_id, "") << "nothing to map";
}

TEST(PrepareRequest, rules_say_whether_they_change_anything) {
  EXPECT_FALSE(RequestRules{}.change_anything());
  RequestRules rules;
  rules.system = SystemPrompts::first;
  EXPECT_TRUE(rules.change_anything());
  rules = {};
  rules.call_ids = CallIdForm::kimi;
  EXPECT_TRUE(rules.change_anything());
  rules = {};
  rules.prompt_dialect = "hermes";
  EXPECT_TRUE(rules.change_anything());
  rules = {};
  rules.params = {{"temperature", {"0"}}};
  EXPECT_TRUE(rules.change_anything());
}

}  // namespace
}  // namespace callgate::engine::prepare_request_test
