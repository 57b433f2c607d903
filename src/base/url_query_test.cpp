#include "base/url_query.h"

#include <gtest/gtest.h>

namespace callgate::url_query_test {
namespace {

TEST(PercentEncoding, leaves_letters_digits_and_four_signs) {
  EXPECT_EQ(percent_encoded("azAZ09-_.~"), "azAZ09-_.~");
  EXPECT_EQ(percent_encoded("/:@[`{|} \x7f"), "%2F%3A%40%5B%60%7B%7C%7D%20%7F");
  EXPECT_EQ(percent_encoded("\xC3\xBC"), "%C3%BC");
  EXPECT_EQ(percent_encoded(std::string_view("\0\x1F", 2)), "%00%1F");
}

TEST(PercentEncoding, reads_escapes_and_leaves_what_is_none) {
  EXPECT_EQ(percent_decoded("%2F%2f%20"), "// ");
  EXPECT_EQ(percent_decoded("%C3%Bc%09%aF%Fa"), "\xC3\xBC\t\xAF\xFA");
  for (const char* text : {"%", "a%", "%2", "a%2", "%G0", "%0G", "%/0", "%0:", "%`0", "%0g"}) {
    EXPECT_EQ(percent_decoded(text), text);
  }
  EXPECT_EQ(percent_decoded("%%41"), "%A");
  EXPECT_EQ(percent_decoded("+"), "+");
}

TEST(UrlQuery, has_parameters_in_their_order) {
  const auto read = [](std::string_view query) {
    std::string text;
    for (const UrlParameter& each : read_url_query(query)) {
      text += each.name + "=" + each.value + ";";
    }
    return text;
  };
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("a=1&b=2&a=3"), "a=1;b=2;a=3;");
  EXPECT_EQ(read("model=a%2Fb&text=two+words%2B"), "model=a/b;text=two words+;");
  EXPECT_EQ(read("&&a&=x&b=&"), "a=;=x;b=;");
  EXPECT_EQ(read("a=b=c"), "a=b=c;");
}

}  // namespace
}  // namespace callgate::url_query_test
