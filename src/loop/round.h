// One turn of the model as the loop keeps it: its text, its calls, and what became of each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "callgate/loop.h"
#include "chat/field_fold.h"

namespace callgate::loop {

struct Call {
  enum class Status : std::uint8_t {
    writing,   // the model has not finished it
    client,    // the client's to answer
    approval,  // waits for a person
    ready,     // waits for a place to run
    running,
    settled,  // has its result
  };
  Status status = Status::writing;
  std::string id;
  std::string name;
  std::string arguments;
  bool for_client = false;
  bool exclusive = false;
  bool direct = false;  // ran well, and its result may be the answer
  RunId run = 0;
  Millis started = 0;
  Millis deadline = 0;
  std::string result;
  FieldFold fields;  // that the upstream wants back with the call

  bool has_deadline() const { return status == Status::approval || status == Status::running; }
  bool waits() const { return status == Status::ready || has_deadline(); }
};

// What a round knows of its calls without looking at each of them: no step may cost more the more calls a turn has.
class CallBook {
 public:
  // The call is one more of the round.
  void add(const Call& call);
  // REQUIRES: the call was added with that index, and a status that has a deadline comes with it.
  void change(Call& call, std::size_t index, Call::Status status);

  std::size_t client_calls() const { return client_calls_; }
  std::size_t server_calls() const { return calls_ - client_calls_; }
  std::size_t direct_calls() const { return direct_calls_; }
  std::size_t waiting() const { return ready_.size() + timed_.size(); }
  std::size_t running() const { return running_; }
  bool runs_exclusive() const { return exclusive_ > 0; }
  // In the order of the calls.
  const std::set<std::size_t>& ready() const { return ready_; }
  const std::set<std::size_t>& approvals() const { return approvals_; }
  // Those that run or wait for approval, by deadline.
  const std::set<std::pair<Millis, std::size_t>>& timed() const { return timed_; }
  // The index of the call with that run; nothing: there is none.
  const std::size_t* find(RunId run) const;

 private:
  void count(const Call& call, std::size_t index, bool in);

  std::size_t calls_ = 0;
  std::size_t client_calls_ = 0;
  std::size_t direct_calls_ = 0;
  std::size_t running_ = 0;
  std::size_t exclusive_ = 0;
  std::set<std::size_t> ready_;
  std::set<std::size_t> approvals_;
  std::set<std::pair<Millis, std::size_t>> timed_;
  std::unordered_map<RunId, std::size_t> runs_;
};

struct Round {
  std::string text;
  std::string reasoning;
  std::string details;  // elements of reasoning_details
  std::vector<Call> calls;
  CallBook book;
  Usage usage;
  std::string usage_json;
  std::size_t bytes = 0;  // of all that is kept of it
  std::uint32_t server_calls = 0;
  std::uint32_t passed_over = 0;  // calls that were not read
  bool passing_over = false;      // the call that the model writes is such
  bool refused = false;
  bool return_reasoning = true;
  bool sent = false;     // something of it went to the client, or a call was decided
  bool over = false;     // the model has finished
  bool limited = false;  // a limit that stops was met

  Call& add(Call call);
  void change(Call& call, Call::Status status) { book.change(call, index_of(call), status); }
  std::size_t index_of(const Call& call) const {
    return static_cast<std::size_t>(&call - calls.data());
  }

  // The message that history keeps. Calls that were not finished are left out.
  Message message() const;
  // The results of callgate's calls, in their order. REQUIRES: all are settled.
  std::vector<Message> results() const;
  bool has_client_calls() const { return book.client_calls() > 0; }
  bool has_server_calls() const { return book.server_calls() > 0; }
  bool waits() const { return book.waiting() > 0; }  // for a result of callgate's
  bool all_direct() const { return book.direct_calls() == calls.size(); }
  bool empty() const;  // no word and no call
};

}  // namespace callgate::loop
