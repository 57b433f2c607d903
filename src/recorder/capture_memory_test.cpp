#include <gtest/gtest.h>

#include "recorder/capture.h"

namespace callgate::server::capture_memory_test {
namespace {

TEST(Capture, gives_back_the_memory_of_turns_that_are_not_kept) {
  telemetry::Logger log{{.level = telemetry::LogLevel::off}};
  telemetry::Metrics metrics;
  CaptureWriter writer(log, metrics);
  CaptureConfig config;
  config.max_memory.count = 4 * sizeof(Capture);
  for (int i = 0; i < 100; ++i) {
    const auto capture = Capture::make(writer, config,
                                       {.request_id = "r",
                                        .model = "m",
                                        .protocol = "openai_chat",
                                        .secrets = std::make_shared<std::vector<std::string>>(),
                                        .brief = true});
    ASSERT_NE(capture, nullptr) << i;
    capture->finish("completed");
  }
}

}  // namespace
}  // namespace callgate::server::capture_memory_test
