#include "store/content_codec.h"

#include <gtest/gtest.h>

namespace callgate::store::content_codec_test {
namespace {

using Parts = ContentParts<std::string>;

ContentEncoder::Encoded join(const Parts& parts) {
  return ContentEncoder().join({parts[0], parts[1], parts[2], parts[3], parts[4]});
}

Attempt<Parts> decode(Codec codec, std::string bytes, std::int64_t place = 8) {
  return decode_content(place, static_cast<std::int64_t>(codec), std::move(bytes));
}

TEST(ContentCodec, gives_back_the_parts_that_were_joined) {
  const std::string large(300'000, 'x');
  const Parts cases[] = {{"a", "b", "c", "d", "e"},
                         {"", "", "", "", "text"},
                         {std::string("\0\xff", 2), "", "r", "", ""},
                         {large, large, "response", large, "text"}};
  for (const Parts& parts : cases) {
    const ContentEncoder::Encoded encoded = join(parts);
    EXPECT_EQ(decode(encoded.codec, encoded.bytes).value(), parts);
  }
}

TEST(ContentCodec, what_repeats_is_kept_once) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += std::to_string(i * 7919) + " ";
  const ContentEncoder::Encoded encoded = join({body, body, body, body, body});
  EXPECT_EQ(encoded.codec, Codec::joined_zstd);
  EXPECT_LT(encoded.bytes.size(), 2 * body.size());
}

TEST(ContentCodec, reads_rows_that_hold_one_part_at_the_place_of_that_part) {
  const std::string body(10'000, 'x');
  const ContentEncoder::Encoded encoded = ContentEncoder().encode(body);
  ASSERT_EQ(encoded.codec, Codec::zstd);
  EXPECT_EQ(decode(Codec::zstd, encoded.bytes, 4 * 7 + 2).value(), (Parts{"", "", body, "", ""}));
  EXPECT_EQ(decode(Codec::plain, "b", 4 * 7 + 3).value(), (Parts{"", "", "", "b", ""}));
}

TEST(ContentCodec, damage_is_a_fault) {
  const std::string whole = join({"a", "b", "c", "d", "e"}).bytes;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode(Codec::joined, whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(decode(Codec::joined, whole + "x"));
  EXPECT_FALSE(decode(Codec::joined, std::string(20, '\xff')));
  EXPECT_FALSE(decode(Codec::joined_zstd, whole));
  EXPECT_FALSE(decode(static_cast<Codec>(9), whole));
}

}  // namespace
}  // namespace callgate::store::content_codec_test
