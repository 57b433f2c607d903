#include <gtest/gtest.h>

#include "loop/transcript_testing.h"

namespace callgate::loop::state_test {
namespace {

State sample() {
  Message assistant{.role = Role::assistant, .content = {"null"}};
  assistant.calls.push_back({"k1", "ask", "{\"q\":\"\\\"\"}", {{"index", {"0"}}}});
  assistant.extra.push_back({"reasoning_details", {R"([{"signature":"x"}])"}});
  Message result = message_of(Role::tool, "two \xE2\x82\xAC");
  result.tool_call_id = "s2";
  Message user = message_of(Role::user, "hi");
  user.name = "Ann";
  return {.legs = {{.messages = {assistant}, .results = {result}}, {}},
          .injected = {user},
          .rounds = 2,
          .calls = 7,
          .advisories = 1,
          .tool_calls = {{"a \"b\"", 3}},
          .repeated_calls = {{"00ff", 2}},
          .repeated_results = {{"11ee", 1}},
          .evictions = 4,
          .evicted = {{"r4", "long\n"}},
          .found_tools = {"a", "b"}};
}

TEST(LoopState, comes_back_as_it_was) {
  const std::string text = encode_state(sample());
  const Result<State> back = decode_state(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(encode_state(*back), text);
  ASSERT_EQ(back->legs.size(), 2u);
  EXPECT_EQ(print_messages(back->legs[0].messages), print_messages(sample().legs[0].messages));
  EXPECT_EQ(print_messages(back->legs[0].results), print_messages(sample().legs[0].results));
  EXPECT_EQ(back->legs[0].messages[0].calls[0].extra, sample().legs[0].messages[0].calls[0].extra);
  EXPECT_EQ(back->injected[0].name, "Ann");
  EXPECT_EQ(back->rounds, 2u);
  EXPECT_EQ(back->calls, 7u);
  EXPECT_EQ(back->advisories, 1u);
  EXPECT_EQ(back->tool_calls, sample().tool_calls);
  EXPECT_EQ(back->repeated_calls, sample().repeated_calls);
  EXPECT_EQ(back->repeated_results, sample().repeated_results);
  EXPECT_EQ(back->evictions, 4u);
  EXPECT_EQ(back->evicted, sample().evicted);
  EXPECT_EQ(back->found_tools, sample().found_tools);
}

TEST(LoopState, knows_every_role_and_counts_to_the_last) {
  State state;
  state.rounds = 0xFFFFFFFF;
  for (const Role role : {Role::system, Role::developer, Role::user, Role::assistant, Role::tool}) {
    state.injected.push_back(message_of(role, "x"));
  }
  const Result<State> back = decode_state(encode_state(state));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->rounds, 0xFFFFFFFF);
  ASSERT_EQ(back->injected.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(back->injected[i].role, state.injected[i].role);
  EXPECT_FALSE(decode_state(R"({"rounds":4294967296})"));
  const std::string text = encode_state(state);
  for (const std::string_view word : {"system", "developer", "user", "assistant", "tool"}) {
    EXPECT_NE(text.find("\"role\":\"" + std::string(word) + "\""), text.npos) << text;
  }
}

TEST(LoopState, refuses_a_text_that_is_not_a_state) {
  for (const std::string_view text :
       {"", "[]", "{", R"({"rounds":-1})", R"({"rounds":"2"})",
        R"({"legs":[{"messages":[{"role":"robot"}]}]})", R"({"evicted":[7]})", R"({"legs":{}})"}) {
    const Result<State> state = decode_state(text);
    ASSERT_FALSE(state) << text;
    EXPECT_EQ(state.error().code, ErrorCode::invalid_request) << text;
    EXPECT_TRUE(state.error().message.starts_with("loop state, byte ")) << state.error().message;
  }
  EXPECT_TRUE(decode_state(R"({"unknown":[1,{}]})"));
}

TEST(ToolLoop, answers_with_one_choice_only) {
  std::string out;
  PrintedClient client(out);
  Request request;
  request.choices = 2;
  const Result<ToolLoop> made = ToolLoop::make(request, {}, {}, client);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().param, "n");
}

TEST(ToolLoop, what_is_in_memory_already_is_not_given_back_and_its_ids_are_taken) {
  Request request;
  request.messages = {message_of(Role::user, "One"),
                      {.role = Role::assistant, .content = {"null"}},
                      message_of(Role::tool, "1"),
                      message_of(Role::user, "Two"),
                      message_of(Role::user, "Three")};
  request.messages[1].calls.push_back({"tc1", "a", "{}", {}});
  request.messages[2].tool_call_id = "tc1";
  for (const Memory memory : {Memory::inside, Memory::outside}) {
    std::string out;
    PrintedClient client(out);
    Result<ToolLoop> loop =
        ToolLoop::make(request, {.memory = memory, .in_memory = 4, .id_seed = 1},
                       {{.spec = {.name = "a"}}}, client);
    loop->start(0);
    const auto first = loop->take_actions();
    const auto& call = std::get<CallModel>(first[0]);
    const bool inside = memory == Memory::inside;
    EXPECT_EQ(call.request.messages.size(), inside ? 1u : 5u);
    EXPECT_EQ(call.remember, inside ? 1u : 0u);
    loop->accept(CallStarted{0, "a", "tc1"});
    loop->accept(CallFinished{0, CallOutcome::complete});
    const auto ran = loop->take_actions();
    EXPECT_NE(std::get<RunTool>(ran[0]).call_id, "tc1") << "that one is taken";
    loop->accept(TurnFinished{FinishReason::tool_calls});
    loop->finish_run(1, {.text = "2"}, 1);
    const auto second = loop->take_actions();
    EXPECT_EQ(std::get<CallModel>(second[0]).remember, inside ? 2u : 0u);
    loop->accept(TextDelta{"Done."});
    loop->accept(TurnFinished{FinishReason::stop});
    const auto last = loop->take_actions();
    EXPECT_EQ(print_messages(std::get<Finish>(last[0]).remember),
              inside ? "assistant \"Done.\"" : "user \"Three\"\n  assistant \"Done.\"");
  }
}

TEST(ToolLoop, tells_the_first_deadline) {
  std::string out;
  PrintedClient client(out);
  Request request;
  Result<ToolLoop> loop = ToolLoop::make(request, {.loop_timeout = 0},
                                         {{.spec = {.name = "a"}, .timeout = 70}}, client);
  ASSERT_TRUE(loop);
  EXPECT_FALSE(loop->deadline());
  loop->start(1000);
  EXPECT_FALSE(loop->deadline()) << "no limit";
  loop->on_time(1010);
  loop->accept(CallStarted{0, "a", "x"});
  loop->accept(CallFinished{0, CallOutcome::complete});
  EXPECT_EQ(loop->deadline(), 1080);
  EXPECT_TRUE(loop->finish_run(1, {.text = "in time"}, 1080));
  EXPECT_FALSE(loop->finish_run(1, {.text = "again"}, 1081));
  EXPECT_FALSE(loop->finish_run(0, {}, 1081));
  EXPECT_FALSE(loop->approve(1, 1081));
  loop->cancel(1090);
  EXPECT_TRUE(loop->finished());
  EXPECT_EQ(loop->calls_made(), 1u);
}

}  // namespace
}  // namespace callgate::loop::state_test
