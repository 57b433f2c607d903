#include "response/response_socket.h"

#include <deque>
#include <list>
#include <utility>
#include <vector>

#include "json/member.h"
#include "json/writer.h"
#include "net/companion.h"
#include "net/unix_time.h"
#include "net/websocket.h"
#include "response/response_audience.h"
#include "response/response_memory.h"
#include "turn/observe.h"

namespace callgate::server {
namespace {

constexpr std::size_t kMaxLanes = 16;    // that answer at the same time
constexpr std::size_t kMaxWaiting = 32;  // requests of one lane that wait for the running one
constexpr std::size_t kMaxBacklog =
    256 * 1024;  // bytes that wait for the client; a turn waits then
constexpr net::Millis kLongestSilence{3'600'000};  // of the client while nothing runs
constexpr net::Millis kGoodbye{2'000};
constexpr int kEndSteps = 500;  // for turns to end when the client has gone
constexpr net::Millis kEndStep{10};

bool is_stream_id(std::string_view id) {
  return id.size() <= 256 && id.find_first_not_of(
                                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789_.-") == std::string_view::npos;
}

class ResponseSocket;

// The answer to one request, as text frames.
class SocketAudience final : public Audience {
 public:
  SocketAudience(ResponseSocket& socket, const std::string& stream_id);
  ~SocketAudience() override;

  bool is_gone() const override;
  void on_gone(std::function<void()> callback) override { on_gone_ = std::move(callback); }
  // The connection is over.
  void leave() {
    if (on_gone_) std::exchange(on_gone_, {})();
  }
  bool has_started() const override { return started_; }
  net::Headers& headers() override { return headers_; }
  net::Task<Result<void>> write(std::string_view bytes) override;
  net::Task<Result<void>> end(std::string_view bytes) override { return write(bytes); }
  net::Task<Result<void>> respond(int status, std::string_view body) override;

  // The object at the end of the stream; empty: it failed before.
  const std::string& object() const { return object_; }

 private:
  ResponseSocket& socket_;
  const std::string& stream_id_;
  std::function<void()> on_gone_;
  net::Headers headers_;
  bool started_ = false;
  std::string object_;
};

class ResponseSocket {
 public:
  ResponseSocket(const ResponseDesk& desk, Ask& ask)
      : desk_(desk),
        loop_(desk.desk.loop),
        ask_(ask),
        key_name_(key_name_of(ask)),
        socket_(ask.exchange, options_of(desk.desk.world, ask)),
        max_waiting_(ask.snapshot->config.limits.max_body.count),
        waiting_memory_(&desk.desk.world.memory, MemoryUse::need),
        wake_(loop_),
        drained_(loop_),
        written_(loop_),
        memory_(desk.desk.world.memory) {}

  net::Task<> run() {
    net::Headers headers;
    headers.add("x-request-id", ask_.id);
    auto accepted = co_await socket_.accept(std::move(headers));
    if (!accepted) co_return;
    {
      const net::Companion writer(loop_, write_all());
      co_await read_all();
      co_await end_turns();
      stopping_ = true;
      wake_.notify();
      if (!writer.done()) (void)co_await written_.wait(kGoodbye);
      if (!writer.done()) ask_.exchange.abort();
    }
    co_await socket_.leave();
  }

  bool is_gone() const { return gone_; }
  void add(SocketAudience& audience) { audiences_.push_back(&audience); }
  void remove(SocketAudience& audience) { std::erase(audiences_, &audience); }
  net::Loop& loop() { return loop_; }
  void send(std::string_view text) {
    socket_.queue(net::Opcode::text, text);
    wake_.notify();
  }
  // Until the client has taken most of what waits for it.
  net::Task<Result<void>> wait_for_room() {
    while (!gone_ && socket_.backlog() > kMaxBacklog) (void)co_await drained_.wait(net::Millis(50));
    if (!gone_) co_return Result<void>();
    Error error{.code = ErrorCode::unavailable, .message = "the client is gone"};
    co_return tl::unexpected(std::move(error));
  }
  void send_error(const Error& error, int status, std::string_view stream_id) {
    send_error_body(ask_.protocol->error_body(error), status, stream_id);
  }
  // `body`: {"error":{...}}
  void send_error_body(std::string_view body, int status, std::string_view stream_id) {
    std::string frame;
    json::ObjectWriter object(frame);
    object.string("type", "error");
    object.integer("status", status);
    object.raw("error", json::given_member(body, "error"));
    if (!stream_id.empty()) object.string("stream_id", stream_id);
    object.close();
    send(frame);
  }

 private:
  struct Lane {
    std::string id;
    std::deque<std::string> waiting;  // bodies
    bool runs = false;
    std::unique_ptr<net::Companion> task;
  };

  static net::WebSocket::Options options_of(World& world, const Ask& ask) {
    const LimitsConfig& limits = ask.snapshot->config.limits;
    net::WebSocket::Options options;
    options.limits.frame = limits.max_body.count;
    options.limits.message = limits.max_body.count;
    options.memory = &world.memory;
    options.message_timeout = limits.body_timeout;
    options.min_message_rate = limits.min_body_rate.count;
    return options;
  }

  net::Task<> read_all() {
    for (;;) {
      auto message = co_await socket_.read(kLongestSilence);
      if (!message) co_return;
      if (*message) {
        take(std::move(**message));
      } else if (!runs_anything()) {
        socket_.queue_close(net::kCloseGoingAway, "silent for too long");
        wake_.notify();
        co_return;
      }
    }
  }

  net::Task<> write_all() {
    while (!stopping_ || socket_.backlog() > 0) {
      if (socket_.backlog() == 0) {
        (void)co_await wake_.wait();
        continue;
      }
      const auto sent = co_await socket_.flush();
      drained_.notify();
      if (!sent) {
        gone_ = true;
        break;
      }
    }
    written_.notify();
  }

  // Nobody is left: turns that run end, and say so to the log.
  net::Task<> end_turns() {
    gone_ = true;
    for (SocketAudience* audience : std::vector(audiences_)) audience->leave();
    for (int i = 0; i < kEndSteps && runs_anything(); ++i) {
      drained_.notify();
      co_await loop_.sleep(kEndStep);
    }
    lanes_.clear();
  }

  bool runs_anything() const {
    for (const auto& lane : lanes_) {
      if (lane->runs) return true;
    }
    return false;
  }

  void take(net::WebSocket::Message message) {
    const ResponseFields fields = read_response_fields(message.payload);
    if (message.opcode != net::Opcode::text || fields.type != "response.create") {
      const Error error{.code = ErrorCode::invalid_request,
                        .message = "expected a text frame with \"type\":\"response.create\"",
                        .param = "type"};
      return send_error(error, 400, {});
    }
    if (!is_stream_id(fields.stream_id)) {
      const Error error{.code = ErrorCode::invalid_request,
                        .message = "stream_id: expected up to 256 of [A-Za-z0-9_.-]",
                        .param = "stream_id"};
      return send_error(error, 400, {});
    }
    if (fields.background) {
      const Error error{.code = ErrorCode::invalid_request,
                        .message = "background: true, expected false on a WebSocket",
                        .param = "background"};
      return send_error(error, 400, fields.stream_id);
    }
    Lane* lane = lane_of(fields.stream_id);
    // Bodies may wait as long as they have no more bytes together than one may have.
    const bool full = waiting_bytes_ > 0 && waiting_bytes_ + message.payload.size() > max_waiting_;
    if (lane == nullptr || full || lane->waiting.size() >= kMaxWaiting) {
      const Error error{.code = ErrorCode::rate_limited,
                        .message = "too many responses at the same time on this connection",
                        .upstream_code = "websocket_stream_limit_reached"};
      return send_error(error, 429, fields.stream_id);
    }
    if (!waiting_memory_.fit(waiting_bytes_ + message.payload.size())) {
      return send_error(out_of_memory(), 503, fields.stream_id);
    }
    waiting_bytes_ += message.payload.size();
    lane->waiting.push_back(std::move(message.payload));
    if (lane->runs) return;
    lane->runs = true;
    lane->task.reset();
    lane->task = std::make_unique<net::Companion>(loop_, play(*lane));
  }

  // A lane that has nothing to do gives its place away.
  Lane* lane_of(const std::string& id) {
    for (const auto& lane : lanes_) {
      if (lane->id == id) return lane.get();
    }
    if (lanes_.size() >= kMaxLanes) {
      std::erase_if(lanes_, [](const auto& lane) { return !lane->runs; });
    }
    if (lanes_.size() >= kMaxLanes) return nullptr;
    lanes_.push_back(std::make_unique<Lane>());
    lanes_.back()->id = id;
    return lanes_.back().get();
  }

  net::Task<> play(Lane& lane) {
    while (!lane.waiting.empty() && !gone_) {
      std::string body = std::move(lane.waiting.front());
      lane.waiting.pop_front();
      waiting_bytes_ -= body.size();
      (void)waiting_memory_.fit(waiting_bytes_);
      co_await answer(lane, std::move(body));
      (void)co_await wait_for_room();
    }
    lane.runs = false;
  }

  net::Task<> answer(const Lane& lane, std::string body) {
    ResponseFields fields = read_response_fields(body);
    auto work = co_await prepare(body, fields);
    fields.input = {};
    std::string().swap(body);  // the turn may last
    if (!work) {
      if (!fields.previous.empty()) memory_.forget(fields.previous);
      observe_refusal(desk_.desk.world, ask_, client::status_of(work.error()), work.error());
      send_error(work.error(), ask_.protocol->status_of(work.error()), lane.id);
      co_return;
    }
    if (!fields.generate) {
      warm_up(lane, (*work)->work->job, **work);
      co_return;
    }
    const TurnSlots slots(desk_.desk.world, (*work)->work->job.key, (*work)->address);
    if (const auto busy = slots.refusal()) {
      send_error(*busy, 429, lane.id);
      co_return;
    }
    co_await answer_with(lane, std::move(*work), fields);
  }

  struct Prepared {
    std::unique_ptr<LoopWork> work;
    KeyRef address;
    ExpandedBody said;
  };

  net::Task<Result<std::unique_ptr<Prepared>>> prepare(const std::string& body,
                                                       const ResponseFields& fields) {
    const Remembered remembered = [this](std::string_view id) { return memory_.find(id); };
    Reservation held(&desk_.desk.world.memory, MemoryUse::need);
    if (!held.grow_to(body.size())) {
      Error scarce = out_of_memory();
      co_return tl::unexpected(std::move(scarce));
    }
    auto expanded = co_await expand_body(desk_, key_name_, body, fields, remembered);
    if (!expanded) co_return tl::unexpected(expanded.error());
    Ask asked{.exchange = ask_.exchange,
              .snapshot = desk_.desk.snapshot,
              .protocol = ask_.protocol,
              .id = desk_.desk.mint.mint_timed("req_", net::unix_ms()),
              .started_ms = loop_.now()};
    const auto key = asked.snapshot->access.find(key_name_);
    if (!key) co_return tl::unexpected(key.error());
    asked.key = *key;
    const auto allowed = admit_address(desk_.desk.world, asked, asked.headers);
    if (!allowed) co_return tl::unexpected(allowed.error());
    const auto admitted = admit_turn(desk_.desk.world, *asked.snapshot, asked.key, asked.headers);
    if (!admitted) co_return tl::unexpected(admitted.error());
    auto work = desk_.read_turn(asked, expanded->body);
    if (!work) co_return tl::unexpected(work.error());
    TurnJob& job = (*work)->job;
    job.request.stream = true;
    job.keepalive = false;  // a comment has no form here
    job.answer_id = desk_.desk.mint.mint("resp_", 29);
    auto prepared = std::make_unique<Prepared>();
    prepared->work = std::move(*work);
    prepared->address = asked.address;
    prepared->said = std::move(*expanded);
    prepared->said.forget_body();
    co_return std::move(prepared);
  }

  // Nothing is generated: what was sent can be gone on from.
  void warm_up(const Lane& lane, const TurnJob& job, const Prepared& prepared) {
    const std::string object = bare_response(job, "completed", "");
    std::int64_t number = 0;
    for (const std::string_view type : {"response.created", "response.completed"}) {
      std::string frame;
      json::ObjectWriter event(frame);
      event.string("type", type);
      event.integer("sequence_number", number++);
      event.raw("response", object);
      if (!lane.id.empty()) event.string("stream_id", lane.id);
      event.close();
      send(frame);
    }
    memory_.add(job.answer_id, join_items(prepared.said.before, prepared.said.items));
  }

  net::Task<> answer_with(const Lane& lane, std::unique_ptr<Prepared> prepared,
                          const ResponseFields& fields) {
    const StreamGauge gauge(desk_.desk.world);
    const std::string id = prepared->work->job.answer_id;
    const std::string said = join_items(prepared->said.before, prepared->said.items);
    SocketAudience audience(*this, lane.id);
    SavingAudience saving(audience, [&](std::string object) {
      // Before its end leaves: the client may go on at once.
      if (json::member_text(object, "status") != "failed") {
        memory_.add(id, join_items(said, input_items(json::given_member(object, "output"))));
      }
      return keep(fields, id, std::move(object), prepared->said.items);
    });
    co_await run_response(desk_.desk, std::move(prepared->work), ask_.exchange.head().headers,
                          saving);
    const bool failed =
        audience.object().empty() || json::member_text(audience.object(), "status") == "failed";
    if (failed && !fields.previous.empty()) memory_.forget(fields.previous);
  }

  net::Task<> keep(const ResponseFields& fields, std::string id, std::string object,
                   const std::string& items) {
    if (!fields.store) co_return;
    store::ResponseName name{key_name_, std::move(id)};
    store::StoredResponse stored = to_stored(desk_.desk, object, fields.previous, items);
    co_await save_response(desk_.desk, std::move(name), std::move(stored));
  }

  const ResponseDesk& desk_;
  net::Loop& loop_;
  Ask& ask_;
  const std::string key_name_;
  net::WebSocket socket_;
  const std::size_t max_waiting_;
  std::size_t waiting_bytes_ = 0;  // of bodies that no lane has begun with
  Reservation waiting_memory_;
  net::Signal wake_;
  net::Signal drained_;
  net::Signal written_;
  bool gone_ = false;
  bool stopping_ = false;
  std::vector<SocketAudience*> audiences_;  // of the turns that run
  ResponseMemory memory_;
  std::list<std::unique_ptr<Lane>> lanes_;  // before what they use goes
};

SocketAudience::SocketAudience(ResponseSocket& socket, const std::string& stream_id)
    : socket_(socket), stream_id_(stream_id) {
  socket_.add(*this);
}

SocketAudience::~SocketAudience() { socket_.remove(*this); }

bool SocketAudience::is_gone() const { return socket_.is_gone(); }

net::Task<Result<void>> SocketAudience::write(std::string_view bytes) {
  started_ = true;
  std::string object = final_response(bytes);
  if (!object.empty()) object_ = std::move(object);
  std::string frame;
  each_frame(bytes, [&](std::string_view, std::string_view data) {
    if (stream_id_.empty()) return socket_.send(data);
    frame = "{\"stream_id\":\"";
    frame.append(stream_id_).append("\",").append(data.substr(1));
    socket_.send(frame);
  });
  return socket_.wait_for_room();
}

net::Task<Result<void>> SocketAudience::respond(int status, std::string_view body) {
  socket_.send_error_body(body, status, stream_id_);
  return socket_.wait_for_room();
}

}  // namespace

net::Task<> open_response_socket(const ResponseDesk& desk, Ask& ask) {
  const net::RequestHead& head = ask.exchange.head();
  if (const auto fault = net::check_handshake(head); fault) {
    if (fault->status == 426) {
      ask.headers.add("upgrade", "websocket");
      ask.headers.add("sec-websocket-version", "13");
    }
    const Error error{.code = ErrorCode::invalid_request, .message = std::string(fault->message)};
    co_return co_await desk.desk.refuse(ask, error, fault->status);
  }
  if (desk.desk.world.draining.load(std::memory_order_relaxed)) {
    const Error error{.code = ErrorCode::unavailable,
                      .message = "the gateway is shutting down",
                      .retry_after = "5"};
    co_return co_await desk.desk.refuse(ask, error);
  }
  ResponseSocket socket(desk, ask);
  co_await socket.run();
}

}  // namespace callgate::server
