#include "net/websocket_codec.h"

#include <gtest/gtest.h>

#include <random>

namespace callgate::net::websocket_codec_test {
namespace {

constexpr WebSocketLimits kLimits{.frame = 70'000, .message = 100'000};

// A frame as a client sends it.
std::string masked(std::uint8_t first, std::string_view payload) {
  std::string out;
  std::string plain;
  append_frame(plain, Opcode::binary, std::string(payload.size(), 'x'));
  out = plain.substr(0, plain.size() - payload.size());
  out[0] = static_cast<char>(first);
  out[1] = static_cast<char>(static_cast<unsigned char>(out[1]) | 0x80);
  constexpr std::string_view kMask = "\x37\xfa\x21\x3d";
  out.append(kMask);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    out.push_back(static_cast<char>(payload[i] ^ kMask[i % 4]));
  }
  return out;
}

// What a server wrote, as if a client had written it.
std::string as_client(std::string_view frame) {
  const auto length = static_cast<unsigned char>(frame[1]);
  const std::size_t head = length < 126 ? 2 : length == 126 ? 4 : 10;
  return masked(static_cast<std::uint8_t>(frame[0]), frame.substr(head));
}

std::string print(const WebSocketReader& reader) {
  if (reader.fault()) return "fault " + std::to_string(reader.fault()->code);
  return reader.closed() ? "closed" : "";
}

// Everything that is read, a word per message.
std::string read(std::string_view bytes, std::size_t step, bool deflate = true) {
  WebSocketReader reader(kLimits, deflate);
  std::string log;
  const auto note = [&](const WebSocketMessage& message) {
    constexpr std::string_view kNames[] = {"", "text", "binary", "",     "",    "",
                                           "", "",     "close",  "ping", "pong"};
    log.append(kNames[static_cast<std::size_t>(message.opcode)]);
    if (message.close_code != 0) log.append(" ").append(std::to_string(message.close_code));
    if (message.payload.size() > 100) {
      log.append(" of ").append(std::to_string(message.payload.size()));
    } else if (!message.payload.empty()) {
      log.append(" ").append(message.payload);
    }
    log.append("|");
  };
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    reader.push(bytes.substr(at, step), note);
  }
  return log + print(reader);
}

void expect_read(std::string_view bytes, std::string_view wanted, bool deflate = true) {
  for (const std::size_t step : {bytes.size() + 1, std::size_t{1}, std::size_t{2}, std::size_t{3},
                                 std::size_t{7}, std::size_t{1000}}) {
    EXPECT_EQ(read(bytes, step, deflate), wanted) << "in steps of " << step;
  }
}

TEST(WebSocketReader, reads_frames_however_they_are_cut) {
  expect_read(masked(0x81, "Hi"), "text Hi|");
  expect_read(masked(0x82, ""), "binary|");
  expect_read(masked(0x81, "") + masked(0x89, "x") + masked(0x8A, ""), "text|ping x|pong|");
  expect_read(masked(0x01, "a") + masked(0x00, "b") + masked(0x89, "p") + masked(0x80, "c"),
              "ping p|text abc|");
  expect_read(masked(0x81, std::string(125, 'a')), "text of 125|");
  expect_read(masked(0x81, std::string(126, 'a')), "text of 126|");
  expect_read(masked(0x81, std::string(65536, 'a')), "text of 65536|");
  expect_read(masked(0x01, "\xE2\x82") + masked(0x80, "\xAC"), "text \xE2\x82\xAC|");
  expect_read(masked(0x88, ""), "close|closed");
  expect_read(masked(0x88, "\x03\xE8") + "anything", "close 1000|closed");
  expect_read(masked(0x88, "\x0F\xA0later"), "close 4000 later|closed");
}

TEST(WebSocketReader, refuses_what_the_protocol_forbids) {
  struct Case {
    std::string bytes;
    int code;
  };
  const Case cases[] = {
      {std::string("\x81\x02Hi", 4), 1002},              // not masked
      {masked(0x83, "x"), 1002},                         // opcodes of the future
      {masked(0x8B, "x"), 1002},                         //
      {masked(0xA1, "x"), 1002},                         // reserved bits
      {masked(0x91, "x"), 1002},                         //
      {masked(0xC9, "x"), 1002},                         // a deflated ping
      {masked(0x09, "x"), 1002},                         // a fragmented one
      {masked(0x89, std::string(126, 'x')), 1002},       // a long one
      {masked(0x80, "x"), 1002},                         // nothing to continue
      {masked(0x01, "x") + masked(0x81, "y"), 1002},     // a message within a message
      {masked(0x01, "x") + masked(0xC0, "y"), 1002},     // deflated in the middle
      {masked(0x88, "x"), 1002},                         // half a code
      {masked(0x88, std::string("\x03\xED", 2)), 1002},  // 1005
      {masked(0x88, std::string("\x03\xE7", 2)), 1002},  // 999
      {masked(0x88, std::string("\x13\x88", 2)), 1002},  // 5000
      {masked(0x88, "\x03\xE8\xFF"), 1007},
      {masked(0x81, "\xFF"), 1007},
      {masked(0x81, "\xED\xA0\x80"), 1007},  // a surrogate
      {masked(0x81, "\xE2\x82"), 1007},      // cut at the end
      {masked(0x82, std::string(70'001, 'x')), 1009},
      {masked(0x02, std::string(60'000, 'x')) + masked(0x80, std::string(60'000, 'x')), 1009},
      {std::string("\x81\xFE\x00\x05\x00\x00\x00\x00hello", 13),
       1002},  // a longer length than needed
      {std::string("\x82\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x00\x00\x00\x00", 14), 1009},
      {masked(0xC1, "\xFF\xFF\xFF"), 1007},  // not deflated
  };
  for (const Case& each : cases) {
    WebSocketReader whole(kLimits, true);
    whole.push(each.bytes, [](const WebSocketMessage&) {});
    ASSERT_TRUE(whole.fault()) << testing::PrintToString(each.bytes.substr(0, 40));
    EXPECT_EQ(whole.fault()->code, each.code) << testing::PrintToString(each.bytes.substr(0, 40));
    const std::string bytewise = read(each.bytes, 1);
    EXPECT_TRUE(bytewise.ends_with("fault " + std::to_string(each.code))) << bytewise;
  }
  EXPECT_EQ(read(masked(0xC1, "x"), 1, false), "fault 1002") << "nobody agreed on deflate";
}

TEST(WebSocketReader, finds_bad_text_before_the_message_ends) {
  WebSocketReader reader(kLimits, false);
  reader.push(masked(0x01, "\xCE\xBA\xE1\xBD\xB9\xCF\x83\xCE\xBC\xCE\xB5\xF4\x90"),
              [](const WebSocketMessage&) {});
  ASSERT_TRUE(reader.fault());
  EXPECT_EQ(reader.fault()->code, kCloseInvalidText);
}

TEST(WebSocketReader, inflates_what_the_writer_deflates) {
  std::mt19937 random(7);
  for (const std::size_t size : {0u, 1u, 255u, 256u, 257u, 5000u, 99'999u}) {
    for (const bool noise : {false, true}) {
      std::string payload(size, 'a');
      if (noise) {
        for (char& byte : payload) byte = static_cast<char>('a' + random() % 26);
      }
      std::string frame;
      append_deflated_frame(frame, Opcode::text, payload);
      EXPECT_LE(frame.size(), size + 10);
      std::string got;
      WebSocketReader reader({.frame = 200'000, .message = 100'000}, true);
      reader.push(as_client(frame),
                  [&](const WebSocketMessage& message) { got = message.payload; });
      EXPECT_FALSE(reader.fault());
      EXPECT_EQ(got, payload) << size;
    }
  }
}

TEST(WebSocketReader, stops_at_a_bomb) {
  std::string frame;
  append_deflated_frame(frame, Opcode::binary, std::string(std::size_t{64} << 20, '\0'));
  ASSERT_LT(frame.size(), 400'000u);
  WebSocketReader reader({.frame = 1 << 20, .message = 1 << 20}, true);
  reader.push(as_client(frame), [](const WebSocketMessage&) { FAIL(); });
  ASSERT_TRUE(reader.fault());
  EXPECT_EQ(reader.fault()->code, kCloseTooBig);
}

TEST(WebSocketHandshake, knows_the_key_and_the_extensions) {
  EXPECT_EQ(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  for (const std::string_view taken :
       {"permessage-deflate", "permessage-deflate; client_max_window_bits",
        "x-other, permessage-deflate;server_no_context_takeover ; client_no_context_takeover",
        "permessage-deflate; server_max_window_bits=10, permessage-deflate"}) {
    EXPECT_TRUE(offers_deflate(taken)) << taken;
  }
  for (const std::string_view refused :
       {"", "x-webkit-deflate-frame", "permessage-deflate; server_max_window_bits=10",
        "permessage-deflate; what=1", ",;,="}) {
    EXPECT_FALSE(offers_deflate(refused)) << refused;
  }
}

TEST(WebSocketWriter, writes_lengths_in_their_shortest_form) {
  for (const auto& [size, head] :
       {std::pair{0u, 2u}, {125u, 2u}, {126u, 4u}, {65535u, 4u}, {65536u, 10u}}) {
    std::string out;
    append_frame(out, Opcode::text, std::string(size, 'x'));
    EXPECT_EQ(out.size(), size + head);
  }
  std::string out;
  append_close_frame(out, kCloseNormal, std::string(122, 'x') + "\xE2\x82\xAC");
  EXPECT_EQ(out.size(), 2u + 2 + 122) << "cut between characters";
}

TEST(WebSocketReader, takes_what_is_as_large_as_its_limits) {
  const WebSocketLimits limits{.frame = 10, .message = 15};
  const auto code_of = [&](const std::string& bytes) {
    WebSocketReader reader(limits, true);
    reader.push(bytes, [](const WebSocketMessage&) {});
    return reader.fault() ? reader.fault()->code : 0;
  };
  EXPECT_EQ(code_of(masked(0x82, std::string(10, 'x'))), 0);
  EXPECT_EQ(code_of(masked(0x82, std::string(11, 'x'))), kCloseTooBig);
  EXPECT_EQ(code_of(masked(0x02, std::string(10, 'x')) + masked(0x80, std::string(5, 'x'))), 0);
  EXPECT_EQ(code_of(masked(0x02, std::string(10, 'x')) + masked(0x80, std::string(6, 'x'))),
            kCloseTooBig);
  expect_read(masked(0x89, std::string(125, 'p')), "ping of 125|");
  expect_read(masked(0x81, std::string(65535, 'a')), "text of 65535|");
}

TEST(WebSocketReader, knows_which_codes_a_close_may_have) {
  const auto is_valid = [](int code) {
    const std::string payload{static_cast<char>(code >> 8), static_cast<char>(code & 0xFF)};
    WebSocketReader reader(kLimits, true);
    reader.push(masked(0x88, payload), [](const WebSocketMessage&) {});
    return !reader.fault();
  };
  for (const int code : {1000, 1003, 1007, 1011, 3000, 3999, 4000, 4999}) {
    EXPECT_TRUE(is_valid(code)) << code;
  }
  for (const int code : {0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535}) {
    EXPECT_FALSE(is_valid(code)) << code;
  }
}
}  // namespace
}  // namespace callgate::net::websocket_codec_test
