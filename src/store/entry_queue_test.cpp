#include "store/entry_queue.h"

#include <gtest/gtest.h>

#include <thread>

#include "store/scratch_testing.h"

namespace callgate::store::entry_queue_test {
namespace {

using std::chrono::milliseconds;

QueueLimits limits(std::size_t entries, std::size_t batch, milliseconds linger) {
  return {.entries = entries, .batch = batch, .linger = linger};
}

TEST(EntryQueue, sheds_bodies_that_do_not_fit_and_keeps_their_rows) {
  QueueLimits small = limits(100, 512, milliseconds(0));
  small.bytes = 1000;
  EntryQueue queue(small);
  for (int i = 0; i < 3; ++i) {
    queue.push(RequestRecord{.id = "a", .received = std::string(400, 'x')});
  }
  queue.push(RequestOutcome{.id = "a", .response = std::string(1001, 'x'), .search = "word"});
  EXPECT_EQ(queue.shed(), 2u);
  EXPECT_EQ(queue.dropped(), 0u);
  std::vector<Entry> taken;
  ASSERT_TRUE(queue.take(taken, kLong));
  ASSERT_EQ(taken.size(), 4u);
  EXPECT_EQ(body_bytes(taken[1]), 400u);
  EXPECT_EQ(body_bytes(taken[2]), 0u);
  EXPECT_EQ(body_bytes(taken[3]), 0u);
  queue.settle(4);
  queue.push(RequestRecord{.id = "b", .received = std::string(1000, 'x')});
  EXPECT_EQ(queue.shed(), 2u);
}

TEST(EntryQueue, bodies_may_fill_the_limit_to_the_last_byte) {
  QueueLimits small = limits(100, 512, milliseconds(0));
  small.bytes = 10;
  EntryQueue queue(small);
  queue.push(RequestRecord{.id = "a", .received = "0123456789"});
  EXPECT_EQ(queue.shed(), 0u);
  queue.push(RequestRecord{.id = "b", .received = "0"});
  EXPECT_EQ(queue.shed(), 1u);
  std::vector<Entry> taken;
  ASSERT_TRUE(queue.take(taken, kLong));
  queue.push(RequestRecord{.id = "c", .received = "0"});
  EXPECT_EQ(queue.shed(), 2u) << "what was taken counts until it is settled";
  queue.settle(1);
  queue.push(RequestRecord{.id = "d", .received = "0"});
  EXPECT_EQ(queue.shed(), 3u) << "the batch is not settled";
  queue.settle(1);
  queue.push(RequestRecord{.id = "e", .received = "0123456789"});
  EXPECT_EQ(queue.shed(), 3u);
  queue.push(RequestRecord{.id = "f", .received = "0"});
  EXPECT_EQ(queue.shed(), 4u);
  EXPECT_EQ(queue.dropped(), 0u);
}

// The one thread of this test never takes anything: a push that waited would never return.
TEST(EntryQueue, a_caller_never_waits_for_room) {
  QueueLimits small = limits(100, 1, milliseconds(0));
  small.bytes = 10;
  EntryQueue queue(small);
  for (int i = 0; i < 1000; ++i) queue.push(RequestRecord{.id = "a", .received = "0123456789"});
  EXPECT_EQ(queue.shed(), 99u);
  EXPECT_EQ(queue.dropped(), 900u);
  EXPECT_EQ(queue.depth(), 100u);
}

TEST(EntryQueue, every_body_counts_and_is_shed_with_its_memory) {
  const std::string body(100, 'x');
  RequestOutcome outcome{.id = "a",
                         .error_message = "kept",
                         .call_rows = {{.id = "c", .name = "n", .result = CallResult{.text = body}},
                                       {.id = "d", .name = "n"}},
                         .sent = body,
                         .response = body,
                         .events = body,
                         .search = body};
  Entry entry(std::move(outcome));
  EXPECT_EQ(body_bytes(entry), 500u);
  shed_bodies(entry);
  EXPECT_EQ(body_bytes(entry), 0u);
  const auto& rest = std::get<RequestOutcome>(entry);
  for (const std::string* text :
       {&rest.sent, &rest.response, &rest.events, &rest.search, &rest.call_rows[0].result->text}) {
    EXPECT_LT(text->capacity(), 100u);
  }
  EXPECT_EQ(rest.error_message, "kept");
  EXPECT_EQ(rest.call_rows.size(), 2u);

  Entry begun(RequestRecord{.id = "a", .received = body});
  EXPECT_EQ(body_bytes(begun), 100u);
  shed_bodies(begun);
  EXPECT_LT(std::get<RequestRecord>(begun).received.capacity(), 100u);
}

TEST(EntryQueue, gives_all_that_was_pushed_in_order) {
  EntryQueue queue(limits(10, 2, milliseconds(0)));
  queue.push(RequestRecord{.id = "a"});
  queue.push(RequestOutcome{.id = "a"});
  queue.push(RequestRecord{.id = "b"});
  std::vector<Entry> taken;
  ASSERT_TRUE(queue.take(taken, kLong));
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(std::get<RequestRecord>(taken[2]).id, "b");
}

TEST(EntryQueue, refuses_begins_before_completes_and_counts_both) {
  EntryQueue queue(limits(2, 512, milliseconds(0)));
  for (int i = 0; i < 3; ++i) queue.push(RequestRecord{.id = "a"});
  EXPECT_EQ(queue.dropped(), 1u);
  for (int i = 0; i < 3; ++i) queue.push(RequestOutcome{.id = "a"});
  EXPECT_EQ(queue.dropped(), 2u);
  EXPECT_EQ(queue.depth(), 4u);
}

TEST(EntryQueue, counts_taken_entries_until_they_are_settled) {
  EntryQueue queue(limits(2, 512, milliseconds(0)));
  queue.push(RequestRecord{.id = "a"});
  queue.push(RequestRecord{.id = "b"});
  std::vector<Entry> taken;
  ASSERT_TRUE(queue.take(taken, kLong));
  queue.push(RequestRecord{.id = "c"});
  EXPECT_EQ(queue.dropped(), 1u);
  queue.settle(2);
  queue.push(RequestRecord{.id = "d"});
  EXPECT_EQ(queue.dropped(), 1u);
}

TEST(EntryQueue, lags_while_an_entry_is_not_settled) {
  EntryQueue queue(limits(10, 1, milliseconds(0)));
  EXPECT_EQ(queue.lag(), milliseconds(0));
  queue.push(RequestRecord{.id = "a"});
  std::this_thread::sleep_for(milliseconds(3));
  EXPECT_GE(queue.lag(), milliseconds(2));
  std::vector<Entry> taken;
  ASSERT_TRUE(queue.take(taken, kLong));
  EXPECT_GE(queue.lag(), milliseconds(2));
  queue.settle(1);
  EXPECT_EQ(queue.lag(), milliseconds(0));
}

TEST(EntryQueue, a_full_batch_ends_the_linger) {
  EntryQueue queue(limits(100, 3, kLong));
  for (int i = 0; i < 3; ++i) queue.push(RequestRecord{.id = "a"});
  const auto start = std::chrono::steady_clock::now();
  std::vector<Entry> taken;
  ASSERT_TRUE(queue.take(taken, kLong));
  EXPECT_LT(std::chrono::steady_clock::now() - start, kLong / 2);
}

TEST(EntryQueue, flush_ends_the_linger_and_waits_for_what_came_before) {
  EntryQueue queue(limits(100, 512, kLong));
  queue.push(RequestRecord{.id = "a"});
  std::thread writer([&] {
    std::vector<Entry> taken;
    ASSERT_TRUE(queue.take(taken, kLong));
    queue.settle(taken.size());
  });
  EXPECT_TRUE(queue.flush(kLong));
  writer.join();
}

TEST(EntryQueue, flush_gives_up_in_time) {
  EntryQueue queue(limits(100, 512, milliseconds(0)));
  queue.push(RequestRecord{.id = "a"});
  EXPECT_FALSE(queue.flush(milliseconds(1)));
}

TEST(EntryQueue, gives_what_is_left_after_the_stop_and_then_ends) {
  EntryQueue queue(limits(100, 512, kLong));
  queue.push(RequestRecord{.id = "a"});
  queue.stop();
  queue.push(RequestRecord{.id = "too late"});
  std::vector<Entry> taken;
  EXPECT_TRUE(queue.take(taken, kLong));
  EXPECT_EQ(taken.size(), 1u);
  taken.clear();
  EXPECT_FALSE(queue.take(taken, kLong));
  EXPECT_EQ(queue.dropped(), 1u);
}

}  // namespace
}  // namespace callgate::store::entry_queue_test
