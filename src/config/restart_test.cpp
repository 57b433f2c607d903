#include "config/restart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::server::restart_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ChangesForRestart, names_only_what_changed) {
  const Config running;
  EXPECT_THAT(changes_for_restart(running, running), IsEmpty());
  Config wanted;
  wanted.threads = 3;
  EXPECT_THAT(changes_for_restart(running, wanted), ElementsAre("threads"));
  wanted.listen = {"127.0.0.1:9"};
  wanted.log.format = "json";
  wanted.store.url = "none";
  wanted.store.queue = 7;
  wanted.otlp.sample_ratio = 0.5;
  EXPECT_THAT(changes_for_restart(running, wanted),
              ElementsAre("listen", "threads", "log.format", "store.url", "store.queue",
                          "otlp.sample_ratio"));
}

TEST(ChangesForRestart, leaves_out_what_a_reload_takes_up) {
  const Config running;
  Config wanted;
  wanted.maintenance = true;
  wanted.mcp = true;
  wanted.limits.max_streams = 7;
  wanted.limits.header_timeout = Milliseconds(7);
  wanted.log.level = "debug";
  wanted.store.content = false;
  wanted.store.overflow = "block";  // has no effect at all
  wanted.store.block_for = Milliseconds(7);
  wanted.cors.origins = {"*"};
  wanted.capture.dir = "captures";
  wanted.loop.max_calls = 7;
  wanted.rooms.queue = 7;
  wanted.keys.push_back({.name = "k"});
  wanted.upstreams.push_back({.name = "u"});
  wanted.models.push_back({.name = "m"});
  EXPECT_THAT(changes_for_restart(running, wanted), IsEmpty());
}

TEST(ChangesForRestart, tls_can_change_its_files_but_not_come_or_go) {
  const Config plain;
  Config secure;
  secure.tls = {.cert = "a.pem", .key = "a.key"};
  Config other;
  other.tls = {.cert = "b.pem", .key = "b.key"};
  EXPECT_THAT(changes_for_restart(secure, other), IsEmpty());
  EXPECT_THAT(changes_for_restart(plain, secure), ElementsAre("tls"));
  EXPECT_THAT(changes_for_restart(secure, plain), ElementsAre("tls"));
}

}  // namespace
}  // namespace callgate::server::restart_test
