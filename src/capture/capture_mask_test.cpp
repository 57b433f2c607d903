#include "capture/capture_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::server::capture_mask_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

CaptureRecord record_of(const std::vector<std::string>& pieces) {
  CaptureRecord record{.version = "v", .request_id = "r", .end = "completed"};
  for (const std::string& piece : pieces) {
    record.lines.push_back({.direction = Direction::upstream_in, .bytes = piece});
  }
  return record;
}

std::vector<std::string> pieces_of(const CaptureRecord& record) {
  std::vector<std::string> pieces;
  for (const CaptureLine& line : record.lines) pieces.push_back(line.bytes);
  return pieces;
}

TEST(CaptureMask, replaces_a_secret_however_it_is_cut) {
  const std::string text = "say top-secret-1 and top-secret-1.";
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      CaptureRecord record = record_of(
          {text.substr(0, first), text.substr(first, second - first), text.substr(second)});
      mask_secrets(record, {"top-secret-1", ""});
      std::string joined;
      for (const std::string& piece : pieces_of(record)) joined += piece;
      ASSERT_EQ(joined, "say ************ and ************.") << first << " " << second;
    }
  }
}

TEST(CaptureMask, keeps_the_cuts_outside_of_secrets) {
  CaptureRecord record = record_of({"ab", "c-SECRE", "T-d", "e"});
  mask_secrets(record, {"SECRET"});
  EXPECT_THAT(pieces_of(record), ElementsAre("ab", "c-*****", "*-d", "e"));
}

TEST(CaptureMask, knows_a_secret_in_its_json_spellings) {
  CaptureRecord record = record_of({R"({"a":"x/y\"z","b":"x\/y\"z","c":"x/y"})"});
  mask_secrets(record, {"x/y\"z"});
  EXPECT_THAT(pieces_of(record), ElementsAre(R"({"a":"******","b":"*******","c":"x/y"})"));
}

TEST(CaptureMask, joins_secrets_that_overlap) {
  CaptureRecord record = record_of({"1abcdef2"});
  mask_secrets(record, {"abcd", "cdef"});
  EXPECT_THAT(pieces_of(record), ElementsAre("1******2"));
}

TEST(CaptureMask, leaves_no_part_of_a_secret_at_the_end_of_a_truncated_capture) {
  CaptureRecord record = record_of({"key: top-s", "ecr"});
  record.truncated = true;
  mask_secrets(record, {"top-secret-1"});
  EXPECT_THAT(pieces_of(record), ElementsAre("key: *****", "***"));
}

TEST(CaptureMask, masks_headers_by_name_and_other_texts_by_value) {
  CaptureRecord record{.version = "v", .request_id = "top-secret-1"};
  const CapturedHead head{.path = "/v1/top-secret-1",
                          .headers = {{"Authorization", "Bearer abc"},
                                      {"x-api-key", "abc"},
                                      {"Cookie", "abc"},
                                      {"set-cookie", "abc"},
                                      {"proxy-authorization", "abc"},
                                      {"x-amz-security-token", "abc"},
                                      {"x-ratelimit-remaining-tokens", "7"},
                                      {"x-note", "has top-secret-1 in it"}}};
  const Error error{.message = "bad key top-secret-1"};
  record.lines = {{.kind = CaptureLine::Kind::head, .head = head},
                  {.kind = CaptureLine::Kind::failed, .error = error}};
  mask_secrets(record, {"top-secret-1"});
  const std::string text = print_capture(record);
  EXPECT_THAT(text, Not(HasSubstr("abc")));
  EXPECT_THAT(text, Not(HasSubstr("top-secret")));
  EXPECT_THAT(text, HasSubstr("\"x-ratelimit-remaining-tokens\",\"7\""));
  EXPECT_THAT(text, HasSubstr("has ************ in it"));
}

}  // namespace
}  // namespace callgate::server::capture_mask_test
