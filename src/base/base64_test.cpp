#include "base/base64.h"

#include <gtest/gtest.h>

namespace callgate::base64::base64_test {
namespace {

std::string encoded(std::string_view bytes) {
  std::string out;
  append_encoded(out, bytes);
  return out;
}

TEST(Base64, writes_the_samples_of_its_specification) {
  const std::pair<std::string_view, std::string_view> kSamples[] = {{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"},
                                                                    {"\xff\xfe\xfb", "//77"}};
  for (const auto& [bytes, text] : kSamples) {
    EXPECT_EQ(encoded(bytes), text);
    EXPECT_EQ(decode(text), bytes);
  }
}

TEST(Base64, reads_back_every_byte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes.push_back(static_cast<char>(i));
    EXPECT_EQ(decode(encoded(bytes)), bytes);
  }
}

TEST(Base64, refuses_what_it_does_not_write) {
  for (const std::string_view text :
       {"Zg", "Zg=", "Z===", "Zg==Zg==", "Zh==", "Zm9=", "Zm 9", "===="}) {
    EXPECT_EQ(decode(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace callgate::base64::base64_test
