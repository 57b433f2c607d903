

#include "dial/child_host.h"
#include "dial/upstream_call.h"

namespace callgate::server {
namespace {

constexpr std::size_t kMaxWaiting = std::size_t{16} << 20;

class ChildCall final : public UpstreamCall {
 public:
  ChildCall(net::Loop& loop, std::shared_ptr<ChildHost> host, const UpstreamConfig& config)
      : host_(std::move(host)),
        config_(config),
        lane_(std::make_shared<AnswerLane>(loop, kMaxWaiting)) {}
  ~ChildCall() override { cancel(); }

  net::Task<Result<void>> send(const Request& asked, const UpstreamRequest& request) override {
    ChildPrompt prompt = make_child_prompt(asked, request.body, host_->key());
    began_ = true;
    host_->begin(lane_, std::move(prompt));
    co_return co_await lane_->accepted(limit(config_.first_byte_timeout));
  }
  int status() const override { return 200; }
  std::string_view header(std::string_view name) const override {
    return name == kSessionHeader ? std::string_view(lane_->session()) : std::string_view();
  }
  net::Headers headers() const override { return {}; }
  net::Task<Result<Piece>> read(net::Millis patience) override {
    co_return co_await lane_->read(patience, limit(config_.idle_timeout));
  }
  // Also after an answer was read to its end: the host then has no conversation for this lane.
  void cancel() override {
    if (lane_->left()) return;
    lane_->leave();
    if (began_) host_->abandon(lane_);
  }

 private:
  const std::shared_ptr<ChildHost> host_;
  const UpstreamConfig& config_;
  const std::shared_ptr<AnswerLane> lane_;
  bool began_ = false;
};

class ChildTarget final : public UpstreamTarget {
 public:
  ChildTarget(net::Loop& loop, const UpstreamConfig& config, std::shared_ptr<ChildHost> host)
      : loop_(loop), config_(config), host_(std::move(host)) {}

  std::unique_ptr<UpstreamCall> call(const ModelConfig&) override {
    return std::make_unique<ChildCall>(loop_, host_, config_);
  }

 private:
  net::Loop& loop_;
  const UpstreamConfig config_;
  const std::shared_ptr<ChildHost> host_;
};

}  // namespace

std::unique_ptr<UpstreamTarget> make_child_target(net::Loop& loop, const UpstreamConfig& config,
                                                  std::shared_ptr<ChildHost> host) {
  return std::make_unique<ChildTarget>(loop, config, std::move(host));
}

}  // namespace callgate::server
