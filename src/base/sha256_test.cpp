#include "base/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace callgate::sha256_test {
namespace {

std::string hex(const Sha256::Digest& digest) {
  std::string out;
  for (const std::uint8_t byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

TEST(Sha256, agrees_with_the_standard) {
  EXPECT_EQ(hex(Sha256().finish()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(Sha256().push("abc").finish()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(Sha256().push("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").finish()),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(Sha256().push(std::string(1'000'000, 'a')).finish()),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, gives_the_same_however_the_bytes_are_cut) {
  const std::string text(150, 'x');
  const auto whole = Sha256().push(text).finish();
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(Sha256().push(text.substr(0, cut)).push(text.substr(cut)).finish(), whole) << cut;
  }
}

TEST(Sha256, keeps_fields_apart) {
  EXPECT_NE(Sha256().push_field("ab").push_field("c").finish(),
            Sha256().push_field("a").push_field("bc").finish());
}

}  // namespace
}  // namespace callgate::sha256_test
