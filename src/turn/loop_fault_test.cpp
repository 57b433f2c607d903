// What a tool loop does when one of its own tasks throws: it ends, at once, and says so.
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "net/net_testing.h"
#include "turn/loop_run.h"

namespace callgate::server::loop_fault_test {
namespace {

enum class Where { send, read, settle };

constexpr std::string_view kAnswer =
    "data: "
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}"
    "\n\n"
    "data: [DONE]\n\n";

class ThrowingCall final : public UpstreamCall {
 public:
  ThrowingCall(net::Loop& loop, Where where) : loop_(loop), where_(where) {}
  net::Task<Result<void>> send(const Request&, const UpstreamRequest&) override {
    co_await loop_.sleep(net::Millis(0));
    if (where_ == Where::send) throw std::runtime_error("injected");
    co_return Result<void>();
  }
  int status() const override { return 200; }
  std::string_view header(std::string_view) const override { return {}; }
  net::Headers headers() const override { return {}; }
  net::Task<Result<Piece>> read(net::Millis) override {
    co_await loop_.sleep(net::Millis(0));
    if (where_ == Where::read) throw std::runtime_error("injected");
    Piece piece;
    if (!std::exchange(said_, true)) piece.bytes = kAnswer;
    co_return piece;
  }
  net::Task<> settle() override {
    co_await loop_.sleep(net::Millis(0));
    throw std::runtime_error("injected");
  }
  void cancel() override {}

 private:
  net::Loop& loop_;
  Where where_;
  bool said_ = false;
};

class ThrowingTarget final : public UpstreamTarget {
 public:
  ThrowingTarget(net::Loop& loop, Where where) : loop_(loop), where_(where) {}
  std::unique_ptr<UpstreamCall> call(const ModelConfig&) override {
    return std::make_unique<ThrowingCall>(loop_, where_);
  }

 private:
  net::Loop& loop_;
  Where where_;
};

class Reader final : public Audience {
 public:
  bool has_started() const override { return false; }
  net::Headers& headers() override { return headers_; }
  net::Task<Result<void>> write(std::string_view) override { co_return Result<void>(); }
  net::Task<Result<void>> end(std::string_view) override { co_return Result<void>(); }
  net::Task<Result<void>> respond(int status, std::string_view body) override {
    status_ = status;
    body_ = body;
    co_return Result<void>();
  }

  net::Headers headers_;
  int status_ = 0;
  std::string body_;
};

constexpr std::string_view kConfig =
    "[[upstream]]\nname = \"a\"\nurl = \"http://127.0.0.1:1\"\n[[model]]\nname = \"m\"\nupstream = "
    "\"a\"\n";

class LoopFaultTest : public testing::TestWithParam<Where> {};

TEST_P(LoopFaultTest, ends_the_loop_when_a_turn_of_the_model_throws) {
  net::Loop loop;
  std::vector<std::string> faults;
  loop.set_fault_log([&](std::string_view what) { faults.emplace_back(what); });
  telemetry::Logger logger{{.level = telemetry::LogLevel::error}};
  telemetry::Metrics metrics;
  store::NullRequestLog log;
  World world(logger, metrics, log, 10);
  IdMint mint(1);
  auto config = parse_config(std::string(kConfig), "test.toml");
  ASSERT_TRUE(config) << config.error().message;
  Targets targets(loop, world.conversations, 1);
  Targets::Prepared prepared;
  prepared["a"] = {.config = config->upstreams.front(),
                   .part = {},
                   .target = std::make_shared<ThrowingTarget>(loop, GetParam())};
  targets.use(std::move(prepared));

  LoopWork work;
  work.job.snapshot = std::make_shared<Snapshot>(*config, Access(config->keys, nullptr));
  work.job.request_id = "req_1";
  work.job.started_ms = loop.now();
  work.job.protocol = client::find("openai_chat");
  work.job.protocol_name = work.job.protocol->name;
  work.job.request.model = "m";
  work.job.request.messages.push_back({.role = Role::user, .content = {"\"hi\""}});
  auto model = work.job.snapshot->choose_model(nullptr, "m");
  ASSERT_TRUE(model);
  work.job.dialect = model->dialect;
  work.job.model = std::move(*model);
  work.choice = std::make_unique<LoopChoice>();
  work.choice->on = true;
  work.choice->options.loop_timeout = 20'000;

  Reader reader;
  LoopRun run({world, loop, mint, targets}, std::move(work), {}, reader, LoopRun::Wants::bytes);
  net::run_to_end(loop, run.run());
  ASSERT_TRUE(run.finish());
  EXPECT_EQ(faults, std::vector<std::string>{"injected"});
  if (GetParam() == Where::settle) {  // the model had said everything
    EXPECT_EQ(run.finish()->end, loop::End::completed);
    EXPECT_NE(reader.body_.find("Hello."), std::string::npos) << reader.body_;
    return;
  }
  EXPECT_EQ(run.finish()->end, loop::End::error);
  ASSERT_TRUE(run.finish()->error);
  EXPECT_EQ(run.finish()->error->code, ErrorCode::internal);
  EXPECT_EQ(reader.status_, 500);
  EXPECT_NE(reader.body_.find("broke off inside the gateway"), std::string::npos) << reader.body_;
}

INSTANTIATE_TEST_SUITE_P(Tasks, LoopFaultTest,
                         testing::Values(Where::send, Where::read, Where::settle));

}  // namespace
}  // namespace callgate::server::loop_fault_test
