// The golden cases of this library's dialects, for tests and benches; golden_case.h shows their form.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_path_testing.h"
#include "callgate/dialect.h"
#include "dialect/custom/golden_case.h"

namespace callgate::dialect::golden {

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string path_of(std::string_view dialect) {
  return source_path("golden/dialect/").append(dialect).append(".golden");
}

inline std::vector<Case> cases_of(const Dialect& dialect) {
  Result<std::vector<Case>> cases = read_cases(read_text(path_of(dialect.name)));
  EXPECT_TRUE(cases) << dialect.name << ": " << cases.error().message;
  return cases ? std::move(*cases) : std::vector<Case>{};
}

}  // namespace callgate::dialect::golden
