// What a child program that keeps conversations needs to know of a request: whether it continues a conversation that
// the child has, and what to send then, and what to send when it does not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/keyed_hash.h"
#include "callgate/request.h"

namespace callgate::server {

struct ChildPrompt {
  std::string body;  // as the wire format encoded it
  std::string model;
  std::unordered_set<std::string> tools;  // that the client declared

  // A conversation is known by all that was in its last request. The one that this request continues was asked
  // `before`, and answered with these words and calls; this request itself will be known as `history`.
  std::uint64_t history = 0;
  std::uint64_t before = 0;
  enum class Follows : std::uint8_t {
    nothing,  // the first request of a conversation, or one that was changed in between
    answer,   // user messages after an answer
    calls,    // results of all the calls of the last answer
  };
  Follows follows = Follows::nothing;
  std::uint64_t answer = 0;         // words of the last answer, see words_of()
  std::vector<std::string> called;  // ids of its calls
};

ChildPrompt make_child_prompt(const Request& request, std::string_view body, const HashKey& key);

// A text without its white space, hashed: layout may change on the way through clients.
std::uint64_t words_of(std::string_view text, const HashKey& key);

}  // namespace callgate::server
