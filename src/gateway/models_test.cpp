// What GET /v1/models and its kin are made from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "turn/snapshot.h"

namespace callgate::server::models_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Config two_models() {
  Config config;
  config.upstreams.push_back({.name = "u", .url = "http://u.test/v1"});
  config.models.push_back({.name = "big", .upstream = {"u"}, .aliases = {"gpt-big", "large"}});
  config.models.push_back({.name = "small", .upstream = {"u"}});
  return config;
}

std::vector<std::string> names(const Snapshot& snapshot, const KeyState* key) {
  std::vector<std::string> all;
  for (const ListedModel& listed : snapshot.list_models(key)) all.emplace_back(listed.name);
  return all;
}

KeyConfig key_for(std::vector<std::string> models) {
  KeyConfig config;
  config.name = "k";
  config.models = std::move(models);
  return config;
}

TEST(Models, lists_models_and_their_aliases) {
  const Snapshot snapshot(two_models(), Access({}, nullptr));
  EXPECT_THAT(names(snapshot, nullptr), ElementsAre("big", "gpt-big", "large", "small"));
  EXPECT_EQ(snapshot.choose_model(nullptr, "gpt-big")->config->name, "big");
}

TEST(Models, lists_only_what_the_key_may_use) {
  const Snapshot snapshot(two_models(), Access({}, nullptr));
  for (const std::string pattern : {"small", "gpt-*", "*", "none"}) {
    const KeyState key(key_for({pattern}));
    for (const std::string& name : names(snapshot, nullptr)) {
      const auto listed = names(snapshot, &key);
      const bool found = std::find(listed.begin(), listed.end(), name) != listed.end();
      EXPECT_EQ(found, snapshot.choose_model(&key, name).has_value()) << pattern << " " << name;
    }
  }
  const KeyState none(key_for({"none"}));
  EXPECT_THAT(names(snapshot, &none), IsEmpty());
}

TEST(Models, suggests_only_what_the_key_may_use) {
  const Snapshot snapshot(two_models(), Access({}, nullptr));
  const KeyState key(key_for({"big"}));
  EXPECT_THAT(snapshot.choose_model(&key, "bigg").error().message, Not(HasSubstr("small")));
  EXPECT_THAT(snapshot.choose_model(nullptr, "bigg").error().message, HasSubstr("\"big\""));
  EXPECT_THAT(snapshot.choose_model(nullptr, "nope").error().message,
              Not(HasSubstr("did you mean")));
  const KeyState none(key_for({"none"}));
  EXPECT_THAT(snapshot.choose_model(&none, "smal").error().message,
              Not(testing::AnyOf(HasSubstr("\"small\""), HasSubstr("\"big\""))));
  EXPECT_THAT(snapshot.choose_model(nullptr, "gpt-bg").error().message, HasSubstr("\"gpt-big\""));
}

TEST(Models, are_as_old_as_the_configuration) {
  // std::time() may lag behind the finer clock by a tick.
  const std::int64_t before = std::time(nullptr);
  const Snapshot snapshot(two_models(), Access({}, nullptr));
  EXPECT_GE(snapshot.loaded_at, before);
  EXPECT_LE(snapshot.loaded_at, std::time(nullptr) + 1);
}

}  // namespace
}  // namespace callgate::server::models_test
