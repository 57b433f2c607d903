// Conducts conversations with one `codex app-server`: a thread of codex per conversation. A call of a client's tool is a
// request of codex that stays open, parked, until the client's next request brings the result; that request then goes
// on with the same turn of codex. A conversation that codex does not know (any more) starts a thread with its history
// injected.
#include <algorithm>
#include <map>

#include "dial/child_host.h"
#include "dial/codex_conversation.h"
#include "json/member.h"
#include "json/writer.h"
#include "net/companion.h"
#include "upstream/codex/codex_line.h"

namespace callgate::server {
namespace {

using upstream::any_member_text;
using upstream::CodexLine;
using Follows = ChildPrompt::Follows;

constexpr std::size_t kMaxKept = std::size_t{4} << 20;
constexpr std::string_view kNoResult =
    R"({"contentItems":[{"type":"inputText","text":"the client gave no result for this call"}],"success":false})";

using State = Conversation::State;

class AppServerConductor final : public Conductor {
 public:
  AppServerConductor(net::Loop& loop, const UpstreamConfig& config, const HashKey& key,
                     ChildHealth health)
      : loop_(loop),
        config_(config),
        book_(key),
        child_(loop,
               {.process = child_process(config),
                .start_timeout = config.start_timeout,
                .backoff = config.restart_backoff,
                .restart_limit = config.restart_limit},
               {.line = [this](const CodexLine& line, std::string_view text) { take(line, text); },
                .end = [this](const Error& why) { lose_all(why); }},
               std::move(health)) {
    loop_.spawn(sweep());
  }

  void begin(std::shared_ptr<AnswerLane> lane, ChildPrompt prompt) override {
    loop_.spawn(net::watched(conduct(lane, std::move(prompt)), [this, lane] {
      lane->fail(
          {.code = ErrorCode::internal, .message = "asking codex broke off inside the gateway"});
      if (Conversation* begun = book_.find(lane)) drop(*begun);
    }));
  }
  void abandon(const std::shared_ptr<AnswerLane>& lane) override;
  void release() override { child_.release(); }

 private:
  net::Task<> conduct(std::shared_ptr<AnswerLane> lane, ChildPrompt prompt);
  net::Task<Result<std::string>> open_thread(const std::shared_ptr<AnswerLane>& lane,
                                             const ChildPrompt& prompt);
  net::Task<> sweep();

  void attach(Conversation& conversation, const std::shared_ptr<AnswerLane>& lane,
              const ChildPrompt& prompt);
  void resume(Conversation& conversation, const std::shared_ptr<AnswerLane>& lane,
              const ChildPrompt& prompt);
  bool make_room();
  void interrupt_and_drop(Conversation& conversation);
  void drop(Conversation& conversation);
  void give_up(Conversation& quiet);

  void take(const CodexLine& line, std::string_view text);
  void take_request(const CodexLine& line, std::string_view text);
  void take_call(const CodexLine& line, std::string_view text);
  void take_notification(const CodexLine& line, std::string_view text);
  void deliver(Conversation& conversation, std::string_view text);
  void end_answer(Conversation& conversation, State state);
  void answer_call(Conversation& conversation, const std::string& call, const std::string& request,
                   std::string_view result);
  void lose_all(const Error& why);

  std::string thread_params(const ChildPrompt& prompt) const;

  net::Loop& loop_;
  const UpstreamConfig config_;
  ConversationBook book_;
  RpcChild child_;
};

// An object with more members in front.
std::string with_member(std::string_view name, std::string_view text, std::string_view object) {
  std::string out;
  json::ObjectWriter writer(out);
  writer.string(name, text);
  if (object.size() > 2) out.append(",").append(object.substr(1, object.size() - 2));
  writer.close();
  return out;
}

std::string AppServerConductor::thread_params(const ChildPrompt& prompt) const {
  std::string out;
  json::ObjectWriter object(out);
  object.boolean("ephemeral", true);
  object.boolean("experimentalRawEvents", true);
  object.string("approvalPolicy", "never");
  object.string("sandbox", config_.codex_sandbox);
  if (config_.cwd.empty()) {
    object.raw("environments", "[]");
  } else {
    object.string("cwd", config_.cwd);
  }
  const std::string_view given = json::member_json(prompt.body, "thread");
  if (given.size() > 2) out.append(",").append(given.substr(1, given.size() - 2));
  object.close();
  return out;
}

void AppServerConductor::attach(Conversation& conversation, const std::shared_ptr<AnswerLane>& lane,
                                const ChildPrompt& prompt) {
  conversation.lane = lane;
  conversation.history = prompt.history;
  conversation.tools = prompt.tools;
  conversation.said.clear();
  conversation.called.clear();
  std::string first;
  json::ObjectWriter object(first);
  object.string("method", "callgate/answer");
  object.raw("params", with_member("ownTools", config_.codex_tools, "{}"));
  object.close();
  lane->push(first + "\n");
}

void AppServerConductor::answer_call(Conversation& conversation, const std::string& call,
                                     const std::string& request, std::string_view result) {
  child_.reply(request, result);
  conversation.open.erase(call);
}

// The results of a request answer the calls that wait.
void AppServerConductor::resume(Conversation& conversation, const std::shared_ptr<AnswerLane>& lane,
                                const ChildPrompt& prompt) {
  std::map<std::string, std::string> results;
  json::Reader in(json::member_json(prompt.body, "results"));
  while (in.next_element()) {
    const std::string_view each = in.raw();
    results[any_member_text(each, "callId")] = json::member_json(each, "result");
  }
  for (const std::string& call : conversation.called) {
    if (!results.contains(call)) results[call] = kNoResult;
  }
  attach(conversation, lane, prompt);
  conversation.state = State::running;
  lane->push(std::exchange(conversation.kept, {}));
  for (auto& [call, result] : results) {
    const auto open = conversation.open.find(call);
    if (open != conversation.open.end()) {
      answer_call(conversation, call, std::string(open->second), result);
    } else {
      conversation.results[call] = std::move(result);
    }
  }
  lane->accept(conversation.session);
}

net::Task<Result<std::string>> AppServerConductor::open_thread(
    const std::shared_ptr<AnswerLane>& lane, const ChildPrompt& prompt) {
  if (!make_room()) {
    Error full{.code = ErrorCode::rate_limited,
               .message = "codex has as many conversations running as max_conversations allows"};
    co_return tl::unexpected(std::move(full));
  }
  const std::string params = thread_params(prompt);
  auto started = co_await child_.ask("thread/start", params);
  if (!started) co_return started;
  const std::string thread = any_member_text(json::member_json(*started, "thread"), "id");
  attach(book_.add(thread), lane, prompt);
  const std::string_view items = json::member_json(prompt.body, "items");
  if (items != "[]") {
    std::string inject;
    json::ObjectWriter object(inject);
    object.string("threadId", thread);
    object.raw("items", items);
    object.close();
    auto injected = co_await child_.ask("thread/inject_items", inject);
    if (!injected) co_return injected;
  }
  co_return thread;
}

net::Task<> AppServerConductor::conduct(std::shared_ptr<AnswerLane> lane, ChildPrompt prompt) {
  auto ready = co_await child_.ready();
  if (!ready) co_return lane->fail(ready.error());
  if (lane->left()) co_return;
  Conversation* known = book_.find_known(prompt);
  if (known != nullptr && prompt.follows == Follows::calls) co_return resume(*known, lane, prompt);
  std::string thread;
  if (known != nullptr) {
    thread = known->thread;
    known->state = State::starting;
    known->turn.clear();
    known->announced.clear();
    attach(*known, lane, prompt);
  } else {
    auto opened = co_await open_thread(lane, prompt);
    if (!opened) {
      lane->fail(opened.error());
      if (Conversation* begun = book_.find(lane)) drop(*begun);
      co_return;
    }
    thread = *opened;
  }
  const std::string turn = with_member("threadId", thread, json::member_json(prompt.body, "turn"));
  auto started = co_await child_.ask("turn/start", turn);
  Conversation* conversation = book_.find(thread);
  if (conversation == nullptr) co_return lane->fail({.message = "the codex child has ended"});
  if (!started) {
    lane->fail(started.error());
    co_return drop(*conversation);
  }
  if (conversation->turn.empty()) {
    conversation->turn = any_member_text(json::member_json(*started, "turn"), "id");
  }
  if (conversation->state == State::starting) {
    conversation->state = State::running;
  }
  if (lane->left()) co_return interrupt_and_drop(*conversation);
  lane->accept(conversation->session);
}

void AppServerConductor::abandon(const std::shared_ptr<AnswerLane>& lane) {
  Conversation* conversation = book_.find(lane);
  // One that is being started is dropped by conduct(), which sees that the reader left.
  if (conversation == nullptr || conversation->state == State::starting) return;
  interrupt_and_drop(*conversation);
}

void AppServerConductor::interrupt_and_drop(Conversation& conversation) {
  std::string params;
  json::ObjectWriter object(params);
  object.string("threadId", conversation.thread);
  object.string("turnId", conversation.turn);
  object.close();
  child_.tell("turn/interrupt", params);
  drop(conversation);
}

void AppServerConductor::drop(Conversation& conversation) {
  child_.tell("thread/unsubscribe", with_member("threadId", conversation.thread, "{}"));
  book_.remove(conversation);
}

void AppServerConductor::give_up(Conversation& quiet) {
  quiet.state == State::parked ? interrupt_and_drop(quiet) : drop(quiet);
}

// False: as many as are allowed are running.
bool AppServerConductor::make_room() {
  if (book_.size() < config_.max_conversations) return true;
  Conversation* oldest = book_.find_oldest_quiet();
  if (oldest == nullptr) return false;
  give_up(*oldest);
  return true;
}

net::Task<> AppServerConductor::sweep() {
  const Milliseconds shorter = std::min(config_.call_timeout, config_.conversation_timeout);
  const net::Millis step = std::clamp(shorter / 4, Milliseconds(20), Milliseconds(1000));
  for (;;) {
    co_await loop_.sleep(step);
    while (Conversation* expired = book_.find_expired(loop_.now(), config_)) give_up(*expired);
  }
}

void AppServerConductor::take(const CodexLine& line, std::string_view text) {
  line.id.empty() ? take_notification(line, text) : take_request(line, text);
}

// Approvals are never granted.
void AppServerConductor::take_request(const CodexLine& line, std::string_view text) {
  const std::string_view method = line.method;
  if (method == "item/tool/call") return take_call(line, text);
  if (method == "item/commandExecution/requestApproval" ||
      method == "item/fileChange/requestApproval") {
    return child_.reply(line.id, R"({"decision":"decline"})");
  }
  if (method == "execCommandApproval" || method == "applyPatchApproval") {
    return child_.reply(line.id, R"({"decision":"denied"})");
  }
  child_.refuse(line.id, "callgate does not support this method");
}

void AppServerConductor::take_call(const CodexLine& line, std::string_view text) {
  Conversation* conversation = book_.find(any_member_text(line.params, "threadId"));
  if (conversation == nullptr || any_member_text(line.params, "tool").empty()) {
    return child_.refuse(line.id, "no request waits for this call");
  }
  const std::string call = any_member_text(line.params, "callId");
  if (conversation->announce(call)) deliver(*conversation, text);
  conversation = book_.find(any_member_text(line.params, "threadId"));
  if (conversation == nullptr) return;
  const auto given = conversation->results.find(call);
  if (given == conversation->results.end()) {
    conversation->open[call] = line.id;
    return;
  }
  child_.reply(line.id, given->second);
  conversation->results.erase(given);
}

void AppServerConductor::take_notification(const CodexLine& line, std::string_view text) {
  Conversation* conversation = book_.find(any_member_text(line.params, "threadId"));
  if (conversation == nullptr) return;
  const std::string_view method = line.method;
  const std::string_view about = json::member_json(line.params, "turn");
  if (method == "turn/started" && conversation->state == State::starting) {
    conversation->turn = any_member_text(about, "id");
  }
  const std::string turn =
      about.empty() ? any_member_text(line.params, "turnId") : any_member_text(about, "id");
  // History that was injected shows up as items of another turn.
  if (turn.empty() || turn != conversation->turn) return;
  if (method == "rawResponseItem/completed") {
    const std::string_view item = json::member_json(line.params, "item");
    if (any_member_text(item, "type") == "function_call" &&
        conversation->tools.contains(any_member_text(item, "name"))) {
      conversation->announce(any_member_text(item, "call_id"));
    }
  } else if (method == "item/completed") {
    const std::string_view item = json::member_json(line.params, "item");
    if (any_member_text(item, "type") == "agentMessage")
      conversation->said += any_member_text(item, "text");
  }
  deliver(*conversation, text);
  conversation = book_.find(any_member_text(line.params, "threadId"));
  if (conversation == nullptr) return;
  if (method == "rawResponse/completed" && !conversation->called.empty()) {
    end_answer(*conversation, State::parked);
  } else if (method == "turn/completed") {
    child_.forgive();
    const bool whole = any_member_text(about, "status") == "completed";
    end_answer(*conversation, State::idle);
    if (!whole) drop(*conversation);
  }
}

void AppServerConductor::deliver(Conversation& conversation, std::string_view text) {
  std::string line(text);
  line.push_back('\n');
  if (conversation.lane != nullptr) {
    if (!conversation.lane->push(line)) interrupt_and_drop(conversation);
    return;
  }
  if (conversation.kept.size() + line.size() > kMaxKept) return interrupt_and_drop(conversation);
  conversation.kept += line;
}

void AppServerConductor::end_answer(Conversation& conversation, State state) {
  if (conversation.lane != nullptr) conversation.lane->end();
  conversation.lane.reset();
  if (state == State::idle) conversation.kept.clear();
  conversation.state = state;
  conversation.since = loop_.now();
}

void AppServerConductor::lose_all(const Error& why) {
  book_.fail_all(why);
  book_.clear();
}

}  // namespace

std::unique_ptr<Conductor> make_app_server_conductor(net::Loop& loop, const UpstreamConfig& config,
                                                     const HashKey& key, ChildHealth health) {
  return std::make_unique<AppServerConductor>(loop, config, key, std::move(health));
}

}  // namespace callgate::server
