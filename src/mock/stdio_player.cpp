#include "mock/stdio_player.h"

#include <unistd.h>

#include "dial/upstream_call.h"
#include "sse/decoder.h"

namespace callgate::server {

StdioPlayer::StdioPlayer(const MockStdioOptions& options, script::Script script)
    : wire_(options.wire),
      model_(std::move(script)),
      input_(loop_, ::dup(0)),
      output_(loop_, ::dup(1)),
      news_(loop_) {
  if (!options.record.empty()) record_.open(options.record, std::ios::app);
}

Result<void> StdioPlayer::run(std::function<void(std::string_view)> on_line) {
  loop_.spawn(read_input(std::move(on_line)));
  loop_.spawn(write_output());
  loop_.run();
  if (!fault_.empty()) return fail(ErrorCode::upstream_failed, fault_);
  return {};
}

void StdioPlayer::say(std::string_view line) {
  outbox_.append(line).push_back('\n');
  news_.notify();
}

void StdioPlayer::end(std::string fault) {
  fault_ = std::move(fault);
  ending_ = true;
  news_.notify();
}

net::Task<> StdioPlayer::read_input(std::function<void(std::string_view)> on_line) {
  LineDecoder lines;
  for (;;) {
    const auto bytes = co_await input_.read(net::kNever);
    if (!bytes || bytes->empty()) break;
    lines.push(*bytes, [&](const SseFrame& frame) {
      if (record_.is_open()) record_ << frame.data << std::endl;
      on_line(frame.data);
    });
  }
  end({});
}

net::Task<> StdioPlayer::write_output() {
  std::string writing;
  for (;;) {
    while (outbox_.empty() && !ending_) co_await news_.wait();
    if (outbox_.empty()) break;
    writing.clear();
    std::swap(writing, outbox_);
    const auto written = co_await output_.write(writing, net::kNever);
    if (!written) break;
  }
  loop_.stop();
}

net::Task<StdioPlayer::Outcome> StdioPlayer::play(const Request& request, net::Signal& stop,
                                                  std::function<bool()> stopped,
                                                  std::function<void(std::string_view)> on_line) {
  script::ReplyOptions options;
  options.wire = wire_;
  script::Reply reply = model_.reply(request, options);
  LineDecoder lines;
  const auto forward = [&](const SseFrame& frame) { on_line(frame.data); };
  while (const auto action = reply.next()) {
    if (stopped()) co_return Outcome::stopped;
    if (const auto* write = std::get_if<script::Write>(&*action)) {
      lines.push(write->bytes, forward);
    } else if (const auto* wait = std::get_if<script::Wait>(&*action)) {
      const net::Millis time(wait->milliseconds);
      co_await stop.wait(time);
    } else if (const auto* whole = std::get_if<script::Respond>(&*action)) {
      lines.push(whole->body, forward);
    } else if (std::holds_alternative<script::Hang>(*action)) {
      while (!stopped()) co_await stop.wait();
    } else {
      end("the script ended the program");
      while (!stopped()) co_await stop.wait();
    }
  }
  lines.finish(forward);
  co_return stopped() ? Outcome::stopped : Outcome::done;
}

Result<void> run_mock_stdio(const MockStdioOptions& options) {
  auto script = load_script(options.script);
  if (!script) return tl::unexpected(script.error());
  if (options.wire != "codex_app_server" && options.wire != "codex_proto") {
    return fail(ErrorCode::invalid_request,
                "--stdio " + options.wire + ": expected codex_app_server or codex_proto");
  }
  StdioPlayer player(options, std::move(*script));
  return options.wire == "codex_proto" ? run_mock_proto(player) : run_mock_app_server(player);
}

}  // namespace callgate::server
