#include "sse/decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace callgate::decoder_test {
namespace {

using namespace std::string_view_literals;

struct Decoded {
  std::string frames;  // one line per frame: event|id|data, line feeds and NULs in it visible
  std::uint64_t comments = 0;
  bool overflowed = false;
  friend bool operator==(const Decoded&, const Decoded&) = default;
};

std::string visible(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\0') {
      out += "\\0";
    } else {
      out += c;
    }
  }
  return out;
}

template <class Decoder>
Decoded decode(Decoder decoder, const std::vector<std::string_view>& pieces) {
  Decoded decoded;
  const auto on_frame = [&](const SseFrame& frame) {
    decoded.frames +=
        visible(frame.event) + "|" + visible(frame.id) + "|" + visible(frame.data) + "\n";
  };
  for (const std::string_view piece : pieces) decoder.push(piece, on_frame);
  decoder.finish(on_frame);
  decoder.finish(on_frame);  // ends once only
  decoded.overflowed = decoder.overflowed();
  if constexpr (requires { decoder.comments(); }) decoded.comments = decoder.comments();
  return decoded;
}

// Decodes `bytes` whole, at every two-way cut and byte by byte, and expects the same each time.
template <class Decoder>
Decoded decode_every_way(const Decoder& decoder, std::string_view bytes) {
  const Decoded whole = decode(decoder, {bytes});
  std::vector<std::string_view> single;
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    single.push_back(bytes.substr(cut, 1));
    const Decoded halves = decode(decoder, {bytes.substr(0, cut), bytes.substr(cut)});
    EXPECT_EQ(halves, whole) << visible(bytes) << " cut at " << cut << ":\n"
                             << halves.frames << "instead of\n"
                             << whole.frames;
  }
  EXPECT_EQ(decode(decoder, single), whole) << visible(bytes);
  return whole;
}

struct Case {
  std::string_view name;
  std::string_view bytes;
  std::string_view frames;
  std::uint64_t comments = 0;
};

const Case kCases[] = {
    {"one frame", "data: a\n\n", "||a\n"},
    {"no space after the colon", "data:a\n\n", "||a\n"},
    {"one space only is removed", "data:  a \n\n", "|| a \n"},
    {"a tab is data", "data:\ta\n\n", "||\ta\n"},
    {"CR line ends", "data: a\r\rdata: b\r\r", "||a\n||b\n"},
    {"CRLF line ends", "data: a\r\n\r\ndata: b\r\n\r\n", "||a\n||b\n"},
    {"LF then CRLF", "data: a\n\r\ndata: b\n\n", "||a\n||b\n"},
    {"CR then CRLF", "data: a\r\r\ndata: b\n\n", "||a\n||b\n"},
    {"CRLF then LF", "data: a\r\n\ndata: b\r\n\r", "||a\n||b\n"},
    {"all line ends in one frame", "data: a\rdata: b\ndata: c\r\n\r\n", "||a\\nb\\nc\n"},
    {"LF then CR are two ends", "data: a\n\rdata: b\n\n", "||a\n||b\n"},
    {"several data lines", "data: a\ndata: b\ndata:c\n\n", "||a\\nb\\nc\n"},
    {"empty data lines", "data\ndata:\ndata: \n\n", "||\\n\\n\n"},
    {"empty data between", "data: a\ndata\ndata: b\n\n", "||a\\n\\nb\n"},
    {"data without a colon", "data\n\n", "||\n"},
    {"data with an empty value", "data:\n\n", "||\n"},
    {"no data, no frame", "event: x\n\nid: 7\n\n\n\ndata: a\n\n", "|7|a\n"},
    {"event name", "event: ping\ndata: {}\n\n", "ping||{}\n"},
    {"event name without a space", "event:ping\ndata: {}\n\n", "ping||{}\n"},
    {"event name is reset", "event: a\ndata: 1\n\ndata: 2\n\n", "a||1\n||2\n"},
    {"event name is reset without data", "event: a\n\ndata: 2\n\n", "||2\n"},
    {"the last event name counts", "event: a\nevent: b\ndata: 1\n\n", "b||1\n"},
    {"an empty event name resets", "event: a\nevent\ndata: 1\n\n", "||1\n"},
    {"the event may follow the data", "data: 1\nevent: a\n\n", "a||1\n"},
    {"id stays", "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", "|1|a\n|1|b\n||c\n"},
    {"id with NUL is ignored", "id: 1\nid: 2\0003\ndata: a\n\n"sv, "|1|a\n"},
    {"NUL is data", "data: a\0b\n\n"sv, "||a\\0b\n"},
    {"NUL in the name of a field", "data\0: a\ndata: b\n\n"sv, "||b\n"},
    {"comments", ":\n: hello\n:data: x\ndata: a\n:\n\n", "||a\n", 4},
    {"comment between data lines", "data: a\n: c\ndata: b\n\n", "||a\\nb\n", 1},
    {"a comment of a space", ": \n\n", "", 1},
    {"a comment at the end", "data: a\n\n: c", "||a\n", 1},
    {"unknown fields", "retry: 10\nfoo: bar\nbar\ndata: a\n\n", "||a\n"},
    {"fields are case-sensitive", "Data: a\nDATA: b\ndata: c\n\n", "||c\n"},
    {"a space before a name is part of it", " data: a\ndata: b\n\n", "||b\n"},
    {"a space before the colon is part of it", "data : a\ndata: b\n\n", "||b\n"},
    {"a longer name", "dataset: a\ndat: b\ndata: c\n\n", "||c\n"},
    {"colons in the value", "data: a:b: c\n\n", "||a:b: c\n"},
    {"a value that starts with a colon", "data::\n\n", "||:\n"},
    {"data after a line without a name", "{\"a\": 1\ndata: b\n\n", "||{\"a\": 1\n||b\n"},
    {"words of a failure", "data: a\n\nInternal Server Error\n\ndata: b\n\n",
     "||a\n||Internal Server Error\n||b\n"},
    {"words of a failure before data", "[ERROR] a: b\ndata: c\n\n", "||[ERROR] a: b\n||c\n"},
    {"a page", "<html>\n<p>x\n\n", "||<html>\\n<p>x\n"},
    {"a piece of JSON", "[{\n\"a\": [1],\n\ndata: b\n\n", "||b\n"},
    {"BOM",
     "\xEF\xBB\xBF"
     "data: a\n\n",
     "||a\n"},
    {"BOM before a comment", "\xEF\xBB\xBF: c\n\ndata: a\n\n", "||a\n", 1},
    {"two BOMs",
     "\xEF\xBB\xBF\xEF\xBB\xBF"
     "data: a\n\ndata: b\n\n",
     "||b\n"},
    {"BOM in the middle",
     "data: a\n\n\xEF\xBB\xBF"
     "data: b\n\ndata: c\n\n",
     "||a\n||c\n"},
    {"half a BOM",
     "\xEF\xBB"
     "data: a\n\ndata: b\n\n",
     "||b\n"},
    {"half a BOM and a line end", "\xEF\n\ndata: b\n\n", "||b\n"},
    {"half a BOM only", "\xEF\xBB", ""},
    {"BOM only", "\xEF\xBB\xBF", ""},
    {"BOM as data", "data: \xEF\xBB\xBF\n\n", "||\xEF\xBB\xBF\n"},
    {"nothing", "", ""},
    {"line ends only", "\n\r\n\r\r\n\n", ""},
    {"unfinished frame", "data: a\n", "||a\n"},
    {"unfinished line", "data: a\n\ndata: b", "||a\n||b\n"},
    {"unfinished line after CR", "data: a\r", "||a\n"},
    {"unfinished second data line", "data: a\ndata: b", "||a\\nb\n"},
    {"unfinished event name", "data: a\nevent: x", "x||a\n"},
    {"unfinished name of a field", "data: a\nda", "||a\n"},
    {"a line end in a string", "data: {\"a\":\"b\nc d\"}\n\ndata: e\n\n",
     "||{\"a\":\"b\\nc d\"}\n||e\n"},
    {"a line end in a string before something like a field", "data: {\"a\":\"b\nc: d\"}\n\n",
     "||{\"a\":\"b\\nc: d\"}\n"},
    {"unknown fields after data", "data: {}\nc: d\ne\n\ndata: f\ng: h\n\n", "||{}\n||f\n"},
    {"JSON without its field", "data: a\n\n{\"error\":1}\n\ndata: b\n\n",
     "||a\n||{\"error\":1}\n||b\n"},
    {"JSON without its field or a blank line", "data: a\n\n{\"error\":1}\nevent: x\ndata: b\n\n",
     "||a\n||{\"error\":1}\nx||b\n"},
    {"JSON in lines without a field", "data: a\n\n{\n  \"error\": [\n ]\n}\n",
     "||a\n||{\\n  \"error\": [\\n ]\\n}\n"},
    {"JSON without its field after data", "data: {}\n{\"error\":1}\n\n", "||{}\\n{\"error\":1}\n"},
    {"prose without a field", "data: a\n\nBad gateway!\n\n", "||a\n||Bad gateway!\n"},
    {"UTF-8", "data: gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80\n\n",
     "||gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80\n"},
    {"bytes that are not UTF-8", "data: \xFF\xC3\n\n", "||\xFF\xC3\n"},
    {"a typical stream",
     ": processing\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n",
     "||{\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n||[DONE]\n", 1},
    {"a typical stream with names",
     "event: message_start\ndata: {\"type\":\"message_start\"}\n\nevent: ping\r\ndata: {}\r\n\r\n",
     "message_start||{\"type\":\"message_start\"}\nping||{}\n"},
};

TEST(SseDecoder, decodes_every_case_the_same_way_at_every_cut) {
  for (const Case& c : kCases) {
    const Decoded decoded = decode_every_way(SseDecoder(), c.bytes);
    EXPECT_EQ(decoded.frames, c.frames) << c.name;
    EXPECT_EQ(decoded.comments, c.comments) << c.name;
    EXPECT_FALSE(decoded.overflowed) << c.name;
  }
}

TEST(SseDecoder, decodes_all_cases_after_one_another) {
  std::string bytes;
  std::string frames;
  for (const Case& c : kCases) {
    if (c.bytes.starts_with('\xEF') || c.bytes.find("id") != std::string_view::npos) continue;
    bytes.append(c.bytes).append("\n\n");
    frames += c.frames;
  }
  EXPECT_EQ(decode_every_way(SseDecoder(), bytes).frames, frames);
}

TEST(SseDecoder, delivers_a_frame_as_soon_as_its_blank_line_is_there) {
  SseDecoder decoder;
  int frames = 0;
  const auto count = [&](const SseFrame&) { ++frames; };
  decoder.push("data: a\r\n\r", count);
  EXPECT_EQ(frames, 1);
  decoder.push("\n", count);
  decoder.push("data: b\n", count);
  EXPECT_EQ(frames, 1);
  decoder.push("\n", count);
  EXPECT_EQ(frames, 2);
}

TEST(SseDecoder, lends_data_from_the_bytes_when_the_frame_is_whole) {
  const std::string_view bytes = "event: x\ndata: first\n\ndata: second\n\n";
  std::vector<const char*> places;
  SseDecoder decoder;
  decoder.push(bytes, [&](const SseFrame& frame) { places.push_back(frame.data.data()); });
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0], bytes.data() + bytes.find("first"));
  EXPECT_EQ(places[1], bytes.data() + bytes.find("second"));
}

TEST(SseDecoder, stops_when_a_line_or_a_frame_grows_over_the_limit) {
  const Case cases[] = {
      {"data that just fits", "data: 123456\n\ndata: b\n\n", "||123456\n||b\n"},
      {"a line that is too long", "data: a\n\ndata: 1234567\n\ndata: b\n\n", "||a\n"},
      {"an unfinished line that is too long", "data: a\n\ndata: 1234567", "||a\n"},
      {"a comment that is too long", "data: a\n\n:23456789abcdef\ndata: b\n\n", "||a\n"},
      {"lines that just fit", "data:12345\ndata:123456\n\n", "||12345\\n123456\n"},
      {"lines that are too long together", "data:123456\ndata:123456\n\ndata: b\n\n", ""},
  };
  for (const Case& c : cases) {
    const Decoded decoded = decode_every_way(SseDecoder(12), c.bytes);
    EXPECT_EQ(decoded.frames, c.frames) << c.name;
    EXPECT_EQ(decoded.overflowed, c.name.find("too long") != std::string_view::npos) << c.name;
  }
}

TEST(SseDecoder, takes_no_notice_of_comments_that_never_end_a_frame) {
  SseDecoder decoder(16);
  std::string last;
  const auto keep = [&](const SseFrame& frame) { last = frame.data; };
  for (int i = 0; i < 1000; ++i) decoder.push(": alive\n", keep);
  decoder.push("data: a\n\n", keep);
  EXPECT_FALSE(decoder.overflowed());
  EXPECT_EQ(decoder.comments(), 1000u);
  EXPECT_EQ(last, "a");
}

TEST(SseDecoder, reads_a_long_line_byte_by_byte_in_linear_time) {
  constexpr std::size_t kSize = std::size_t{4} << 20;
  SseDecoder decoder;
  std::size_t size = 0;
  const auto keep = [&](const SseFrame& frame) { size = frame.data.size(); };
  decoder.push("data: ", keep);
  for (std::size_t i = 0; i < kSize; ++i) decoder.push("x", keep);
  decoder.push("\n\n", keep);
  EXPECT_EQ(size, kSize);
}

TEST(SseDecoder, reads_many_lines_that_end_in_cr_in_linear_time) {
  std::string bytes;
  for (int i = 0; i < 500000; ++i) bytes += "data\r\r";
  int frames = 0;
  SseDecoder decoder;
  decoder.push(bytes, [&](const SseFrame&) { ++frames; });
  EXPECT_EQ(frames, 500000);
}

TEST(LineDecoder, decodes_every_case_the_same_way_at_every_cut) {
  const Case cases[] = {
      {"LF", "{\"a\":1}\n{\"b\":2}\n", "||{\"a\":1}\n||{\"b\":2}\n"},
      {"CRLF", "a\r\nb\r\n", "||a\n||b\n"},
      {"no last line end", "a\nb", "||a\n||b\n"},
      {"blank lines", "\n\r\n  \t\na\n\n", "||a\n"},
      {"CR inside a line", "a\rb\n", "||a\\rb\n"},
      {"two CR", "a\r\r\n", "||a\\r\n"},
      {"CR at the end", "a\r", "||a\n"},
      {"white space is kept", " a \n", "|| a \n"},
      {"NUL", "a\0b\n"sv, "||a\\0b\n"},
      {"nothing", "", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(decode_every_way(LineDecoder(), c.bytes).frames, c.frames) << c.name;
  }
}

TEST(LineDecoder, stops_when_a_line_grows_over_the_limit) {
  EXPECT_FALSE(decode_every_way(LineDecoder(4), "1234\n123\r\n").overflowed);
  const Decoded decoded = decode_every_way(LineDecoder(4), "1234\n12345\n1\n");
  EXPECT_TRUE(decoded.overflowed);
  EXPECT_EQ(decoded.frames, "||1234\n");
}

TEST(LineDecoder, lends_lines_from_the_bytes) {
  const std::string_view bytes = "first\nsecond\n";
  std::vector<const char*> places;
  LineDecoder decoder;
  decoder.push(bytes, [&](const SseFrame& frame) { places.push_back(frame.data.data()); });
  EXPECT_EQ(places, (std::vector<const char*>{bytes.data(), bytes.data() + 6}));
}

TEST(SseDecoder, tells_when_to_come_again) {
  SseDecoder decoder;
  const auto ignore = [](const SseFrame&) {};
  decoder.push("retry: 1x\nretry:\nretry: -3\nretry: 99999999999\n\n", ignore);
  EXPECT_EQ(decoder.retry(), std::nullopt);
  decoder.push("ret", ignore);
  decoder.push("ry: 250\n", ignore);
  EXPECT_EQ(decoder.retry(), 250U);
}

}  // namespace
}  // namespace callgate::decoder_test
