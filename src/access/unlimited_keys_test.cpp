#include <gtest/gtest.h>

#include "access/shared_limits.h"
#include "store/migration.h"
#include "store/scratch_testing.h"

namespace callgate::server::unlimited_keys_test {
namespace {

// Several gateways share limits. What is not limited is not shared.
TEST(SharedLimits, leave_keys_alone_that_have_none) {
  const store::ScratchFolder scratch;
  const auto database = store::open_migrated(scratch.url(), {}).value();
  store::Sessions::Tables tables{
      store::SessionTable(*database),  store::NodeTable(*database, "a"),
      store::MemoryTable(*database),   store::ResponseTable(*database),
      store::KeyTable(*database),      store::BudgetTable(*database, "a"),
      store::RoomTable(*database, "a")};
  ASSERT_TRUE(tables.nodes.beat(std::chrono::milliseconds(60'000)));
  store::Sessions sessions("sqlite::memory:", "a", {});
  SharedLimits limits(sessions);
  KeyConfig config;
  config.name = "free";
  config.requests_per_minute = 0;
  config.max_streams = 0;
  const auto key = std::make_shared<KeyState>(config);
  limits.set_keys({key});
  limits.settle(&tables);
  EXPECT_FALSE(key->rate.limited());
  std::vector<std::unique_ptr<ConcurrencySlot>> slots;
  for (int i = 0; i < 20; ++i) {
    slots.push_back(std::make_unique<ConcurrencySlot>(key->streams));
    EXPECT_TRUE(*slots.back()) << i;
  }
}

}  // namespace
}  // namespace callgate::server::unlimited_keys_test
