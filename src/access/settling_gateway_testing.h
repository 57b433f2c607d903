// One of several gateways on a database, for tests of limits. It settles when the test says so.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "access/shared_limits.h"
#include "store/migration.h"

namespace callgate::server {

class SettlingGateway {
 public:
  SettlingGateway(const std::string& url, const std::string& name, const KeyConfig& key)
      : database_(store::open_migrated(url, {}).value()),
        tables_{store::SessionTable(*database_),   store::NodeTable(*database_, name),
                store::MemoryTable(*database_),    store::ResponseTable(*database_),
                store::KeyTable(*database_),       store::BudgetTable(*database_, name),
                store::RoomTable(*database_, name)},
        sessions_("sqlite::memory:", name, {}),  // it never settles by itself
        limits_(sessions_),
        key_(std::make_shared<KeyState>(key)) {
    EXPECT_TRUE(tables_.nodes.beat(std::chrono::milliseconds(60'000)));
    limits_.set_keys({key_});
  }
  void settle() { limits_.settle(&tables_); }
  void settle_budgets() { limits_.settle(&tables_, false); }
  void lose_store() { limits_.settle(nullptr); }
  KeyState& key() { return *key_; }
  store::NodeTable& nodes() { return tables_.nodes; }

 private:
  std::unique_ptr<store::Database> database_;
  store::Sessions::Tables tables_;
  store::Sessions sessions_;
  SharedLimits limits_;
  std::shared_ptr<KeyState> key_;
};

}  // namespace callgate::server
