#include "client/call_ids.h"

#include <gtest/gtest.h>

namespace callgate::client::call_ids_test {
namespace {

TEST(CallIds, keeps_what_is_given) {
  CallIds ids;
  EXPECT_EQ(ids.called("find", "ax7"), "ax7");
  EXPECT_EQ(ids.answered("find", "ax7"), "ax7");
  EXPECT_EQ(ids.name_of("ax7"), "find");
  EXPECT_EQ(ids.name_of("ax8"), "");
}

TEST(CallIds, mints_the_same_ids_for_the_same_conversation) {
  CallIds first;
  CallIds second;
  const std::string id = first.called("find", "");
  EXPECT_EQ(id, "call_000000000000000000000000");
  EXPECT_EQ(second.called("find", ""), id);
  EXPECT_NE(second.called("find", ""), id);
}

TEST(CallIds, answers_by_name_in_the_order_of_the_calls) {
  CallIds ids;
  const std::string a = ids.called("find", "");
  const std::string b = ids.called("add", "");
  const std::string c = ids.called("find", "");
  EXPECT_EQ(ids.answered("add", ""), b);
  EXPECT_EQ(ids.answered("find", ""), a);
  EXPECT_EQ(ids.answered("find", ""), c);
}

TEST(CallIds, answers_by_place_without_a_name) {
  CallIds ids;
  const std::string a = ids.called("find", "");
  const std::string b = ids.called("add", "own");
  EXPECT_EQ(ids.answered("", ""), a);
  EXPECT_EQ(ids.answered("", ""), b);
}

TEST(CallIds, does_not_answer_a_call_twice) {
  CallIds ids;
  const std::string a = ids.called("find", "x");
  const std::string b = ids.called("find", "");
  EXPECT_EQ(ids.answered("find", "x"), a);
  EXPECT_EQ(ids.answered("find", ""), b);
  const std::string stray = ids.answered("find", "");
  EXPECT_NE(stray, a);
  EXPECT_NE(stray, b);
  EXPECT_NE(stray, "");
}

}  // namespace
}  // namespace callgate::client::call_ids_test
