// The golden cases of the wire formats, for tests that run them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/source_path_testing.h"
#include "callgate/pipeline.h"
#include "client/protocol.h"
#include "engine/golden_case.h"

namespace callgate::engine {

struct WireCase {
  std::string format;
  std::string name;
  std::filesystem::path input;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::vector<WireCase> all_wire_cases() {
  namespace fs = std::filesystem;
  std::vector<WireCase> cases;
  const fs::path root = source_path("golden/wire");
  if (!fs::exists(root)) return cases;
  for (const auto& format : fs::directory_iterator(root)) {
    for (const auto& file : fs::directory_iterator(format.path())) {
      const std::string name = file.path().stem().string();
      const std::string extension = file.path().extension().string();
      const bool is_input = extension == ".body" || extension == ".sse" || extension == ".lines";
      if (!is_input || name.find('.') != std::string::npos) continue;
      cases.push_back({format.path().filename().string(), name, file.path()});
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const WireCase& a, const WireCase& b) { return a.input < b.input; });
  return cases;
}

// `case.PROTOCOL.request.json` is in that protocol's own words, `case.request.json` in those of openai_chat.
inline Request request_of(const WireCase& golden, const Protocol& protocol, bool stream) {
  namespace fs = std::filesystem;
  const std::string own = "." + std::string(protocol.name) + ".request.json";
  const fs::path own_path = fs::path(golden.input).replace_extension(own);
  const fs::path path = fs::path(golden.input).replace_extension(".request.json");
  const std::string body = fs::exists(own_path) ? read_file(own_path)
                           : fs::exists(path)   ? read_file(path)
                                                : std::string(usual_golden_request());
  const Protocol& spoken = fs::exists(own_path) ? protocol : *client::find("openai_chat");
  Result<Request> request = spoken.decode({.body = body});
  EXPECT_TRUE(request.has_value()) << (request ? "" : request.error().message);
  request->stream = stream;
  return *request;
}
inline Request request_of(const WireCase& golden, bool stream) {
  return request_of(golden, *client::find("openai_chat"), stream);
}

inline PipelineOptions options_of(const WireCase& golden, const Protocol& protocol) {
  PipelineOptions options = golden_options(golden.format, protocol.name);
  std::ifstream in(std::filesystem::path(golden.input).replace_extension(".policy"));
  for (std::string name, value; in >> name >> value;) {
    EXPECT_TRUE(set_golden_option(options, name, value)) << name << " " << value;
  }
  return options;
}

}  // namespace callgate::engine
