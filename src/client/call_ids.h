// Ids for calls of protocols that have none, or may leave them out: a result then answers by the name of its call, or by its
// place. The canonical request wants an id on both. The same conversation gets the same ids with every request, so that an
// upstream finds the beginning of a prompt in its cache.
//
//   CallIds ids;
//   call.id = ids.called(call.name, call.id);                     // call_000000000000000000000000
//   message.tool_call_id = ids.answered("get_weather", "");       // the same
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace callgate::client {

class CallIds {
 public:
  // The id of the next call in the conversation: `given`, or one of our own.
  std::string called(std::string_view name, std::string_view given);
  // The id of the call that a result answers: `given`; else the first call of that name without an answer, else the first of any
  // name. A result of a call that is not there gets an id of its own.
  std::string answered(std::string_view name, std::string_view given);
  // The name of the call with this id; empty if there is none.
  std::string_view name_of(std::string_view id) const;

 private:
  struct Call {
    std::string id;
    std::string name;
    bool answered = false;
  };
  std::string mint();
  std::string take(std::deque<std::size_t>& open);

  std::uint64_t minted_ = 0;
  std::vector<Call> calls_;
  std::unordered_map<std::string, std::size_t> by_id_;                // the last one of that id
  std::unordered_map<std::string, std::deque<std::size_t>> by_name_;  // open ones, first to last
  std::deque<std::size_t> open_;
};

}  // namespace callgate::client
