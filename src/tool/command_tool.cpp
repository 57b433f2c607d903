#include "tool/command_tool.h"

#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "base/utf8.h"
#include "net/companion.h"
#include "net/timer_wheel.h"
#include "tool/bounded_text.h"

namespace callgate::tool {
namespace {

// What the program wrote before its end is in the pipe; only a child of its own that left the group can hold it open.
constexpr net::Millis kDrainTimeout{100};
// For the kernel to end what was killed.
constexpr net::Millis kKillTimeout{1'000};

// One run, shared by the tasks that write, read and wait for the end.
struct CommandRun {
  CommandRun(net::Loop& on, std::unique_ptr<net::Process> started, std::string_view arguments)
      : loop(on), process(std::move(started)), input(arguments), ended(on) {
    const auto stop = [](void* self) { static_cast<CommandRun*>(self)->time_over(); };
    deadline.on_expiry(stop, this);
    drain.on_expiry([](void* self) { static_cast<CommandRun*>(self)->process->output().close(); },
                    this);
  }

  void time_over() {
    timed_out = true;
    kill();
  }
  // The group is dead at once; closing the pipes ends the waits of the tasks.
  void kill() {
    killed = true;
    process->signal(SIGKILL);
    process->output().close();
    process->input().close();
    ended.notify();
  }

  net::Loop& loop;
  std::unique_ptr<net::Process> process;
  std::string input;
  net::Deadline deadline;
  net::Deadline drain;
  net::Signal ended;
  bool timed_out = false;
  bool killed = false;
  bool over = false;
};

// Dropping the waiting task, normally or by an exception, kills the run.
struct RunGuard {
  std::shared_ptr<CommandRun> run;
  ~RunGuard() {
    run->deadline.disarm();
    run->kill();
  }
};

net::Task<> write_input(std::shared_ptr<CommandRun> run) {
  // A program that does not read its input is fine.
  (void)co_await run->process->input().write(run->input, net::kNever);
  run->process->input().close();
}

net::Task<> watch_end(std::shared_ptr<CommandRun> run) {
  bool ended = false;
  while (!ended) ended = co_await run->process->wait(net::kNever);
  run->over = true;
  run->process->input().close();
  run->loop.arm(run->drain, kDrainTimeout);
  run->ended.notify();
}

std::string variable_name(std::string_view field) {
  std::string name = "CALLGATE_";
  for (const char c : field) {
    name.push_back(c == '-' ? '_' : (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c));
  }
  return name;
}

}  // namespace

NamedValues child_environment(const std::vector<std::string>& passed, const NamedValues& set) {
  NamedValues all = net::plain_environment();
  const auto put = [&all](const std::string& name, std::string value) {
    std::erase_if(all, [&](const auto& entry) { return entry.first == name; });
    all.emplace_back(name, std::move(value));
  };
  for (const std::string& name : passed) {
    if (const char* value = std::getenv(name.c_str())) put(name, value);
  }
  for (const auto& [name, value] : set) put(name, value);
  return all;
}

Result<std::shared_ptr<Tool>> CommandTool::make(net::Loop& loop, const ToolConfig& config) {
  const auto& own = std::get<CommandToolConfig>(config.how);
  if (own.command.empty() || own.command.front().empty()) {
    return fail(ErrorCode::invalid_request, "command: expected a program and its arguments");
  }
  if (own.sandbox) {
    const std::string fault = net::sandbox_fault(*own.sandbox);
    if (!fault.empty()) return fail(ErrorCode::invalid_request, fault);
  }
  ToolSpec spec{
      .name = config.name, .description = config.description, .parameters = config.parameters};
  return std::shared_ptr<Tool>(new CommandTool(loop, std::move(spec), config.limits, own));
}

CommandTool::CommandTool(net::Loop& loop, ToolSpec spec, ToolLimits limits,
                         CommandToolConfig config)
    : Tool(loop, std::move(spec), limits), config_(std::move(config)) {}

net::ProcessOptions CommandTool::process(const ToolCall& call) const {
  net::ProcessOptions options;
  options.command = config_.command;
  options.folder = config_.folder;
  options.environment = child_environment(config_.pass_environment, config_.environment);
  options.last_words = config_.preview_bytes;
  options.limits = config_.limits;
  options.sandbox = config_.sandbox;
  if (!config_.pass_context) return options;
  const auto add = [&options](std::string_view field, const std::string& value) {
    const bool whole = value.find('\0') == std::string::npos;
    if (!value.empty() && whole) options.environment.emplace_back(variable_name(field), value);
  };
  add("tool", call.name);
  add("call-id", call.id);
  for (const auto& [field, value] : call.context.fields()) add(field, value);
  return options;
}

net::Task<ToolResult> CommandTool::perform(const ToolCall& call, net::Millis timeout,
                                           CancelToken& cancel) {
  const net::ProcessOptions options = process(call);
  auto started = net::Process::start(loop(), options);
  if (!started) co_return error_result(started.error().message);
  const auto run = std::make_shared<CommandRun>(loop(), std::move(*started),
                                                call.arguments.empty() ? "{}" : call.arguments);
  const RunGuard guard{run};
  loop().arm(run->deadline, timeout);
  const CancelToken::Hook hook(cancel, [&run] { run->kill(); });
  loop().spawn(write_input(run));
  loop().spawn(net::watched(watch_end(run), [run] {
    run->kill();
    run->over = true;
    run->ended.notify();
  }));

  BoundedText text(limits().result_bytes);
  bool flooded = false;
  while (!flooded) {
    const Result<std::string_view> bytes = co_await run->process->output().read(net::kNever);
    if (!bytes || bytes->empty()) break;
    text.append(*bytes);
    flooded = text.bytes() > config_.output_bytes;
    // A program that writes without a pause shares the loop with others.
    co_await loop().sleep(net::Millis(0));
  }
  if (flooded) run->kill();
  bool waiting = true;
  while (waiting && !run->over) {
    const bool was_killed = run->killed;
    const bool notified = co_await run->ended.wait(was_killed ? kKillTimeout : net::kNever);
    waiting = notified || !was_killed;
  }

  if (cancel.cancelled()) co_return error_result(kCancelledWords);
  ToolResult result;
  result.bytes = text.bytes();
  result.truncated = text.truncated();
  result.text = text.take();
  if (flooded && !run->timed_out) co_return result;
  const std::string& ending = run->process->ending();
  if (!run->timed_out && ending == "exit status 0") co_return result;
  result.is_error = true;
  std::string words = run->timed_out ? timeout_words(timeout) : ending;
  const std::string said(run->process->last_words());
  if (!said.empty()) words.append("\nstandard error: ").append(said);
  if (!result.text.empty()) words.append("\nstandard output: ").append(result.text);
  result.text = std::move(words);
  co_return result;
}

}  // namespace callgate::tool
