#include "base/masked_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::masked_url_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MaskedUrl, hides_user_names_passwords_and_secret_values) {
  struct Case {
    std::string_view url;
    std::string_view shown;
  };
  constexpr Case kCases[] = {
      {"http://host:8080/v1", "http://host:8080/v1"},
      {"sqlite:/var/lib/callgate.db", "sqlite:/var/lib/callgate.db"},
      {"none", "none"},
      {"", ""},
      {"https://me:hunter2@host/v1", "https://***@host/v1"},
      {"https://hunter2@host", "https://***@host"},
      {"https://me:hun/ter@2@host/v1", "https://***@host/v1"},
      {"postgres//me:hunter2@host/db", "postgres//***@host/db"},
      {"postgres:me:hunter2@host/db", "postgres:***@host/db"},
      {"me:hunter2@host", "me:***@host"},
      {"https://h/p?key=abc&page=2", "https://h/p?key=***&page=2"},
      {"https://h/p?page=2&API_KEY=abc#x", "https://h/p?page=2&API_KEY=***#x"},
      {"https://h/p?mail=a@b&sig=abc", "https://h/p?mail=a@b&sig=***"},
      {"https://h/{id}?token={token}", "https://h/{id}?token={token}"},
      {"postgresql://db/log?sslpassword=x;passfile=y",
       "postgresql://db/log?sslpassword=***;passfile=***"},
  };
  for (const Case& each : kCases) EXPECT_EQ(masked_url(each.url), each.shown) << each.url;
}

TEST(MaskedUrl, knows_what_it_hid) {
  EXPECT_THAT(secrets_in_url("https://me:hunter2@h/?key=abc"),
              ElementsAre("me:hunter2", "hunter2", "abc"));
  EXPECT_THAT(secrets_in_url("https://h/?page=2"), IsEmpty());
}

TEST(MaskedCommand, shows_the_program_and_its_long_options) {
  EXPECT_THAT(masked_command({"prog", "--token", "hunter2", "--key=abc", "-phunter2", "file",
                              "--header", "Authorization: Bearer x", "--fast"}),
              ElementsAre("prog", "--token", "***", "--key=***", "***", "***", "--header", "***",
                          "--fast"));
  EXPECT_THAT(masked_command({"sh", "-c", "TOKEN=hunter2 prog"}), ElementsAre("sh", "***", "***"));
  EXPECT_THAT(masked_command({}), IsEmpty());
}

}  // namespace
}  // namespace callgate::masked_url_test
