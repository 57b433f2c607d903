#include "telemetry/line_writer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <optional>

#include "telemetry/pipe_testing.h"

namespace callgate::telemetry::line_writer_test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{20'000};

LineWriterOptions to(const TestPipe& pipe, std::size_t bytes = 1u << 20) {
  return {.descriptor = pipe.writer(), .bytes = bytes, .shed_line = [](std::uint64_t count) {
            return "shed " + std::to_string(count) + "\n";
          }};
}

TEST(LineWriter, writes_lines_in_their_order) {
  TestPipe pipe;
  LineWriter writer(to(pipe));
  writer.push("one\n");
  writer.push("two\n");
  EXPECT_TRUE(writer.flush(kLong));
  writer.push("three\n");
  EXPECT_EQ(pipe.read(14), "one\ntwo\nthree\n");
  EXPECT_EQ(writer.shed(), 0u);
}

// Sums up the counts of `shed N` lines and takes them out of `text`.
std::uint64_t take_shed(std::string& text) {
  std::uint64_t sum = 0;
  for (std::size_t at = text.find("shed "); at != std::string::npos; at = text.find("shed ")) {
    sum += std::stoull(text.substr(at + 5));
    text.erase(at, text.find('\n', at) + 1 - at);
  }
  return sum;
}

TEST(LineWriter, a_stuck_descriptor_holds_nobody_up_and_what_is_shed_is_counted_and_reported) {
  TestPipe pipe;
  pipe.fill();
  std::optional<LineWriter> writer(to(pipe, 50));
  std::string expected;
  for (int i = 0; i < 25; ++i) {
    const std::string line = "line" + std::to_string(10000 + i) + "\n";
    writer->push(line);
    if (i < 5) expected += line;
  }
  EXPECT_EQ(writer->shed(), 20u);
  EXPECT_FALSE(writer->flush(milliseconds(1)));
  std::string text = pipe.read(50);
  writer.reset();
  text += pipe.read_to_end();
  EXPECT_EQ(take_shed(text), 20u);
  EXPECT_EQ(text, expected);
}

TEST(LineWriter, the_limit_itself_fits_and_one_byte_more_does_not) {
  for (const int beyond : {0, 1}) {
    TestPipe pipe;
    pipe.fill();
    LineWriter writer(to(pipe, 10));
    writer.push("1234\n");
    writer.push(std::string(static_cast<std::size_t>(4 + beyond), 'x') + "\n");
    EXPECT_EQ(writer.shed(), static_cast<std::uint64_t>(beyond));
    pipe.read(5);
  }
}

TEST(LineWriter, there_is_room_again_after_lines_were_written) {
  TestPipe pipe;
  LineWriter writer(to(pipe, 10));
  for (int i = 0; i < 100; ++i) {
    writer.push("123456789\n");
    ASSERT_TRUE(writer.flush(kLong));
    ASSERT_EQ(pipe.read(10), "123456789\n");
  }
  EXPECT_EQ(writer.shed(), 0u);
}

TEST(LineWriter, a_line_that_can_never_fit_is_reported_without_another_line) {
  TestPipe pipe;
  LineWriter writer(to(pipe, 10));
  writer.push("a line of more than ten bytes\n");
  EXPECT_EQ(pipe.read(7), "shed 1\n");
}

TEST(LineWriter, waits_for_a_descriptor_that_does_not_block) {
  TestPipe pipe;
  pipe.fill();
  pipe.set_blocking(false);
  LineWriter writer(to(pipe));
  writer.push("one\n");
  EXPECT_EQ(pipe.read(4), "one\n");
  EXPECT_TRUE(writer.flush(kLong));
  EXPECT_EQ(writer.shed(), 0u);
}

TEST(LineWriter, lines_that_the_descriptor_refuses_are_counted) {
  TestPipe pipe;
  pipe.close_reader();
  LineWriter writer(to(pipe));
  writer.push("one\n");
  writer.push("two\n");
  EXPECT_TRUE(writer.flush(kLong));
  EXPECT_EQ(writer.shed(), 2u);
}

TEST(LineWriter, writes_what_waits_before_it_goes) {
  TestPipe pipe;
  {
    LineWriter writer(to(pipe));
    for (int i = 0; i < 100; ++i) writer.push("line\n");
  }
  EXPECT_EQ(pipe.read_to_end().size(), 500u);
}

TEST(LineWriter, does_not_wait_for_a_stuck_descriptor_forever) {
  // The thread that is stuck goes on to use it.
  static TestPipe& pipe = *new TestPipe;
  pipe.fill();
  LineWriterOptions options = to(pipe);
  options.close_timeout = milliseconds(5);
  {
    LineWriter writer(options);
    writer.push("never\n");
  }
  pipe.close_reader();
}

// The child's writer is stuck when it aborts; only the parent's reading lets it go on.
std::string last_words(int& status) {
  TestPipe pipe;
  pipe.fill();
  const pid_t child = fork();
  if (child == 0) {
    pipe.close_reader();
    LineWriter writer(to(pipe));
    const LineRescue rescue(writer);
    writer.push("last words\n");
    std::abort();
  }
  const std::string text = pipe.read_to_end();
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return text;
}

TEST(LineRescue, a_process_that_aborts_writes_its_last_lines_first) {
  int status = 0;
  EXPECT_EQ(last_words(status), "last words\n");
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

TEST(LineRescue, leaves_signals_as_they_were) {
  struct sigaction before {};
  sigaction(SIGABRT, nullptr, &before);
  TestPipe pipe;
  LineWriter writer(to(pipe));
  for (int i = 0; i < 2; ++i) {
    const LineRescue rescue(writer);
    struct sigaction during {};
    sigaction(SIGABRT, nullptr, &during);
    EXPECT_NE(during.sa_handler, before.sa_handler);
  }
  struct sigaction after {};
  sigaction(SIGABRT, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

}  // namespace
}  // namespace callgate::telemetry::line_writer_test
