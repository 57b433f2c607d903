// The conversation of a request that came in this format, as its client wrote it. What callgate left as it was goes out byte for
// byte, with members that callgate does not know, so that the API finds the beginning of a prompt in its cache.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"

namespace callgate::upstream {

class GeminiOrigin {
 public:
  // `body`: the client's, or empty; outlives this.
  explicit GeminiOrigin(std::string_view body);

  struct Match {
    std::vector<std::string_view> contents;  // JSON
    std::size_t messages = 0;                // that they stand for
  };
  // The next contents, if messages[at] and those after it still say what they say. Then the ones after them are next.
  std::optional<Match> match(const std::vector<Message>& messages, std::size_t at);
  // JSON of the system instruction, if `message` still says it; else empty.
  std::string_view system(const Message& message) const;

 private:
  struct Part {
    bool is_text = false;
    bool thought = false;
    bool has_signature = false;
    std::string text;
    std::string_view call;      // JSON
    std::string_view response;  // JSON
  };
  struct Content {
    std::string_view json;
    bool model = false;
    bool foreign = false;  // has what another issuer sealed
    std::vector<Part> parts;
  };

  static Content read_content(std::string_view json);
  static bool is_result(const Part& part, const Message& message);
  bool user_match(const Content& content, const std::vector<Message>& messages, std::size_t at,
                  std::size_t& count) const;
  static bool model_match(const std::vector<const Content*>& group, const Message& message);

  std::vector<Content> contents_;
  std::size_t next_ = 0;
  std::string_view system_;
};

}  // namespace callgate::upstream
