#include <iterator>
#include <map>
#include <memory>
#include <unordered_set>

#include "client/protocol.h"
#include "json/member.h"
#include "json/writer.h"
#include "mock/stdio_player.h"
#include "script/reply/codex_request.h"
#include "upstream/codex/codex_line.h"

namespace callgate::server {
namespace {

using upstream::any_member_text;
using upstream::CodexLine;

struct MockThread {
  MockThread(net::Loop& loop, std::string name, Request asked)
      : id(std::move(name)), request(std::move(asked)), news(loop) {}
  const std::string id;
  Request request;
  std::string turn;
  bool interrupted = false;
  net::Signal news;
  // Of the reply that is being played.
  std::string said;
  std::vector<CallRecord> calls;
  std::map<std::string, std::string> results;  // call -> the JSON of its result
};

class MockAppServer {
 public:
  explicit MockAppServer(StdioPlayer& player) : player_(player) {}
  void take(std::string_view text);

 private:
  void answer(std::string_view id, std::string_view result);
  void notify(const MockThread& thread, std::string_view method, std::string_view params);
  void start_thread(std::string_view id, std::string_view params);
  void start_turn(std::string_view id, MockThread& thread, std::string_view params);
  void take_result(std::string_view id, std::string_view result);
  net::Task<> run_turn(MockThread& thread);
  void say(MockThread& thread, std::string_view text);
  void remember(MockThread& thread);

  StdioPlayer& player_;
  std::map<std::string, std::unique_ptr<MockThread>> threads_;
  struct OpenCall {
    MockThread* thread;
    std::string call;
  };
  std::map<std::string, OpenCall> open_;  // by our request's id
  std::int64_t next_request_ = 0;
  int next_turn_ = 0;
};

void MockAppServer::answer(std::string_view id, std::string_view result) {
  player_.say("{\"id\":" + std::string(id) + ",\"result\":" + std::string(result) + "}");
}

// Codex has the items of the Responses API.
void add_items(Request& request, std::string_view items) {
  std::string body;
  json::ObjectWriter object(body);
  object.string("model", request.model);
  object.raw("input", items);
  object.close();
  auto read = client::find("openai_responses")->decode({.body = body});
  if (!read) return;
  std::move(read->messages.begin(), read->messages.end(), std::back_inserter(request.messages));
}

// The parameters of a line of a turn say whose it is.
std::string with_ids(const MockThread& thread, std::string_view params) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("threadId", thread.id);
  object.string("turnId", thread.turn);
  if (params.size() > 2) out.append(",").append(params.substr(1, params.size() - 2));
  object.close();
  return out;
}

void MockAppServer::notify(const MockThread& thread, std::string_view method,
                           std::string_view params) {
  std::string line;
  json::ObjectWriter object(line);
  object.string("method", method);
  object.raw("params", with_ids(thread, params));
  object.close();
  player_.say(line);
}

std::string turn_json(const MockThread& thread, std::string_view status) {
  return "{\"turn\":{\"id\":\"" + thread.turn + "\",\"status\":\"" + std::string(status) +
         "\",\"error\":null}}";
}

void MockAppServer::take(std::string_view text) {
  json::Reader reader;
  CodexLine line;
  if (!upstream::read_codex_line(text, reader, line)) return;
  if (line.method.empty()) return take_result(line.id, line.result);
  if (line.id.empty()) return;
  if (line.method == "initialize") return answer(line.id, R"({"userAgent":"callgate-mock"})");
  if (line.method == "thread/start") return start_thread(line.id, line.params);
  const auto found = threads_.find(any_member_text(line.params, "threadId"));
  if (found == threads_.end()) {
    return player_.say("{\"id\":" + std::string(line.id) +
                       R"(,"error":{"code":-32600,"message":"no such thread"}})");
  }
  MockThread& thread = *found->second;
  if (line.method == "thread/inject_items") {
    add_items(thread.request, json::member_json(line.params, "items"));
    answer(line.id, "{}");
  } else if (line.method == "turn/start") {
    start_turn(line.id, thread, line.params);
  } else if (line.method == "turn/interrupt") {
    thread.interrupted = true;
    thread.news.notify();
    answer(line.id, "{}");
  } else {
    answer(line.id, "{}");
  }
}

void MockAppServer::start_thread(std::string_view id, std::string_view params) {
  const std::string name = "thread_" + std::to_string(threads_.size() + 1);
  threads_[name] =
      std::make_unique<MockThread>(player_.loop(), name, script::codex_thread_request(params));
  answer(id, "{\"thread\":{\"id\":\"" + name + "\"}}");
}

void MockAppServer::start_turn(std::string_view id, MockThread& thread, std::string_view params) {
  thread.turn = "turn_" + std::to_string(++next_turn_);
  thread.interrupted = false;
  script::add_codex_input(thread.request, json::member_json(params, "input"));
  answer(id, turn_json(thread, "inProgress"));
  notify(thread, "turn/started", turn_json(thread, "inProgress"));
  player_.spawn(run_turn(thread));
}

void MockAppServer::take_result(std::string_view id, std::string_view result) {
  const auto found = open_.find(std::string(id));
  if (found == open_.end()) return;
  MockThread& thread = *found->second.thread;
  thread.results[found->second.call] = result;
  open_.erase(found);
  thread.news.notify();
}

void MockAppServer::say(MockThread& thread, std::string_view text) {
  json::Reader reader;
  CodexLine line;
  if (!upstream::read_codex_line(text, reader, line) || line.params.empty()) {
    return player_.say(text);
  }
  if (line.method == "item/tool/call") {
    const std::string id = std::to_string(next_request_++);
    open_[id] = {&thread, any_member_text(line.params, "callId")};
    player_.say(R"({"method":"item/tool/call","id":)" + id +
                ",\"params\":" + with_ids(thread, line.params) + "}");
    return;
  }
  const std::string_view item = json::member_json(line.params, "item");
  if (any_member_text(item, "type") == "function_call") {
    thread.calls.push_back({.id = any_member_text(item, "call_id"),
                            .name = any_member_text(item, "name"),
                            .arguments = any_member_text(item, "arguments")});
  } else if (line.method == "item/completed" && any_member_text(item, "type") == "agentMessage") {
    thread.said += any_member_text(item, "text");
  } else if (line.method == "turn/completed") {
    const std::string_view turn = json::member_json(line.params, "turn");
    const std::string named =
        "{\"turn\":{\"id\":\"" + thread.turn + "\"," + std::string(turn.substr(1)) + "}";
    return notify(thread, line.method, named);
  }
  notify(thread, line.method, line.params);
}

// What was said and what tools answered is part of the conversation from now on.
void MockAppServer::remember(MockThread& thread) {
  Message said{.role = Role::assistant, .calls = thread.calls};
  if (!thread.said.empty()) json::append_string(said.content.text, thread.said);
  thread.request.messages.push_back(std::move(said));
  for (const CallRecord& call : thread.calls) {
    Message result{.role = Role::tool, .tool_call_id = call.id};
    std::string text;
    json::Reader in(json::member_json(thread.results[call.id], "contentItems"));
    while (in.next_element()) {
      const std::string_view item = in.raw();
      text.append(text.empty() ? "" : "\n").append(any_member_text(item, "text"));
    }
    json::append_string(result.content.text, text);
    thread.request.messages.push_back(std::move(result));
  }
}

net::Task<> MockAppServer::run_turn(MockThread& thread) {
  for (;;) {
    thread.said.clear();
    thread.calls.clear();
    thread.results.clear();
    co_await player_.play(
        thread.request, thread.news, [&thread] { return thread.interrupted; },
        [this, &thread](std::string_view text) { say(thread, text); });
    while (!thread.interrupted && thread.results.size() < thread.calls.size()) {
      co_await thread.news.wait();
    }
    if (thread.interrupted) {
      const std::string end = turn_json(thread, "interrupted");
      notify(thread, "turn/completed", end);
      break;
    }
    remember(thread);
    if (thread.calls.empty()) break;
  }
}

}  // namespace

Result<void> run_mock_app_server(StdioPlayer& player) {
  MockAppServer server(player);
  return player.run([&](std::string_view line) { server.take(line); });
}

}  // namespace callgate::server
