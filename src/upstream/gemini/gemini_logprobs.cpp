#include "upstream/gemini/gemini_logprobs.h"

#include <vector>

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

std::vector<std::string_view> elements_of(std::string_view array) {
  std::vector<std::string_view> elements;
  json::Reader in(array);
  if (in.peek() != json::Kind::array) return elements;
  while (in.next_element()) elements.push_back(in.raw());
  return elements;
}

void write_token(json::ObjectWriter& object, std::string_view candidate) {
  const auto or_else = [](std::string_view json, std::string_view other) {
    return json.empty() ? other : json;
  };
  object.raw("token", or_else(json::given_member(candidate, "token"), "\"\""));
  object.raw("logprob", or_else(json::given_member(candidate, "logProbability"), "0"));
  object.null("bytes");
}

}  // namespace

std::string convert_gemini_logprobs(std::string_view result) {
  const std::vector<std::string_view> chosen =
      elements_of(json::given_member(result, "chosenCandidates"));
  const std::vector<std::string_view> top =
      elements_of(json::given_member(result, "topCandidates"));
  std::string out;
  if (chosen.empty()) return out;
  out = "{\"content\":[";
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (i > 0) out.push_back(',');
    json::ObjectWriter token(out);
    write_token(token, chosen[i]);
    token.key("top_logprobs").push_back('[');
    if (i < top.size()) {
      for (const std::string_view candidate :
           elements_of(json::given_member(top[i], "candidates"))) {
        if (out.back() == '}') out.push_back(',');
        json::ObjectWriter other(out);
        write_token(other, candidate);
        other.close();
      }
    }
    out.push_back(']');
    token.close();
  }
  out.append("],\"refusal\":null}");
  return out;
}

}  // namespace callgate::upstream
