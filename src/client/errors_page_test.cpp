#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/source_path_testing.h"
#include "chat/error_word.h"
#include "client/protocol.h"

namespace callgate::client::errors_page_test {
namespace {

constexpr ErrorCode kCodes[] = {
    ErrorCode::invalid_request, ErrorCode::unauthenticated, ErrorCode::forbidden,
    ErrorCode::not_found,       ErrorCode::not_allowed,     ErrorCode::conflict,
    ErrorCode::too_large,       ErrorCode::rate_limited,    ErrorCode::upstream_failed,
    ErrorCode::unavailable,     ErrorCode::timed_out,       ErrorCode::internal,
};

// The text of a member as it stands in a body, without quotes; the first member of that name counts, from `from` on.
std::string member(const std::string& body, const std::string& name, std::size_t from) {
  const std::string key = "\"" + name + "\":";
  const std::size_t at = body.find(key, from) + key.size();
  const std::size_t end = body.find_first_of(",}", at);
  std::string value = body.substr(at, end - at);
  if (value.starts_with('"')) value = value.substr(1, value.size() - 2);
  return value;
}

std::string said_by(const char* protocol, const Error& error, const std::string& name) {
  const std::string body = find(protocol)->error_body(error);
  const std::size_t inner = body.find("\"error\":");
  return "`" + member(body, name, inner + 1) + "`";
}

std::string first_cell(ErrorCode code) { return "| `" + std::string(to_string(code)) + "` | "; }

// What a row of the first table begins with; the advice after it is prose.
std::string status_row(ErrorCode code) {
  const Error error{.code = code, .message = "m", .param = {}, .type = {}};
  return first_cell(code) + std::to_string(find("openai_chat")->status_of(error)) + " | ";
}

std::string words_row(ErrorCode code) {
  const Error error{.code = code, .message = "m", .param = {}, .type = {}};
  return first_cell(code) + said_by("openai_chat", error, "type") + " | " +
         said_by("openai_chat", error, "code") + " | " +
         said_by("anthropic_messages", error, "type") + " | " + said_by("gemini", error, "status") +
         " |";
}

std::vector<std::string> rows_of_errors() {
  std::ifstream page(source_path("docs/http.md"));
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) inside = line == "## Errors";
    if (inside && line.starts_with("| `")) rows.push_back(line);
  }
  return rows;
}

TEST(ErrorsPage, has_a_row_for_every_code_with_the_words_of_every_protocol) {
  const std::vector<std::string> rows = rows_of_errors();
  constexpr std::size_t kCount = std::size(kCodes);
  ASSERT_EQ(rows.size(), 2 * kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::string wanted = status_row(kCodes[i]);
    EXPECT_EQ(rows[i].substr(0, wanted.size()), wanted);
    EXPECT_EQ(rows[kCount + i], words_row(kCodes[i]));
  }
}

}  // namespace
}  // namespace callgate::client::errors_page_test
