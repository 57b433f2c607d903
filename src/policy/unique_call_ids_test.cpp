#include "policy/unique_call_ids.h"

#include <gtest/gtest.h>

#include "chat/event_log.h"

namespace callgate::policy::unique_call_ids_test {
namespace {

std::vector<LoggedCall> ids_of(std::initializer_list<std::string_view> native_ids,
                               CallIdStyle style = CallIdStyle::native) {
  IdMint mint(7);
  UniqueCallIds stage(style, mint);
  EventLog log;
  CallIndex call = 0;
  for (const std::string_view id : native_ids) {
    stage.push(CallStarted{call, "f", id}, log);
    stage.push(CallFinished{call++, CallOutcome::complete}, log);
  }
  return log.calls();
}

TEST(UniqueCallIds, keeps_an_id_that_no_other_call_has) {
  const auto calls = ids_of({"a", "functions.find:0"});
  EXPECT_EQ(calls[0].id, "a");
  EXPECT_EQ(calls[1].id, "functions.find:0");
}

TEST(UniqueCallIds, mints_every_id_when_the_style_says_so) {
  const auto calls = ids_of({"functions.find:0", "a"}, CallIdStyle::random);
  EXPECT_EQ(calls[0].id.substr(0, 5), "call_");
  EXPECT_EQ(calls[1].id.substr(0, 5), "call_");
}

TEST(UniqueCallIds, mints_an_id_where_there_is_none) {
  const auto calls = ids_of({"", ""});
  EXPECT_EQ(calls[0].id.size(), 29u);
  EXPECT_EQ(calls[0].id.substr(0, 5), "call_");
  EXPECT_NE(calls[0].id, calls[1].id);
}

TEST(UniqueCallIds, replaces_an_id_that_an_earlier_call_has) {
  const auto calls = ids_of({"a", "a"});
  EXPECT_EQ(calls[0].id, "a");
  EXPECT_EQ(calls[1].id.substr(0, 5), "call_");
}

TEST(UniqueCallIds, mints_the_same_ids_from_the_same_seed) {
  EXPECT_EQ(ids_of({""})[0].id, ids_of({""})[0].id);
}

TEST(UniqueCallIds, passes_everything_else_on) {
  IdMint mint(7);
  UniqueCallIds stage(CallIdStyle::native, mint);
  EventLog log;
  stage.push(TextDelta{"hi"}, log);
  stage.push(TurnFinished{FinishReason::stop}, log);
  EXPECT_EQ(print(log.events()), "text \"hi\"\nfinish stop\n");
}

}  // namespace
}  // namespace callgate::policy::unique_call_ids_test
