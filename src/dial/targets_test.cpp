#include "dial/targets.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace callgate::server::targets_test {
namespace {

class TargetsTest : public testing::Test {
 protected:
  ~TargetsTest() override {
    for (const std::string& file : files_) std::remove(file.c_str());
  }

  std::string write(const std::string& name, std::string_view text) {
    const std::string file =
        testing::TempDir() + "targets_" + std::to_string(::getpid()) + "_" + name;
    std::ofstream(file) << text;
    files_.push_back(file);
    return file;
  }

  static UpstreamConfig http(const std::string& name, const std::string& url) {
    UpstreamConfig upstream;
    upstream.name = name;
    upstream.url = url;
    return upstream;
  }
  static UpstreamConfig scripted(const std::string& name, const std::string& file) {
    UpstreamConfig upstream;
    upstream.name = name;
    upstream.wire = "script";
    upstream.url = file;
    return upstream;
  }

  Result<std::shared_ptr<const UpstreamParts>> load() {
    return load_upstream_parts(
        config_, children_, [](const std::string&) { return ChildHealth(); }, parts_.get());
  }
  // The whole way of a reload on one loop.
  Result<void> apply() {
    auto parts = load();
    if (!parts) return tl::unexpected(parts.error());
    auto prepared = targets_.prepare(config_.upstreams, **parts);
    if (!prepared) return tl::unexpected(prepared.error());
    targets_.use(std::move(*prepared));
    parts_ = *parts;
    return {};
  }

  Config config_;
  ConversationMemory memory_;
  ChildHosts children_;
  net::Loop loop_;
  std::shared_ptr<const UpstreamParts> parts_;
  Targets targets_{loop_, memory_, 1};
  std::vector<std::string> files_;
};

TEST_F(TargetsTest, keeps_what_did_not_change_and_makes_the_rest_anew) {
  config_.upstreams = {http("a", "http://a.test/v1"), http("b", "http://b.test/v1")};
  ASSERT_TRUE(apply());
  const auto a = targets_.find("a");
  const auto b = targets_.find("b");
  ASSERT_NE(a, nullptr);
  config_.upstreams[1].idle_timeout = Milliseconds(5);
  config_.upstreams.push_back(http("c", "http://c.test/v1"));
  ASSERT_TRUE(apply());
  EXPECT_EQ(targets_.find("a"), a);
  EXPECT_NE(targets_.find("b"), b);
  EXPECT_NE(targets_.find("c"), nullptr);
  config_.upstreams.erase(config_.upstreams.begin());
  ASSERT_TRUE(apply());
  EXPECT_EQ(targets_.find("a"), nullptr);
}

TEST_F(TargetsTest, a_new_key_or_header_makes_a_new_target) {
  using Change = void (*)(UpstreamConfig&);
  const Change changes[] = {
      [](UpstreamConfig& upstream) { upstream.key = Secret("sk-new"); },
      [](UpstreamConfig& upstream) {
        upstream.headers = {{"x-a", "b"}};
      },
      [](UpstreamConfig& upstream) { upstream.tls_verify = false; },
      [](UpstreamConfig& upstream) { upstream.url = "http://other.test/v1"; },
      [](UpstreamConfig& upstream) { upstream.wire = "ollama"; },
  };
  for (const Change& change : changes) {
    config_.upstreams = {http("a", "http://a.test/v1")};
    ASSERT_TRUE(apply());
    const auto before = targets_.find("a");
    change(config_.upstreams[0]);
    ASSERT_TRUE(apply());
    EXPECT_NE(targets_.find("a"), before) << "change " << (&change - changes);
  }
}

TEST_F(TargetsTest, preparing_changes_nothing) {
  config_.upstreams = {http("a", "http://a.test/v1")};
  ASSERT_TRUE(apply());
  const auto a = targets_.find("a");
  config_.upstreams = {http("b", "http://b.test/v1")};
  const auto parts = load();
  ASSERT_TRUE(parts);
  ASSERT_TRUE(targets_.prepare(config_.upstreams, **parts));
  EXPECT_EQ(targets_.find("a"), a);
  EXPECT_EQ(targets_.find("b"), nullptr);
}

TEST_F(TargetsTest, one_bad_upstream_fails_all_of_them) {
  config_.upstreams = {http("a", "http://a.test/v1")};
  ASSERT_TRUE(apply());
  const auto a = targets_.find("a");
  config_.upstreams = {http("a", "http://new.test/v1"), http("b", "http://")};
  const auto applied = apply();
  ASSERT_FALSE(applied);
  EXPECT_NE(applied.error().message.find("upstream \"b\""), std::string::npos);
  EXPECT_EQ(targets_.find("a"), a);
}

TEST_F(TargetsTest, reads_a_script_once_for_all_loops) {
  const std::string file = write("once", "text \"one\"\n");
  config_.upstreams = {scripted("s", file)};
  const auto parts = load();
  ASSERT_TRUE(parts);
  std::remove(file.c_str());
  net::Loop other_loop;
  Targets other(other_loop, memory_, 2);
  EXPECT_TRUE(targets_.prepare(config_.upstreams, **parts));
  EXPECT_TRUE(other.prepare(config_.upstreams, **parts));
}

TEST_F(TargetsTest, a_script_that_changed_on_disk_makes_a_new_target) {
  config_.upstreams = {scripted("s", write("changed", "text \"one\"\n"))};
  ASSERT_TRUE(apply());
  const auto first = targets_.find("s");
  ASSERT_TRUE(apply());
  EXPECT_EQ(targets_.find("s"), first);
  write("changed", "text \"two\"\n");
  ASSERT_TRUE(apply());
  EXPECT_NE(targets_.find("s"), first);
}

TEST_F(TargetsTest, certificates_that_changed_on_disk_make_a_new_target) {
  config_.upstreams = {http("a", "https://a.test/v1")};
  config_.upstreams[0].ca_file = write("ca", "one");
  ASSERT_TRUE(apply());
  const auto first = targets_.find("a");
  ASSERT_TRUE(apply());
  EXPECT_EQ(targets_.find("a"), first);
  write("ca", "two");
  ASSERT_TRUE(apply());
  EXPECT_NE(targets_.find("a"), first);
}

TEST_F(TargetsTest, a_script_with_a_mistake_is_named) {
  const std::string file = write("bad", "nonsense\n");
  config_.upstreams = {scripted("s", file)};
  ASSERT_FALSE(load());
  EXPECT_NE(load().error().message.find(file), std::string::npos);
  config_.upstreams = {scripted("s", file + ".missing")};
  EXPECT_EQ(load().error().code, ErrorCode::not_found);
}

TEST_F(TargetsTest, has_chats_of_the_scripted_model_only_where_one_is_configured) {
  config_.upstreams = {http("a", "http://a.test/v1")};
  ASSERT_TRUE(apply());
  EXPECT_EQ(parts_->chats, nullptr);
  config_.upstreams.push_back(scripted("s", write("chats", "text \"one\"\n")));
  ASSERT_TRUE(apply());
  const auto chats = parts_->chats;
  EXPECT_NE(chats, nullptr);
  ASSERT_TRUE(apply());
  EXPECT_EQ(parts_->chats, chats);
}

TEST_F(TargetsTest, keeps_the_host_of_a_child_program_that_did_not_change) {
  UpstreamConfig child = http("c", "");
  child.wire = "codex_proto";
  child.command = {"/bin/true"};
  config_.upstreams = {child};
  ASSERT_TRUE(apply());
  const auto target = targets_.find("c");
  const ChildHost* host = parts_->by_upstream.find("c")->second.host.get();
  ASSERT_NE(host, nullptr);
  ASSERT_TRUE(apply());
  EXPECT_EQ(targets_.find("c"), target);
  config_.upstreams[0].idle_timeout = Milliseconds(5);
  ASSERT_TRUE(apply());
  EXPECT_NE(targets_.find("c"), target);
  EXPECT_EQ(parts_->by_upstream.find("c")->second.host.get(), host);
}

}  // namespace
}  // namespace callgate::server::targets_test
