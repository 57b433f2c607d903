#include "turn/loop_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "chat/content.h"
#include "chat/message_json.h"
#include "json/reader.h"
#include "json/writer.h"
#include "loop/history.h"

namespace callgate::server {
namespace {

using Messages = std::vector<Message>;

// Long enough for another gateway to hand the conversation over, short for who asks twice at a time.
constexpr net::Millis kPatience{250};

bool has_call(const Message& message, std::string_view id) {
  return std::any_of(message.calls.begin(), message.calls.end(),
                     [&](const CallRecord& call) { return call.id == id; });
}

Error unreadable(const store::MemoryName& name, const Error& why) {
  return {.code = ErrorCode::internal,
          .message = "conversation \"" + name.conversation + "\" cannot be read: " + why.message};
}

// A client that was told of a failure asks again: what is remembered of its question already is not new.
void drop_repeated(Messages& said, const Messages& known) {
  const auto last = std::find_if(known.rbegin(), known.rend(), [](const Message& message) {
    return message.role == Role::assistant;
  });
  std::erase_if(said, [&](const Message& message) {
    return message.role == Role::tool && last != known.rend() &&
           has_call(*last, message.tool_call_id);
  });
  if (said.empty() || said.size() > known.size()) return;
  const auto same = [](const Message& a, const Message& b) {
    return a.role == Role::user && print_message(a) == print_message(b);
  };
  const auto tail = known.end() - static_cast<std::ptrdiff_t>(said.size());
  if (std::equal(said.begin(), said.end(), tail, same)) said.clear();
}

void append_all(Messages& to, const Messages& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

LoopMemory::LoopMemory(LoopMemories& all, ConversationClaims& claims, net::Loop& loop,
                       store::MemoryName name, loop::Memory mode, std::uint64_t seed)
    : all_(all),
      loop_(loop),
      name_(std::move(name)),
      mode_(mode),
      mint_(seed),
      claim_(claims, loop) {}

net::Task<Result<std::optional<loop::State>>> LoopMemory::open(Request& request,
                                                               loop::Options& options) {
  const ConversationClaim::Options patience{.wait = true, .patience = kPatience};
  const auto taken = co_await claim_.take(claim_name(name_), patience);
  if (!taken) {
    Error busy = taken.error();
    if (busy.code == ErrorCode::conflict) busy.param = "callgate.conversation";
    co_return tl::unexpected(std::move(busy));
  }
  const auto loaded = co_await all_.load(loop_, name_);
  if (!loaded) co_return tl::unexpected(loaded.error());
  if (*loaded) {
    const auto readable = read(**loaded);
    if (!readable) co_return tl::unexpected(unreadable(name_, readable.error()));
  }
  co_return join(request, options);
}

Result<void> LoopMemory::read(const store::Memory& memory) {
  step_ = memory.head.step;
  messages_ = static_cast<std::int64_t>(memory.messages.size());
  for (const std::string& message : memory.messages) {
    message_bytes_ += static_cast<std::int64_t>(message.size());
  }
  auto prompt = read_messages(memory.head.prompt);
  if (!prompt) return tl::unexpected(prompt.error());
  prompt_ = std::move(*prompt);
  auto known = read_messages(join_json(memory.messages));
  if (!known) return tl::unexpected(known.error());
  known_ = std::move(*known);
  return memory.head.pending.empty() ? Result<void>() : read_pending(memory.head.pending);
}

// {"state":{...},"asked":[...]}
Result<void> LoopMemory::read_pending(std::string_view json) {
  json::Reader in(json);
  for (std::string_view key; in.next_member(key);) {
    const bool is_state = key == "state";
    const std::string_view value = in.raw();
    if (is_state) {
      auto state = loop::decode_state(value);
      if (!state) return tl::unexpected(state.error());
      state_ = std::move(*state);
    } else {
      auto asked = read_messages(value);
      if (!asked) return tl::unexpected(asked.error());
      asked_ = std::move(*asked);
    }
  }
  if (in.finish()) return {};
  return fail(ErrorCode::internal, std::string(in.error().message));
}

Result<std::optional<loop::State>> LoopMemory::join(Request& request, loop::Options& options) {
  take_prompt(request.messages);
  drop_repeated(request.messages, known_);
  if (!answers_pending(request.messages)) {
    state_.reset();
    asked_.clear();
  }
  if (auto checked = check_results(request.messages); !checked) {
    return tl::unexpected(checked.error());
  }
  append_all(asked_, request.messages);
  std::int64_t bytes = 0;
  for (const Message& message : asked_) {
    bytes += static_cast<std::int64_t>(print_message(message).size());
  }
  if (auto room = check_room(static_cast<std::int64_t>(asked_.size()), bytes); !room) {
    return tl::unexpected(room.error());
  }
  request.messages = prompt_;
  append_all(request.messages, known_);
  options.in_memory = request.messages.size();
  options.memory = mode_;
  append_all(request.messages, asked_);
  if (mode_ == loop::Memory::inside) asked_.clear();
  return std::exchange(state_, std::nullopt);
}

// A request's own system prompt takes the place of the one that is remembered.
void LoopMemory::take_prompt(Messages& said) {
  const auto end = std::find_if_not(said.begin(), said.end(), is_prompt);
  if (end == said.begin()) return;
  prompt_.assign(std::make_move_iterator(said.begin()), std::make_move_iterator(end));
  said.erase(said.begin(), end);
}

bool LoopMemory::answers_pending(const Messages& said) const {
  if (!state_) return false;
  return std::any_of(said.begin(), said.end(), [&](const Message& message) {
    return message.role == Role::tool && is_pending(message.tool_call_id);
  });
}

bool LoopMemory::is_pending(std::string_view call) const {
  return state_ &&
         std::any_of(state_->legs.begin(), state_->legs.end(), [&](const loop::State::Leg& leg) {
           return !leg.messages.empty() && has_call(leg.messages.back(), call);
         });
}

Result<void> LoopMemory::check_results(const Messages& said) const {
  for (auto message = said.begin(); message != said.end(); ++message) {
    if (message->role != Role::tool || is_pending(message->tool_call_id)) continue;
    const bool own = std::any_of(said.begin(), message, [&](const Message& before) {
      return has_call(before, message->tool_call_id);
    });
    if (own) continue;
    return fail(ErrorCode::invalid_request,
                "conversation \"" + name_.conversation + "\" waits for no result of call \"" +
                    message->tool_call_id + "\"",
                "messages");
  }
  return {};
}

void LoopMemory::take(loop::CallModel& call) {
  if (mode_ != loop::Memory::inside) return;
  Messages& said = call.request.messages;
  const std::size_t count = std::min(call.remember, said.size());
  for (std::size_t i = 0; i < count; ++i) remember(said[i]);
  Messages whole = prompt_;
  if (call.system_prompt) {
    Message prompt = loop::text_message(Role::system, *call.system_prompt);
    if (whole.empty()) whole.emplace_back();
    whole.front() = std::move(prompt);
  }
  append_all(whole, known_);
  whole.insert(whole.end(),
               std::make_move_iterator(said.begin() + static_cast<std::ptrdiff_t>(count)),
               std::make_move_iterator(said.end()));
  said = std::move(whole);
}

void LoopMemory::remember(const Message& message) {
  new_.push_back(print_message(message));
  known_.push_back(message);
  changed_ = true;
}

void LoopMemory::finish(const loop::Finish& last) {
  for (const Message& message : last.remember) remember(message);
}

void LoopMemory::give_back(const loop::ReturnToClient& back) {
  pending_.clear();
  json::ObjectWriter object(pending_);
  object.raw("state", loop::encode_state(back.state));
  object.raw("asked", print_messages(asked_));
  object.close();
  changed_ = true;
}

Result<void> LoopMemory::check_room(std::int64_t messages, std::int64_t bytes) const {
  const MemoryLimits limits = all_.limits();
  const bool many = limits.messages > 0 && messages_ + messages > limits.messages;
  const bool large = limits.bytes > 0 && message_bytes_ + bytes > limits.bytes;
  if (!many && !large) return {};
  return tl::unexpected(Error{
      .code = ErrorCode::too_large,
      .message = "conversation \"" + name_.conversation + "\" is full: it has " +
                 std::to_string(messages_) + " messages of " + std::to_string(message_bytes_) +
                 " bytes, allowed are " + std::to_string(limits.messages) + " and " +
                 std::to_string(limits.bytes) + "; begin another, or delete it",
      .param = "callgate.conversation",
      .upstream_code = "conversation_full"});
}

net::Task<Result<void>> LoopMemory::save() {
  if (failed_) co_return tl::unexpected(*failed_);
  if (!changed_) co_return Result<void>();
  store::MemoryStep step;
  step.after = step_;
  step.step = mint_.mint("step_");
  step.from = messages_;
  step.messages = std::move(new_);
  new_.clear();
  std::int64_t bytes = 0;
  for (const std::string& message : step.messages)
    bytes += static_cast<std::int64_t>(message.size());
  const auto count = static_cast<std::int64_t>(step.messages.size());
  if (auto room = check_room(count, bytes); !room) {
    failed_ = room.error();
    co_return room;
  }
  step.bytes = message_bytes_ + bytes;
  step.prompt = print_messages(prompt_);
  step.pending = std::exchange(pending_, {});
  const std::string name = step.step;
  const auto stored = co_await all_.append(loop_, name_, std::move(step));
  if (!stored) {
    failed_ = stored.error();
  } else if (!*stored) {
    failed_ = Error{.code = ErrorCode::conflict,
                    .message = "conversation \"" + name_.conversation +
                               "\" has gone on, or was deleted, meanwhile",
                    .param = "callgate.conversation",
                    .upstream_code = "conversation_moved"};
  }
  if (failed_) co_return tl::unexpected(*failed_);
  step_ = name;
  messages_ += count;
  message_bytes_ += bytes;
  changed_ = false;
  co_return Result<void>();
}

}  // namespace callgate::server
