// What both engines must do alike: tests with an empty store of either engine.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "store/postgres_testing.h"
#include "store/request_log.h"
#include "store/scratch_testing.h"

namespace callgate::store {

inline std::unique_ptr<RequestLog> open_log(const std::string& url,
                                            RequestLogOptions options = {}) {
  auto log = make_request_log(url, std::move(options));
  EXPECT_TRUE(log) << log.error().message;
  return std::move(*log);
}

class StoreContract : public testing::TestWithParam<Engine> {
 protected:
  ~StoreContract() override {
    for (const std::string& url : stores_) shared_postgres().give_back(url);
  }
  bool is_sqlite() const { return GetParam() == Engine::sqlite; }
  // Of a store that is this test's own.
  const std::string& url() const { return url_; }
  const std::string& folder() const { return folder_.path(); }
  std::string new_url(bool without_tables = false) {
    if (!is_sqlite()) {
      return stores_.emplace_back(shared_postgres().new_store(without_tables));
    }
    return "sqlite:" + folder_.path() + "/" + std::to_string(++files_) + ".db";
  }

 private:
  ScratchFolder folder_;
  int files_ = 0;
  std::vector<std::string> stores_;
  std::string url_ = new_url();
};

#define CALLGATE_ON_BOTH_ENGINES(suite)                                    \
  INSTANTIATE_TEST_SUITE_P(                                                \
      Engines, suite, testing::Values(Engine::sqlite, Engine::postgresql), \
      [](const auto& engine) { return std::string(to_string(engine.param)); })

}  // namespace callgate::store
