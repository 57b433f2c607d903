// The parsing cases of the web platform tests for EventSource (the `format-*` files), rebuilt from what they check. Where
// the decoder goes beyond the standard on purpose, the case says what it gives and why.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sse/decoder.h"

namespace callgate::eventsource_suite_test {
namespace {

using namespace std::string_literals;

struct Message {
  std::string data;
  std::string event;
  std::string id;
  bool operator==(const Message&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Message& message) {
  return out << testing::PrintToString(message.data) << " of " << message.event << ", id "
             << testing::PrintToString(message.id);
}

struct Case {
  const char* name;
  std::string bytes;
  std::vector<Message> messages;  // as a browser gives them
  std::optional<std::uint32_t> retry = {};
  const char* difference = "";     // why the decoder gives more
  std::vector<Message> ours = {};  // then: what it gives
};

const std::string kLong(2048, 'x');
const std::string kDots = "\xE2\x80\xA6";

const Case kCases[] = {
    {"bom",
     "\xEF\xBB\xBF"
     "data:1\n\n\xEF\xBB\xBF"
     "data:2\n\ndata:3\n\n",
     {{"1"}, {"3"}}},
    {"bom_2",
     "\xEF\xBB\xBF\xEF\xBB\xBF"
     "data:1\n\ndata:2\n\ndata:3\n\n",
     {{"2"}, {"3"}}},
    {"comments",
     "data:1\r:\0\n:\r\ndata:2\n:"s + kLong + "\rdata:3\n:data:fail\r:" + kLong + "\ndata:4\n\n",
     {{"1\n2\n3\n4"}}},
    {"data_before_final_empty_line",
     "retry:1000\ndata:test1\n\nid:test\ndata:test2",
     {{"test1"}},
     1000,
     "an upstream that closes without the last blank line has still said it",
     {{"test1"}, {"test2", "", "test"}}},
    {"field_data", "data:\n\ndata\ndata\n\ndata:test\n\n", {{""}, {"\n"}, {"test"}}},
    {"field_event_empty", "event: \ndata:data\n\n", {{"data"}}},
    {"field_event", "event:test\ndata:x\n\ndata:x\n\n", {{"x", "test"}, {"x"}}},
    {"field_id", "id: " + kDots + "\nretry:200\ndata:hello\n\n", {{"hello", "", kDots}}, 200},
    {"field_id_2",
     "id: " + kDots + "\nretry:200\ndata:1\n\ndata:2\n\n",
     {{"1", "", kDots}, {"2", "", kDots}},
     200},
    {"field_id_3",
     "id: " + kDots + "\nretry:200\ndata:1\n\nid:\ndata:2\n\n",
     {{"1", "", kDots}, {"2", "", ""}},
     200},
    {"field_id_3_bare",
     "id: " + kDots + "\ndata:1\n\nid\ndata:2\n\n",
     {{"1", "", kDots}, {"2", "", ""}}},
    {"field_id_null_alone", "id: \0\ndata:hello\n\n"s, {{"hello"}}},
    {"field_id_null_before", "id: \0x\ndata:hello\n\n"s, {{"hello"}}},
    {"field_id_null_after", "id: x\0\ndata:hello\n\n"s, {{"hello"}}},
    {"field_id_null_amid",
     "id: 1\ndata:1\n\nid: x\0y\ndata:2\n\n"s,
     {{"1", "", "1"}, {"2", "", "1"}}},
    {"field_parsing",
     "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n "
     "data:32\ndata:4\n\n"s,
     {{"\0\n 2\n1\n3\n\n4"s}},
     {},
     "lines that cannot be meant as a field go on with the data before them: a line end that stood "
     "in a string",
     {{"\0\n 2\ndata\0:2\n1\n\0data:4\n3\n\n data:32\n4"s}}},
    {"field_retry", "retry:3000\ndata:x\n\n", {{"x"}}, 3000},
    {"field_retry_bogus", "retry:3000\nretry:1000x\ndata:x\n\n", {{"x"}}, 3000},
    {"field_retry_empty", "retry\ndata:test\n\n", {{"test"}}},
    {"field_unknown",
     "data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n",
     {{"test\n\ntest"}},
     {},
     "a line that begins with a blank is data, as in field_parsing",
     {{"test\n data\n\ntest"}}},
    {"leading_space", "data:\ttest\rdata: \ndata:test\n\n", {{"\ttest\n\ntest"}}},
    {"newlines", "data:test\r\ndata\ndata:test\r\n\r", {{"test\n\ntest"}}},
    {"newlines_mixed", "data:a\rdata:b\ndata:c\r\n\r\n", {{"a\nb\nc"}}},
    {"null_character", "data:\0\n\n\n\n"s, {{"\0"s}}},
    {"utf_8", "data:ok" + kDots + "\n\n", {{"ok" + kDots}}},
    {"empty_stream", "", {}},
    {"only_a_comment", ":\n\n", {}},
    {"event_without_data", "event:test\n\ndata:x\n\n", {{"x"}}},
    {"field_of_another_case", "DATA:x\n\ndata:y\n\n", {{"y"}}},
};

std::vector<Message> read_in_pieces(const std::string& bytes, std::size_t piece,
                                    std::optional<std::uint32_t>& retry) {
  SseDecoder decoder;
  std::vector<Message> messages;
  const auto keep = [&](const SseFrame& frame) {
    messages.push_back({std::string(frame.data), std::string(frame.event), std::string(frame.id)});
  };
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    decoder.push(std::string_view(bytes).substr(at, piece), keep);
  }
  decoder.finish(keep);
  retry = decoder.retry();
  return messages;
}

TEST(EventSourceSuite, reads_every_case_as_browsers_do_or_says_why_not) {
  EXPECT_EQ(std::size(kCases), 29u);
  for (const Case& each : kCases) {
    const bool differs = each.difference[0] != 0;
    for (const std::size_t piece : {each.bytes.size() + 1, std::size_t{1}, std::size_t{3}}) {
      std::optional<std::uint32_t> retry;
      EXPECT_EQ(read_in_pieces(each.bytes, piece, retry), differs ? each.ours : each.messages)
          << each.name << " in pieces of " << piece;
      EXPECT_EQ(retry, each.retry) << each.name;
    }
  }
}

}  // namespace
}  // namespace callgate::eventsource_suite_test
