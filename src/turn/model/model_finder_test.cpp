#include "turn/model/model_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "turn/snapshot.h"

namespace callgate::server::model_finder_test {
namespace {

using testing::ElementsAre;

class ModelFinderTest : public testing::Test {
 protected:
  // Two servers that list models, one of them under a prefix, and one that does not.
  ModelFinderTest() {
    config_.upstreams.push_back({.name = "gpu", .url = "http://gpu.test/v1", .models = {"*"}});
    config_.upstreams.push_back(
        {.name = "gpu2", .url = "http://gpu2.test/v1", .models = {"qwen*"}});
    config_.upstreams.push_back({.name = "lab",
                                 .url = "http://lab.test/v1",
                                 .models = {"*-coder"},
                                 .models_prefix = "lab/"});
    config_.upstreams.push_back({.name = "cloud", .url = "http://cloud.test/v1"});
  }
  void lists() {
    catalogue_->set("gpu", {{"qwen3", 100}, {"gemma", 0}});
    catalogue_->set("gpu2", {{"qwen3", 200}, {"llama", 0}});
    catalogue_->set("lab", {{"x-coder", 0}, {"x-chat", 0}});
  }
  ModelConfig& table(std::string name, std::vector<std::string> upstream = {}) {
    ModelConfig& model = config_.models.emplace_back();
    model.name = std::move(name);
    model.upstream = std::move(upstream);
    return model;
  }
  ModelFinder finder() const { return ModelFinder(config_, catalogue_); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const ListedModel& model : finder().list()) all.push_back(model.name);
    return all;
  }

  Config config_;
  std::shared_ptr<ModelCatalogue> catalogue_ = std::make_shared<ModelCatalogue>();
};

TEST_F(ModelFinderTest, serves_what_upstreams_list_and_pools_what_several_have) {
  lists();
  const auto qwen = finder().find("qwen3");
  ASSERT_TRUE(qwen);
  EXPECT_THAT(qwen->config->upstream, ElementsAre("gpu", "gpu2"));
  EXPECT_EQ(places_of(*qwen->config)[1].priority, 0);
  EXPECT_EQ(qwen->config->id, "qwen3");
  EXPECT_THAT(finder().find("gemma")->config->upstream, ElementsAre("gpu"));
  EXPECT_FALSE(finder().find("llama")) << "gpu2 serves qwen* alone";
  EXPECT_FALSE(finder().find("nope"));
}

TEST_F(ModelFinderTest, knows_prefixes) {
  lists();
  const auto coder = finder().find("lab/x-coder");
  ASSERT_TRUE(coder);
  EXPECT_EQ(coder->config->id, "x-coder");
  EXPECT_EQ(coder->config->name, "lab/x-coder");
  EXPECT_FALSE(finder().find("x-coder"));
  EXPECT_FALSE(finder().find("lab/x-chat"));
  EXPECT_FALSE(finder().find("lab/"));
}

TEST_F(ModelFinderTest, believes_patterns_before_it_has_a_list) {
  const auto early = finder().find("gemma");
  ASSERT_TRUE(early);
  EXPECT_EQ(early->config->id, "gemma");
  EXPECT_EQ(early->config->name, "*") << "names that anybody makes up are no labels of metrics";
}

TEST_F(ModelFinderTest, lists_tables_first_and_every_name_once) {
  table("gemma", {"cloud"}).aliases = {"mine"};
  table("gpt-*", {"cloud"});
  lists();
  EXPECT_THAT(names(), ElementsAre("gemma", "mine", "qwen3", "lab/x-coder"));
  EXPECT_EQ(finder().list()[2].created, 100);
  EXPECT_EQ(finder().list()[2].owner, "gpu");
}

TEST_F(ModelFinderTest, refines_what_is_listed_by_tables_with_patterns) {
  table("qwen*").dialect = "hermes";
  lists();
  const auto qwen = finder().find("qwen3");
  EXPECT_EQ(qwen->config->dialect, "hermes");
  EXPECT_THAT(qwen->config->upstream, ElementsAre("gpu", "gpu2"));
  EXPECT_EQ(finder().find("gemma")->config->dialect, "");
  EXPECT_FALSE(finder().find("qwen9")) << "nobody lists it";
}

TEST_F(ModelFinderTest, serves_any_name_that_fits_a_pattern_with_upstreams_of_its_own) {
  table("gpt-*", {"cloud"});
  const auto found = finder().find("gpt-9-turbo");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->config->id, "gpt-9-turbo");
  EXPECT_EQ(found->config->name, "gpt-*");
  EXPECT_THAT(found->config->upstream, ElementsAre("cloud"));
}

TEST_F(ModelFinderTest, reads_an_effort_at_the_end_of_a_name_where_that_is_wanted) {
  table("big", {"cloud"}).effort_suffixes = true;
  table("plain", {"cloud"});
  table("gpt-*", {"cloud"});
  for (const char* effort : {"none", "low", "medium", "high"}) {
    const auto found = finder().find("big-" + std::string(effort));
    ASSERT_TRUE(found) << effort;
    EXPECT_EQ(found->effort, effort);
    EXPECT_EQ(found->config->name, "big");
  }
  lists();
  EXPECT_FALSE(finder().find("big-huge"));
  EXPECT_FALSE(finder().find("plain-low"));
  EXPECT_EQ(finder().find("gpt-5-low")->effort, "") << "that is the name of a model";
  EXPECT_THAT(names(), testing::IsSupersetOf(
                           {"big", "big-none", "big-low", "big-medium", "big-high", "plain"}));
}

TEST_F(ModelFinderTest, forces_the_effort_upon_requests) {
  ModelConfig& model = table("big", {"cloud"});
  model.effort_suffixes = true;
  model.params.members = {{.name = "reasoning_effort", .value = {.text = "\"medium\""}}};
  const Snapshot snapshot(config_, Access({}, nullptr), catalogue_);
  const auto found = snapshot.choose_model(nullptr, "big-low");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->rules.params.size(), 1u);
  EXPECT_EQ(found->rules.params[0].value.text, "\"low\"");
}

TEST_F(ModelFinderTest, keeps_what_an_upstream_said_until_it_says_something_else) {
  lists();
  EXPECT_FALSE(catalogue_->set("gpu", {{"qwen3", 100}, {"gemma", 0}})) << "nothing new";
  EXPECT_TRUE(catalogue_->set("gpu", {{"new", 0}}));
  EXPECT_FALSE(finder().find("gemma"));
  EXPECT_TRUE(finder().find("new"));
}

}  // namespace
}  // namespace callgate::server::model_finder_test
