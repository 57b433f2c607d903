#include "sse/encoder.h"

#include <gtest/gtest.h>

#include "sse/decoder.h"

namespace callgate::encoder_test {
namespace {

std::string frame(std::string_view event, std::string_view data) {
  std::string out;
  append_frame(out, event, data);
  return out;
}

TEST(SseEncoder, writes_a_frame) {
  EXPECT_EQ(frame("", "{}"), "data: {}\n\n");
  EXPECT_EQ(frame("ping", "{}"), "event: ping\ndata: {}\n\n");
  EXPECT_EQ(frame("", ""), "data: \n\n");
}

TEST(SseEncoder, cuts_data_at_every_kind_of_line_end) {
  EXPECT_EQ(frame("", "a\nb\rc\r\nd"), "data: a\ndata: b\ndata: c\ndata: d\n\n");
  EXPECT_EQ(frame("", "a\n"), "data: a\ndata: \n\n");
  EXPECT_EQ(frame("", "\r\n\n"), "data: \ndata: \ndata: \n\n");
}

TEST(SseEncoder, writes_comments_that_cannot_become_fields) {
  std::string out;
  append_comment(out, "alive");
  append_comment(out, "x\ndata: y");
  append_comment(out, "");
  EXPECT_EQ(out, ": alive\n\n: x\n: data: y\n\n: \n\n");
}

TEST(SseEncoder, writes_what_the_decoder_reads) {
  for (const std::string_view data : {"", " ", "a", " a", "a\nb", "\n", "\n\n", ":x", "data: y"}) {
    std::string read = "nothing";
    SseDecoder decoder;
    decoder.push(frame("name", data), [&](const SseFrame& f) {
      EXPECT_EQ(f.event, "name");
      read = f.data;
    });
    EXPECT_EQ(read, data);
  }
}

}  // namespace
}  // namespace callgate::encoder_test
