#include <signal.h>

#include <unordered_map>
#include <utility>

#include "net/companion.h"
#include "net/process.h"
#include "sse/decoder.h"
#include "tool/command_tool.h"
#include "tool/mcp_transport.h"
#include "tool/tool.h"

namespace callgate::tool {
namespace {

constexpr std::size_t kMostOutbox = std::size_t{16} << 20;
constexpr net::Millis kExitTimeout{500};

std::string cancelled_params(std::int64_t id, std::string_view reason) {
  return R"({"requestId":)" + std::to_string(id) + R"(,"reason":")" + std::string(reason) + "\"}";
}

// One child program, from its start to its end. Shared with the tasks that move its bytes.
struct McpChild {
  McpChild(net::Loop& on, std::unique_ptr<net::Process> started)
      : loop(on), process(std::move(started)), news(on) {}

  void kill() {
    process->signal(SIGKILL);
    process->output().close();
    process->input().close();
    news.notify();
  }
  void break_off() {
    over = true;
    kill();
    report_end({.code = ErrorCode::internal,
                .message = "reading from the MCP server broke off inside the gateway"});
  }
  void report_end(const Error& why) {
    const auto report = std::exchange(on_end, nullptr);
    if (report) report(why);
  }
  bool tell(std::string_view line) {
    if (over || outbox.size() + line.size() > kMostOutbox) return false;
    outbox.append(line).push_back('\n');
    news.notify();
    return true;
  }

  net::Loop& loop;
  std::unique_ptr<net::Process> process;
  net::Signal news;
  std::string outbox;
  bool over = false;
  std::function<void(std::string_view line)> on_line;
  std::function<void(const Error& why)> on_end;
};

net::Task<> write_lines(std::shared_ptr<McpChild> child) {
  std::string writing;
  while (!child->over) {
    if (child->outbox.empty()) {
      co_await child->news.wait();
      continue;
    }
    writing.clear();
    std::swap(writing, child->outbox);
    const auto written = co_await child->process->input().write(writing, net::kNever);
    if (!written) co_return;
  }
}

net::Task<> read_lines(std::shared_ptr<McpChild> child, std::size_t limit) {
  co_await child->loop.sleep(net::Millis(0));  // nothing is reported before the start has returned
  LineDecoder lines(limit);
  bool reading = true;
  while (reading) {
    const auto bytes = co_await child->process->output().read(net::kNever);
    if (!bytes || bytes->empty()) break;
    lines.push(*bytes, [&](const SseFrame& frame) {
      if (child->on_line) child->on_line(frame.data);
    });
    reading = !lines.overflowed();
    // A server that writes without a pause shares the loop with others.
    co_await child->loop.sleep(net::Millis(0));
  }
  std::string why = "it closed its output";
  if (lines.overflowed()) why = "it wrote a line of more than " + std::to_string(limit) + " bytes";
  child->over = true;
  if (lines.overflowed()) child->process->signal(SIGKILL);
  const bool ended = co_await child->process->wait(kExitTimeout);
  if (ended && reading) why = child->process->ending();
  const std::string said(child->process->last_words());
  child->kill();
  if (!said.empty()) why += "; it said: " + said;
  Error error{.code = ErrorCode::upstream_failed, .message = "the MCP server ended: " + why};
  child->report_end(error);
}

class McpStdio : public McpTransport {
 public:
  McpStdio(net::Loop& loop, const McpToolConfig& config, Events events)
      : loop_(loop), config_(config), events_(std::move(events)) {}
  ~McpStdio() override { close(); }

  Result<void> open() override {
    close();
    net::ProcessOptions options;
    options.command = config_.command;
    options.folder = config_.folder;
    options.environment = child_environment(config_.pass_environment, config_.environment);
    options.limits = config_.limits;
    auto process = net::Process::start(loop_, options);
    if (!process) return tl::unexpected(process.error());
    child_ = std::make_shared<McpChild>(loop_, std::move(*process));
    child_->on_line = [this](std::string_view line) { take_line(line); };
    child_->on_end = [this](const Error& why) { take_end(why); };
    loop_.spawn(write_lines(child_));
    loop_.spawn(net::watched(read_lines(child_, config_.message_bytes),
                             [child = child_] { child->break_off(); }));
    return {};
  }

  net::Task<Result<std::string>> ask(const McpRequest& request, net::Millis timeout,
                                     CancelToken& cancel) override {
    const std::string line = write_mcp_request(request.id, request.method, request.params);
    if (!child_ || !child_->tell(line)) {
      co_return fail(ErrorCode::upstream_failed, "the MCP server takes no requests");
    }
    Waiting waiting(*this, request.id);
    const CancelToken::Hook hook(cancel, [&waiting] { waiting.news.notify(); });
    const bool notified = co_await waiting.news.wait(timeout);
    if (waiting.answer) co_return std::move(*waiting.answer);
    tell(write_mcp_notification("notifications/cancelled",
                                cancelled_params(request.id, notified ? "cancelled" : "timeout")));
    if (notified) co_return fail(ErrorCode::unavailable, kCancelledWords);
    co_return fail(ErrorCode::timed_out, timeout_words(timeout));
  }

  void tell(std::string message) override {
    if (child_) child_->tell(message);
  }
  net::Task<> deliver(std::string message) override {
    tell(std::move(message));
    co_return;
  }
  void use_revision(std::string) override {}
  void listen(McpRequest request) override {
    if (!request.method.empty()) {
      tell(write_mcp_request(request.id, request.method, request.params));
    }
  }

  void close() override {
    if (!child_) return;
    child_->on_line = nullptr;
    child_->on_end = nullptr;
    child_->over = true;
    child_->kill();
    child_.reset();
    Error gone{.code = ErrorCode::unavailable, .message = "the MCP server was stopped"};
    fail_all(gone);
  }

 private:
  struct Waiting {
    Waiting(McpStdio& on, std::int64_t its) : owner(on), id(its), news(on.loop_) {
      owner.waiting_[id] = this;
    }
    ~Waiting() { owner.waiting_.erase(id); }
    McpStdio& owner;
    std::int64_t id;
    net::Signal news;
    std::optional<Result<std::string>> answer;
  };

  void take_line(std::string_view line) {
    read_mcp_messages(line, [&](const McpMessage& message) {
      switch (message.kind) {
        case McpMessage::Kind::request:
        case McpMessage::Kind::notification:
          return events_.message(message);
        case McpMessage::Kind::result:
        case McpMessage::Kind::error: {
          const auto found = waiting_.find(message.number().value_or(-1));
          if (found == waiting_.end() || found->second->answer) return;
          found->second->answer = std::string(message.text);
          return found->second->news.notify();
        }
        case McpMessage::Kind::invalid:
          return;  // what a server prints by mistake
      }
    });
  }

  void fail_all(const Error& why) {
    for (const auto& [id, waiting] : waiting_) {
      if (!waiting->answer) waiting->answer = tl::unexpected(why);
      waiting->news.notify();
    }
  }

  void take_end(const Error& why) {
    child_.reset();
    fail_all(why);
    events_.end(why);
  }

  net::Loop& loop_;
  const McpToolConfig config_;
  const Events events_;
  std::shared_ptr<McpChild> child_;
  std::unordered_map<std::int64_t, Waiting*> waiting_;
};

}  // namespace

std::shared_ptr<McpTransport> make_mcp_stdio(net::Loop& loop, const McpToolConfig& config,
                                             McpTransport::Events events) {
  return std::make_shared<McpStdio>(loop, config, std::move(events));
}

}  // namespace callgate::tool
