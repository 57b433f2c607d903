#include "store/entry_queue.h"

#include <gtest/gtest.h>

#include <thread>

#include "store/scratch_testing.h"

namespace callgate::store {
namespace {

using std::chrono::milliseconds;

QueueLimits limits(std::size_t entries, std::size_t batch, milliseconds linger) {
  return {.entries = entries, .batch = batch, .linger = linger, .overflow = Overflow::shed};
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

TEST(EntryQueue, a_blocked_caller_goes_on_when_there_is_room) {
  QueueLimits small = limits(100, 1, milliseconds(0));
  small.bytes = 1000;
  small.overflow = Overflow::block;
  small.block_for = kLong;
  EntryQueue queue(small);
  queue.push(RequestRecord{.id = "a", .received = std::string(1000, 'x')});
  std::vector<Entry> taken;
  ASSERT_TRUE(queue.take(taken, kLong));
  std::thread caller(
      [&] { queue.push(RequestRecord{.id = "b", .received = std::string(1000, 'x')}); });
  std::this_thread::sleep_for(milliseconds(5));
  queue.settle(1);
  caller.join();
  EXPECT_EQ(queue.shed(), 0u);
  EXPECT_EQ(queue.depth(), 1u);
}

TEST(EntryQueue, only_the_first_caller_waits_for_a_store_that_is_too_slow) {
  QueueLimits small = limits(100, 1, milliseconds(0));
  small.bytes = 10;
  small.overflow = Overflow::block;
  small.block_for = milliseconds(30);
  EntryQueue queue(small);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) queue.push(RequestRecord{.id = "a", .received = "0123456789"});
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took, milliseconds(30));
  EXPECT_LT(took, milliseconds(1500));
  EXPECT_EQ(queue.shed(), 99u);
  EXPECT_EQ(queue.depth(), 100u);
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
}  // namespace callgate::store
