#include "telemetry/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "telemetry/pipe_testing.h"

namespace callgate::telemetry::log_test {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;

// Keeps lines without their time.
class Lines {
 public:
  LogOptions options(LogFormat format = LogFormat::text, LogLevel level = LogLevel::info) {
    LogOptions options;
    options.format = format;
    options.level = level;
    options.write = [this](std::string_view line) { lines_.emplace_back(line); };
    options.now = [this] { return now_; };
    return options;
  }
  void advance(std::chrono::seconds time) { now_ += time; }
  const std::vector<std::string>& whole() const { return lines_; }
  std::vector<std::string> bodies() const {
    std::vector<std::string> bodies;
    for (const std::string& line : lines_) bodies.push_back(line.substr(line.find(' ') + 1));
    return bodies;
  }

 private:
  std::vector<std::string> lines_;
  std::chrono::steady_clock::time_point now_{};
};

TEST(Logger, writes_text_with_the_time_in_utc) {
  Lines lines;
  Logger logger(lines.options());
  logger.info("listening", {{"address", "127.0.0.1:8080"}, {"loops", 2}});
  ASSERT_EQ(lines.whole().size(), 1u);
  EXPECT_THAT(lines.whole()[0],
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z "
                           "info listening address=127.0.0.1:8080 loops=2\n"));
}

TEST(Logger, writes_json_with_types) {
  Lines lines;
  Logger logger(lines.options(LogFormat::json));
  logger.warning("say \"hi\"", {{"text", std::string("a\nb")},
                                {"whole", std::int64_t{-5}},
                                {"part", 0.5},
                                {"none", std::numeric_limits<double>::infinity()},
                                {"flag", true}});
  ASSERT_EQ(lines.whole().size(), 1u);
  const std::string& line = lines.whole()[0];
  EXPECT_THAT(line, MatchesRegex("\\{\"time\":\"[-0-9T:.]+Z\",\"level\":\"warning\",.*\\}\n"));
  EXPECT_NE(line.find(R"("message":"say \"hi\"","text":"a\nb","whole":-5,"part":0.5,)"
                      R"("none":null,"flag":true})"),
            std::string::npos)
      << line;
}

TEST(Logger, text_cannot_begin_a_line_of_its_own) {
  Lines lines;
  Logger logger(lines.options());
  logger.error("bad\nrequest", {{"path", "/a b\r\n2026 info forged"}, {"empty", ""}});
  EXPECT_THAT(lines.bodies(), ElementsAre("error bad\\nrequest path=\"/a b\\r\\n2026 info forged\""
                                          " empty=\"\"\n"));
}

TEST(Logger, percent_signs_and_braces_are_only_text) {
  Lines lines;
  Logger logger(lines.options());
  logger.info("100% {} %v");
  EXPECT_THAT(lines.bodies(), ElementsAre("info 100% {} %v\n"));
}

TEST(Logger, never_writes_a_secret) {
  Lines lines;
  Logger logger(lines.options());
  logger.info("key", {{"secret", Secret("hunter2hunter2")}});
  EXPECT_THAT(lines.bodies(), ElementsAre("info key secret=***\n"));
}

TEST(Logger, keeps_silent_below_its_level) {
  Lines lines;
  Logger logger(lines.options(LogFormat::text, LogLevel::warning));
  logger.debug("a");
  logger.info("b");
  logger.warning("c");
  logger.error("d");
  logger.write(LogLevel::off, "e", {});
  logger.set_level(LogLevel::debug);
  logger.debug("f");
  EXPECT_THAT(lines.bodies(), ElementsAre("warning c\n", "error d\n", "debug f\n"));
  EXPECT_TRUE(logger.is_enabled(LogLevel::debug));
  logger.set_level(LogLevel::off);
  EXPECT_FALSE(logger.is_enabled(LogLevel::error));
}

TEST(Logger, says_a_repeated_fault_once_per_pause_and_counts_the_rest) {
  Lines lines;
  Logger logger(lines.options());
  for (int i = 0; i < 5; ++i) logger.repeated(LogLevel::error, "store", "store failed");
  logger.repeated(LogLevel::error, "other", "other failed");
  lines.advance(std::chrono::seconds(59));
  logger.repeated(LogLevel::error, "store", "store failed");
  lines.advance(std::chrono::seconds(1));
  logger.repeated(LogLevel::error, "store", "store failed", {{"why", "full"}});
  lines.advance(std::chrono::seconds(60));
  logger.repeated(LogLevel::error, "store", "store failed");
  EXPECT_THAT(lines.bodies(),
              ElementsAre("error store failed\n", "error other failed\n",
                          "error store failed why=full suppressed=5\n", "error store failed\n"));
}

TEST(Logger, forgets_keys_rather_than_grow_without_end) {
  Lines lines;
  Logger logger(lines.options());
  for (int i = 0; i < 5000; ++i) {
    logger.repeated(LogLevel::error, "key " + std::to_string(i), "x");
  }
  logger.repeated(LogLevel::error, "key 4999", "x");
  EXPECT_EQ(lines.whole().size(), 5000u);
}

TEST(Logger, writes_whole_lines_from_many_threads) {
  Lines lines;
  Logger logger(lines.options());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        logger.info("hello", {{"n", 1}});
        logger.repeated(LogLevel::error, "same", "same");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines.whole().size(), 801u);
  for (const std::string& body : lines.bodies()) {
    EXPECT_TRUE(body == "info hello n=1\n" || body == "error same\n") << body;
  }
}

TEST(Logger, reads_the_names_of_levels_and_formats) {
  EXPECT_EQ(to_log_level("warning"), LogLevel::warning);
  EXPECT_EQ(to_log_level("off"), LogLevel::off);
  EXPECT_EQ(to_log_level("loud"), std::nullopt);
  EXPECT_EQ(to_log_format("json"), LogFormat::json);
  EXPECT_EQ(to_log_format("xml"), std::nullopt);
}

TEST(Logger, leaves_out_a_field_without_a_name) {
  std::string lines;
  Logger log({.write = [&](std::string_view line) { lines += line; }});
  log.info("x", {{"", "gone"}, {"a", 1}});
  EXPECT_TRUE(lines.ends_with(" info x a=1\n")) << lines;
}

TEST(Logger, quotes_a_value_that_is_more_than_one_plain_word) {
  Lines lines;
  Logger logger(lines.options());
  logger.info("a", {{"equals", "b=c"},
                    {"space", "b c"},
                    {"quote", "b\"c"},
                    {"backslash", "b\\c"},
                    {"control",
                     "b\x1F"
                     "c"},
                    {"delete",
                     "b\x7F"
                     "c"},
                    {"plain", "b!~c"}});
  EXPECT_THAT(lines.bodies(),
              ElementsAre("info a equals=\"b=c\" space=\"b c\" quote=\"b\\\"c\" "
                          "backslash=\"b\\\\c\" control=\"b\\u001fc\" delete=\"b\x7F"
                          "c\" plain=b!~c\n"));
}

TEST(Logger, forgets_keys_of_repeated_faults_when_there_are_too_many) {
  Lines lines;
  Logger logger(lines.options());
  for (int i = 0; i < 1000; ++i) logger.repeated(LogLevel::error, std::to_string(i), "a");
  logger.repeated(LogLevel::error, "0", "again");  // a key that is known makes nobody forget
  EXPECT_EQ(lines.whole().size(), 1000u);
  logger.repeated(LogLevel::error, "new", "b");
  logger.repeated(LogLevel::error, "0", "again");
  EXPECT_EQ(lines.whole().size(), 1002u);
}

std::string without_times(std::string text) {
  std::string bodies;
  while (!text.empty()) {
    const std::size_t end = text.find('\n') + 1;
    bodies += text.substr(text.find(' ') + 1, end - text.find(' ') - 1);
    text.erase(0, end);
  }
  return bodies;
}

TEST(Logger, writes_to_its_descriptor_and_has_written_when_it_goes) {
  TestPipe pipe;
  {
    Logger logger({.descriptor = pipe.writer()});
    logger.info("one");
    EXPECT_TRUE(logger.flush(std::chrono::seconds(20)));
    logger.info("two");
  }
  EXPECT_EQ(without_times(pipe.read_to_end()), "info one\ninfo two\n");
}

TEST(Logger, a_stuck_descriptor_holds_nobody_up_and_a_line_says_how_many_are_missing) {
  TestPipe pipe;
  pipe.fill();
  std::optional<Logger> logger(LogOptions{.descriptor = pipe.writer(), .queue_bytes = 60});
  logger->info("1234567890");  // 40 bytes
  for (int i = 0; i < 1000; ++i) logger->info("shed");
  EXPECT_EQ(logger->shed(), 1000u);
  EXPECT_FALSE(logger->flush(std::chrono::milliseconds(1)));
  std::string text = pipe.read(60);
  logger.reset();
  text = without_times(text + pipe.read_to_end());
  EXPECT_TRUE(text.starts_with("info 1234567890\nwarning log lines were left out lines=")) << text;
}

TEST(Logger, tells_in_json_how_many_lines_are_missing) {
  TestPipe pipe;
  {
    Logger logger({.format = LogFormat::json, .descriptor = pipe.writer(), .queue_bytes = 10});
    logger.info("never fits");
    EXPECT_EQ(logger.shed(), 1u);
  }
  EXPECT_THAT(pipe.read_to_end(),
              MatchesRegex("\\{\"time\":\"[-0-9T:.]+Z\",\"level\":\"warning\","
                           "\"message\":\"log lines were left out\",\"lines\":1\\}\n"));
}

TEST(Logger, of_a_test_sheds_nothing) {
  Lines lines;
  Logger logger(lines.options());
  logger.info("a");
  EXPECT_TRUE(logger.flush(std::chrono::seconds(0)));
  EXPECT_EQ(logger.shed(), 0u);
}

}  // namespace
}  // namespace callgate::telemetry::log_test
