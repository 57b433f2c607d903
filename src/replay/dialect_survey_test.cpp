#include "replay/dialect_survey.h"

#include <gtest/gtest.h>

namespace callgate::replay::dialect_survey_test {
namespace {

TEST(DialectSurvey, names_dialects_that_find_calls_and_those_that_come_close) {
  const LoggedCall f{.name = "f", .arguments = "{}"};
  const LoggedCall g{.name = "g", .arguments = "{}"};
  const auto read = [&](const Dialect& dialect, Explainer& explain) {
    if (dialect.name == "hermes") return Reading{.calls = {f, g}, .text_bytes = 0};
    if (dialect.name == "granite") return Reading{.calls = {f}, .text_bytes = 9};
    if (dialect.name == "glm45") return Reading{.calls = {f}, .text_bytes = 2};
    if (dialect.name == "longcat") return Reading{.calls = {f}, .text_bytes = 30};
    if (dialect.name == "xlam") explain.stayed_text({.begin = 1, .end = 3, .reason = "near"});
    if (dialect.name == "pythonic") {
      explain.stayed_text({.begin = 0, .end = 0, .reason = "far"});
      explain.stayed_text({.begin = 2, .end = 9, .reason = "nearer"});
    }
    return Reading{};
  };
  const std::string_view said =
      "<longcat_tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</longcat_tool_call>";
  const Survey survey = survey_dialects(said, read);
  EXPECT_EQ(to_text(survey),
            "calls\n"
            "  longcat              f\n"
            "  hermes               f, g\n"
            "  glm45                f\n"
            "  granite              f\n"
            "close\n"
            "  pythonic: opener at byte 2, gave up at byte 9: nearer\n"
            "  xlam: opener at byte 1, gave up at byte 3: near\n");
  EXPECT_EQ(found_json(survey),
            R"([{"dialect":"longcat","calls":["f"]},{"dialect":"hermes","calls":["f","g"]},)"
            R"({"dialect":"glm45","calls":["f"]},{"dialect":"granite","calls":["f"]}])");
}

TEST(DialectSurvey, says_that_nothing_was_found) {
  const Survey survey = survey_dialects("", [](const Dialect&, Explainer&) { return Reading{}; });
  EXPECT_EQ(to_text(survey), "no dialect finds a call\n");
  EXPECT_EQ(found_json(survey), "[]");
}

}  // namespace
}  // namespace callgate::replay::dialect_survey_test
