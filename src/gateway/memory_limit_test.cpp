#include "gateway/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace callgate::server::memory_limit_test {
namespace {

TEST(MemoryLimit, is_the_least_of_the_groups_around_the_process) {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("groups." + std::to_string(::getpid()));
  const auto put = [&](const std::string& file, std::string_view text) {
    const std::filesystem::path path = root / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  };
  EXPECT_EQ(control_group_limit("0::/a/b\n", root), 0u);
  put("a/b/memory.max", "max\n");
  EXPECT_EQ(control_group_limit("0::/a/b\n", root), 0u);
  put("a/memory.max", "1000\n");
  EXPECT_EQ(control_group_limit("0::/a/b\n", root), 1000u);
  put("a/b/memory.max", "2000\n");
  EXPECT_EQ(control_group_limit("0::/a/b\n", root), 1000u);
  EXPECT_EQ(control_group_limit("0::/\n", root), 0u);
  put("memory/d/memory.limit_in_bytes", "500\n");
  EXPECT_EQ(control_group_limit("5:memory:/d\n0::/a/b\n", root), 500u);
  put("memory/d/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(control_group_limit("5:memory:/d\n", root), 0u);
  put("memory.max", "300");
  EXPECT_EQ(control_group_limit("", root), 300u);
  EXPECT_EQ(control_group_limit("nonsense", root), 300u);
  std::filesystem::remove_all(root);
}

TEST(MemoryLimit, is_something_on_every_machine) { EXPECT_GT(usual_memory_limit(), 1u << 20); }

}  // namespace
}  // namespace callgate::server::memory_limit_test
