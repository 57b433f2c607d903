#include "compress/content_decoder.h"

#include <gtest/gtest.h>

#include "compress/content_encoder.h"

namespace callgate::compress::content_decoder_test {
namespace {

constexpr Format kFormats[] = {Format::gzip, Format::deflate, Format::bare_deflate, Format::br,
                               Format::zstd};

struct Outcome {
  std::string body;
  std::string error;
};

// REQUIRES: there is something to undo.
Outcome decode(std::string_view codings, std::string_view encoded, std::size_t first,
               std::size_t step) {
  auto decoder = ContentDecoder::make(codings);
  if (!decoder) return {.body = {}, .error = decoder.error().message};
  Outcome outcome;
  while (!encoded.empty()) {
    const std::string piece(encoded.substr(0, first));  // its own memory: no view may outlive it
    encoded.remove_prefix(piece.size());
    first = step;
    decoder->push(piece);
    while (true) {
      const auto got = decoder->next();
      if (!got) return {.body = outcome.body, .error = got.error().message};
      if (got->empty()) break;
      EXPECT_LE(got->size(), kPieceSize);
      outcome.body += *got;
    }
  }
  if (const auto whole = decoder->finish(); !whole) outcome.error = whole.error().message;
  return outcome;
}

Outcome decode(std::string_view codings, std::string_view encoded) {
  return decode(codings, encoded, encoded.size(), encoded.size());
}

std::string sample() {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text +=
        "data: {\"choices\":[{\"delta\":{\"content\":\"w" + std::to_string(i * 7919) + "\"}}]}\n\n";
  }
  return text + "data: [DONE]\n\n";
}

TEST(ContentDecoder, undoes_every_coding_at_every_cut) {
  const std::string text = sample();
  for (const Format format : kFormats) {
    const std::string encoded = encode(format, text);
    ASSERT_LT(encoded.size(), text.size());
    for (std::size_t cut = 1; cut <= encoded.size(); ++cut) {
      const Outcome outcome = decode(coding_name(format), encoded, cut, encoded.size());
      ASSERT_EQ(outcome.body, text) << coding_name(format) << " cut at " << cut;
      ASSERT_EQ(outcome.error, "");
    }
    EXPECT_EQ(decode(coding_name(format), encoded, 1, 1).body, text) << coding_name(format);
  }
}

TEST(ContentDecoder, gives_what_was_flushed_at_once) {
  for (const Format format : kFormats) {
    const auto encoder = ContentEncoder::make(format);
    auto decoder = ContentDecoder::make(coding_name(format));
    ASSERT_TRUE(decoder);
    for (int i = 0; i < 50; ++i) {
      const std::string frame = "data: {\"n\":" + std::to_string(i) + "}\n\n";
      std::string bytes;
      encoder->push(frame, bytes);
      decoder->push(bytes);
      std::string got;
      for (auto piece = decoder->next(); piece && !piece->empty(); piece = decoder->next()) {
        got += *piece;
      }
      EXPECT_EQ(got, frame) << coding_name(format);
    }
    EXPECT_FALSE(decoder->finish()) << "not ended yet";
  }
}

TEST(ContentDecoder, undoes_codings_in_the_reverse_order) {
  const std::string text = sample();
  std::string encoded = text;
  for (const Format format : {Format::gzip, Format::zstd, Format::br}) {
    encoded = encode(format, encoded);
  }
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, encoded.size()}) {
    const Outcome outcome = decode("gzip, identity,zstd ,\tBR", encoded, step, step);
    EXPECT_EQ(outcome.body, text);
    EXPECT_EQ(outcome.error, "");
  }
  EXPECT_EQ(decode("br, zstd, gzip", encoded).error,
            "the answer's content (content-encoding: gzip) is damaged");
}

TEST(ContentDecoder, reads_all_members_of_gzip_and_frames_of_zstd) {
  const std::string gzip = encode(Format::gzip, "one ") + encode(Format::gzip, "") +
                           encode(Format::gzip, "two") + std::string(9, '\0');
  const std::string zstd = encode(Format::zstd, "one ") + encode(Format::zstd, "two");
  for (const std::size_t step : {std::size_t{1}, std::size_t{5}, gzip.size()}) {
    EXPECT_EQ(decode("x-gzip", gzip, step, step).body, "one two");
    EXPECT_EQ(decode("x-gzip", gzip, step, step).error, "");
    EXPECT_EQ(decode("zstd", zstd, step, step).body, "one two");
    EXPECT_EQ(decode("zstd", zstd, step, step).error, "");
  }
}

TEST(ContentDecoder, passes_over_padding_after_the_end) {
  for (const Format format : {Format::gzip, Format::deflate, Format::bare_deflate, Format::br}) {
    const std::string encoded = encode(format, "all there is") + "padding";
    for (const std::size_t step : {std::size_t{1}, encoded.size()}) {
      const Outcome outcome = decode(coding_name(format), encoded, step, step);
      EXPECT_EQ(outcome.body, "all there is") << coding_name(format);
      EXPECT_EQ(outcome.error, "");
    }
  }
}

TEST(ContentDecoder, has_nothing_to_do_for_identity) {
  for (const std::string_view codings : {"", "identity", " Identity , identity", "none", "UTF-8"}) {
    const auto decoder = ContentDecoder::make(codings);
    ASSERT_TRUE(decoder) << codings;
    EXPECT_TRUE(decoder->is_identity()) << codings;
  }
}

TEST(ContentDecoder, names_a_coding_that_it_does_not_know) {
  const auto decoder = ContentDecoder::make("gzip, Compress");
  ASSERT_FALSE(decoder);
  EXPECT_EQ(decoder.error().code, ErrorCode::upstream_failed);
  EXPECT_EQ(decoder.error().upstream_code, kUnsupportedCoding);
  EXPECT_EQ(decoder.error().message,
            "the answer has content-encoding \"compress\", expected gzip, deflate, br, zstd or "
            "identity");
  EXPECT_FALSE(ContentDecoder::make("br,br,br,br,br"));
}

TEST(ContentDecoder, takes_an_empty_message_as_it_is) {
  for (const std::string_view codings : {"gzip", "deflate", "br", "zstd", "gzip, br"}) {
    EXPECT_EQ(decode(codings, "").error, "") << codings;
  }
}

TEST(ContentDecoder, notices_every_truncation) {
  const std::string text = sample();
  for (const Format format : kFormats) {
    const std::string encoded = encode(format, text);
    for (std::size_t size = 1; size < encoded.size(); ++size) {
      const Outcome outcome = decode(coding_name(format), encoded.substr(0, size));
      ASSERT_NE(outcome.error, "") << coding_name(format) << " of " << size << " bytes";
      ASSERT_TRUE(text.starts_with(outcome.body));
    }
  }
}

TEST(ContentDecoder, never_takes_damaged_gzip_for_another_text) {
  const std::string text = sample();
  for (const Format format : {Format::gzip, Format::deflate}) {
    const std::string encoded = encode(format, text);
    for (std::size_t at = 0; at < encoded.size(); ++at) {
      std::string damaged = encoded;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      const Outcome outcome = decode(coding_name(format), damaged);
      ASSERT_TRUE(!outcome.error.empty() || outcome.body == text) << at;
    }
  }
  for (const std::string_view codings : {"gzip", "br", "zstd"}) {
    EXPECT_NE(decode(codings, R"({"plain": "JSON"})").error, "") << codings;
  }
}

TEST(ContentDecoder, stops_at_content_that_is_made_to_explode) {
  const std::string zeros(std::size_t{16} << 20, '\0');
  for (const Format format : kFormats) {
    const Outcome outcome = decode(coding_name(format), encode(format, zeros), 512, 512);
    EXPECT_NE(outcome.error.find("more than 400 times"), std::string::npos) << outcome.error;
    EXPECT_LE(outcome.body.size(), zeros.size() / 2) << coding_name(format);
  }
  // It grows in the first stage and would vanish in the second.
  const std::string nothing = encode(Format::gzip, "").append(zeros);
  const Outcome stacked = decode("gzip, br", encode(Format::br, nothing));
  EXPECT_NE(stacked.error.find("content-encoding: br"), std::string::npos) << stacked.error;
}

TEST(ContentDecoder, lets_very_regular_streams_pass) {
  const auto encoder = ContentEncoder::make(Format::gzip);
  std::string encoded;
  std::string text;
  for (int i = 0; i < 30'000; ++i) {
    const std::string frame = R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk",)"
                              R"("choices":[{"index":0,"delta":{"content":"ha"}}]})"
                              "\n\n";
    encoder->push(frame, encoded);
    text += frame;
  }
  encoder->finish(encoded);
  const Outcome outcome = decode("gzip", encoded, 1000, 1000);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.body, text);
}

}  // namespace
}  // namespace callgate::compress::content_decoder_test
