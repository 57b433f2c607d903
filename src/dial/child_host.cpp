#include "dial/child_host.h"

#include <random>

namespace callgate::server {
namespace {

HashKey random_key() {
  std::random_device device;
  const auto word = [&] { return (std::uint64_t{device()} << 32) | device(); };
  const std::uint64_t first = word();
  return {first, word()};
}

// Everything that a running child depends on.
std::string settings_of(const UpstreamConfig& config) {
  std::string text = config.wire + '\n' + config.cwd + '\n' + config.codex_tools + '\n' +
                     config.codex_sandbox + '\n';
  for (const std::string& word : config.command) text += word + '\n';
  for (const auto& [name, value] : config.env) text.append(name).append("=").append(value) += '\n';
  for (const Milliseconds value : {config.start_timeout, config.restart_backoff,
                                   config.call_timeout, config.conversation_timeout}) {
    text += std::to_string(value.count()) + '\n';
  }
  return text + std::to_string(config.restart_limit) + '\n' +
         std::to_string(config.max_conversations);
}

}  // namespace

net::ProcessOptions child_process(const UpstreamConfig& config) {
  net::ProcessOptions options{
      .command = config.command, .environment = net::plain_environment(), .folder = config.cwd};
  for (const auto& [name, value] : config.env) {
    std::erase_if(options.environment,
                  [&name = name](const auto& entry) { return entry.first == name; });
    options.environment.emplace_back(name, value);
  }
  return options;
}

ChildHost::ChildHost(const UpstreamConfig& config, ChildHealth health)
    : key_(random_key()), loop_(std::make_unique<net::Loop>()) {
  loop_->set_fault_log(health.log);
  conductor_ = config.wire == "codex_proto"
                   ? make_proto_conductor(*loop_, config, key_, std::move(health))
                   : make_app_server_conductor(*loop_, config, key_, std::move(health));
  thread_ = std::thread([this] { loop_->run(); });
}

ChildHost::~ChildHost() {
  loop_->stop();
  thread_.join();
  conductor_->release();
  loop_.reset();
}

void ChildHost::begin(std::shared_ptr<AnswerLane> lane, ChildPrompt prompt) {
  loop_->post([this, lane = std::move(lane), prompt = std::move(prompt)]() mutable {
    conductor_->begin(std::move(lane), std::move(prompt));
  });
}

void ChildHost::abandon(std::shared_ptr<AnswerLane> lane) {
  loop_->post([this, lane = std::move(lane)] { conductor_->abandon(lane); });
}

std::shared_ptr<ChildHost> ChildHosts::find_or_start(
    const UpstreamConfig& config, const std::function<ChildHealth()>& make_health) {
  const std::lock_guard lock(mutex_);
  std::erase_if(hosts_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<ChildHost>& known = hosts_[config.name + '\n' + settings_of(config)];
  std::shared_ptr<ChildHost> host = known.lock();
  if (host != nullptr) return host;
  host = std::make_shared<ChildHost>(config, make_health());
  known = host;
  return host;
}

}  // namespace callgate::server
