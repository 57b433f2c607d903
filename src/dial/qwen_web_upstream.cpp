#include "dial/qwen_web_upstream.h"

#include <span>
#include <vector>

#include "base/ids.h"
#include "net/unix_time.h"
#include "session/session_id.h"
#include "sse/decoder.h"
#include "upstream/qwen_web/qwen_web.h"
#include "upstream/transcript.h"

namespace callgate::server {
namespace {

constexpr std::size_t kMaxWhole = 64 * 1024;  // of an answer that is not streamed and looked into
constexpr std::size_t kMaxAnswer = 4 << 20;   // of an answer that is remembered
constexpr std::size_t kMaxFrame = 64 * 1024;  // of the frame that names the answer
constexpr std::size_t kMaxCreatedAt = 32;     // frames in front of it
constexpr int kMostOvertaken = 4;  // by other gateways, until a conversation counts as unknown

// A random UUID, as a page would make one up.
std::string mint_uuid(IdMint& mint) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string id;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    if (i % 16 == 0) bits = mint.next();
    if (i == 8 || i == 12 || i == 16 || i == 20) id.push_back('-');
    std::uint64_t digit = bits & 15;
    if (i == 12) digit = 4;
    if (i == 16) digit = 8 | (digit & 3);
    id.push_back(kHex[digit]);
    bits >>= 4;
  }
  return id;
}

Error interrupted() {
  return {.code = ErrorCode::unavailable, .message = "the client left before the answer began"};
}

class QwenWebCall final : public UpstreamCall, private EventSink {
 public:
  QwenWebCall(net::Loop& loop, const UpstreamConfig& config, UpstreamTarget& posts,
              ConversationMemory& memory, IdMint& mint, const ModelConfig& model)
      : loop_(loop),
        config_(config),
        posts_(posts),
        memory_(memory),
        mint_(mint),
        model_(model),
        claim_(memory.claims, loop),
        frames_(kMaxFrame) {}

  // Whatever was seen of the answer is what the client may come back with.
  ~QwenWebCall() override {
    if (std::exchange(settled_, true)) return;
    if (auto turn = finish_turn()) memory_.answers.remember_behind(std::move(*turn));
    claim_.release(kept_.session);
  }

  void set_origin(const Origin& origin) override {
    prompt_ = &origin.prompt;
    owner_.key_name = origin.key_name;
    owner_.name = origin.session;
    request_ = origin.request;
  }

  net::Task<Result<void>> send(const Request& asked, const UpstreamRequest&) override {
    const Request& prompt = prompt_ == nullptr ? asked : *prompt_;
    asked_ = &asked;
    options_ = {.model = model_.id.empty() ? model_.name : model_.id,
                .key = config_.key.reveal(),
                .stream = true};
    owner_.upstream = config_.name;
    owner_.model = model_.name;
    auto named = co_await resolve_session();
    if (!named) co_return tl::unexpected(std::move(named.error()));
    who_ = identify(asked, {.key_name = owner_.key_name,
                            .upstream = config_.name,
                            .model = options_.model,
                            .session = owner_.name});
    kept_.told = identify_prompt(prompt.messages);
    auto found = co_await find();
    if (!found) co_return tl::unexpected(std::move(found.error()));
    if (*found) {
      auto followed = co_await follow_answer(prompt, **found);
      if (!followed) co_return tl::unexpected(std::move(followed.error()));
      if (*followed) co_return Result<void>();
      // The session goes on in another chat.
      memory_.answers.forget(config_.name, kept_.chat);
      held_back_.clear();
      followed_.reset();
    }
    if (kept_.session.empty()) begin_session(asked_session_);
    how_ = who_.answered == 0 ? "new" : "recovered";
    co_return co_await tell_new_chat(prompt);
  }

  int status() const override { return call_ == nullptr ? 0 : call_->status(); }
  std::string_view header(std::string_view name) const override {
    if (name == kSessionStateHeader) return how_;
    if (name == kSessionHeader) return kept_.session;
    return call_ == nullptr ? std::string_view() : call_->header(name);
  }
  net::Headers headers() const override {
    return call_ == nullptr ? net::Headers() : call_->headers();
  }

  net::Task<Result<Piece>> read(net::Millis patience) override {
    if (!held_back_.empty()) {
      served_ = std::move(held_back_);
      held_back_.clear();
      co_return Piece{.bytes = served_};
    }
    auto piece = co_await call_->read(patience);
    if (!piece || !look_for_created(piece->bytes)) co_return piece;
    // The client may leave with the first word and be back at another gateway: that one must know of this answer.
    served_ = piece->bytes;
    SessionTurn begun = to_turn();
    co_await memory_.answers.begin(loop_, std::move(begun));
    co_return Piece{.bytes = served_};
  }

  void cancel() override {
    cancelled_ = true;
    claim_.cancel();
    if (call_ != nullptr) call_->cancel();
  }

  std::string take_sent() override { return std::move(sent_); }
  EventSink* observer() override { return this; }

  net::Task<> settle() override {
    if (std::exchange(settled_, true)) co_return;
    auto turn = finish_turn();
    if (turn) co_await memory_.answers.remember(loop_, std::move(*turn));
    claim_.release(kept_.session);
  }

 private:
  using Found = FoundAnswer;

  void accept(const Event& event) override {
    answer_.accept(event);
    if (const auto* finished = std::get_if<TurnFinished>(&event)) {
      cut_ = finished->reason == FinishReason::upstream_error;
    }
  }

  // A client may name its conversation by the id that it was given.
  net::Task<Result<void>> resolve_session() {
    if (!is_session_id(owner_.name)) co_return Result<void>();
    const std::string id = std::exchange(owner_.name, {});
    auto name = co_await memory_.answers.find_name(loop_, id, owner_.key_name);
    if (!name) co_return tl::unexpected(std::move(name.error()));
    if (*name) {
      asked_session_ = id;
      owner_.name = std::move(**name);
    }
    co_return Result<void>();
  }

  void begin_session(std::string_view parent) {
    kept_.session = mint_session(mint_);
    kept_.version = 0;
    owner_.parent = parent;
  }

  // The answer that the request follows, with the claim to it, marked as followed. A session that the client names is
  // claimed whole: it may have several chats.
  net::Task<Result<std::optional<Found>>> find() {
    if (!owner_.name.empty()) {
      const std::string whole = "session " + owner_.name;
      auto taken = co_await claim(whole);
      if (!taken) co_return tl::unexpected(std::move(taken.error()));
    }
    for (int overtaken = 0;;) {
      auto found = co_await look_up();
      if (!found || !*found) co_return found;
      const std::string name = "chat " + (*found)->answer.chat;
      if (owner_.name.empty() && claim_.name() != scoped(name)) {
        auto taken = co_await claim(name);
        if (!taken) co_return tl::unexpected(std::move(taken.error()));
        // Until the claim was held another request may have followed the same answer: it is looked up again.
        continue;
      }
      // A running request would hold the claim, so this is left over from one that failed.
      if ((*found)->running) co_return std::optional<Found>();
      if ((*found)->continued) co_return found;
      auto followed = co_await memory_.answers.follow(loop_, **found, config_.name);
      if (!followed) co_return tl::unexpected(std::move(followed.error()));
      if (*followed) {
        followed_ = (*found)->answer;
        co_return found;
      }
      if (++overtaken == kMostOvertaken) co_return std::optional<Found>();
    }
  }

  net::Task<Result<std::optional<Found>>> look_up() {
    auto found = co_await memory_.answers.find(loop_, who_, asked_session_);
    if (!found || *found || config_.conversation_fallback != "opening") co_return found;
    co_return co_await memory_.answers.find_opening(loop_, who_.opening);
  }

  std::string scoped(const std::string& name) const {
    return config_.name + "\n" + owner_.key_name + "\n" + name;
  }

  net::Task<Result<void>> claim(const std::string& name) {
    const ConversationClaim::Options options{
        .wait = config_.conversation_conflict != "refuse",
        .patience = net::Millis(config_.first_byte_timeout.count())};
    std::string full = scoped(name);
    auto taken = co_await claim_.take(std::move(full), options);
    if (cancelled_) co_return tl::unexpected(interrupted());
    co_return taken;
  }

  // False: the upstream does not know that chat or that answer.
  net::Task<Result<bool>> follow_answer(const Request& prompt, const Found& found) {
    const std::span<const Message> all(prompt.messages);
    std::vector<Message> news;
    if (found.answer.told != kept_.told) {
      const auto system = all.first(count_leading_system(all));
      news.assign(system.begin(), system.end());
    }
    const std::size_t answered = upstream::answered(all);
    news.insert(news.end(), all.begin() + static_cast<std::ptrdiff_t>(answered), all.end());
    const std::string content = upstream::to_transcript(news, all.first(answered));
    kept_.chat = found.answer.chat;
    if (found.continued) {
      begin_session(found.answer.session);
    } else {
      kept_.session = found.answer.session;
      kept_.version = found.answer.version;
    }
    auto posted = co_await post(prompt, found.answer.parent, content);
    if (!posted) co_return tl::unexpected(std::move(posted.error()));
    auto known = co_await is_known();
    if (!known) co_return tl::unexpected(std::move(known.error()));
    if (!*known) co_return false;
    how_ = found.continued ? "branched" : "continued";
    co_return true;
  }

  net::Task<Result<void>> tell_new_chat(const Request& prompt) {
    auto started = co_await start_chat();
    if (!started) co_return tl::unexpected(std::move(started.error()));
    kept_.chat = std::move(*started);
    if (owner_.name.empty()) {
      const std::string name = "chat " + kept_.chat;
      auto taken = co_await claim(name);
      if (!taken) co_return tl::unexpected(std::move(taken.error()));
    }
    const std::string content = upstream::to_transcript(prompt.messages);
    co_return co_await post(prompt, "", content);
  }

  net::Task<Result<std::string>> start_chat() {
    const UpstreamRequest request = upstream::encode_qwen_web_chat(options_, net::unix_ms());
    auto sent = co_await send_post(request);
    if (!sent) co_return tl::unexpected(std::move(sent.error()));
    auto body = co_await read_whole();
    if (!body) co_return tl::unexpected(std::move(body.error()));
    auto id = upstream::decode_qwen_web_chat(call_->status(), *body);
    if (!id && id.error().retry_after.empty()) {
      id.error().retry_after = call_->header("retry-after");
    }
    co_return id;
  }

  net::Task<Result<void>> post(const Request& prompt, std::string_view parent,
                               const std::string& content) {
    const std::string message_id = mint_uuid(mint_);
    const upstream::QwenWebPlace place{.chat_id = kept_.chat,
                                       .parent_id = parent,
                                       .message_id = message_id,
                                       .timestamp = net::unix_ms() / 1000};
    UpstreamRequest request = upstream::encode_qwen_web_post(prompt, options_, place, content);
    auto sent = co_await send_post(request);
    sent_ = std::move(request.body);
    co_return sent;
  }

  net::Task<Result<void>> send_post(const UpstreamRequest& request) {
    if (cancelled_) co_return tl::unexpected(interrupted());
    call_ = posts_.call(model_);
    auto sent = co_await call_->send(*asked_, request);
    if (sent && cancelled_) co_return tl::unexpected(interrupted());
    co_return sent;
  }

  net::Task<Result<std::string>> read_whole() {
    std::string body;
    while (body.size() < kMaxWhole) {
      auto piece = co_await call_->read(net::kNever);
      if (!piece) co_return tl::unexpected(std::move(piece.error()));
      if (piece->bytes.empty()) break;
      body.append(piece->bytes.substr(0, kMaxWhole - body.size()));
    }
    co_return body;
  }

  // An answer that is not a stream says what is wrong. It is examined and kept for the reader of the answer.
  net::Task<Result<bool>> is_known() {
    const bool good = call_->status() >= 200 && call_->status() < 300;
    const bool whole = call_->header("content-type").find("json") != std::string_view::npos;
    if (good && !whole) co_return true;
    if (!good && call_->status() != 400 && call_->status() != 404) co_return true;
    auto body = co_await read_whole();
    if (!body) co_return tl::unexpected(std::move(body.error()));
    const Error error = upstream::kQwenWeb.decode_error(call_->status(), *body);
    held_back_ = std::move(*body);
    if (error.upstream_code == "ContextLengthExceeded") co_return true;
    co_return error.code != ErrorCode::not_found&& error.code != ErrorCode::invalid_request;
  }

  // True when these bytes name the answer.
  bool look_for_created(std::string_view bytes) {
    if (created_ || frames_seen_ >= kMaxCreatedAt || bytes.empty()) return false;
    frames_.push(bytes, [this](const SseFrame& frame) {
      ++frames_seen_;
      const auto created = upstream::decode_qwen_web_created(frame.data);
      if (!created || created_) return;
      const bool older = config_.parent_rule == "created_parent";
      if (older && created->parent_id.empty()) return;
      created_ = true;
      kept_.parent = older ? created->parent_id : created->response_id;
    });
    return created_;
  }

  SessionTurn to_turn() const {
    SessionTurn turn;
    turn.who = who_;
    turn.kept = kept_;
    turn.owner = owner_;
    turn.request = request_;
    return turn;
  }

  // The answer is over for the client, whose next request can follow it. Empty if no request can.
  std::optional<SessionTurn> finish_turn() {
    if (!created_) {
      if (followed_) memory_.answers.unfollow(*followed_, config_.name);
      return std::nullopt;
    }
    SessionTurn turn = to_turn();
    turn.answer = answer_.to_canonical(who_.with_ids);
    turn.cut = cut_;
    const std::size_t size = turn.answer.text.size() + turn.answer.calls.size();
    if (answer_.overflowed() || (cut_ && (turn.answer.empty() || size > kMaxCutBytes))) {
      memory_.answers.drop(kept_, config_.name);
      return std::nullopt;
    }
    return turn;
  }

  net::Loop& loop_;
  const UpstreamConfig& config_;
  UpstreamTarget& posts_;
  ConversationMemory& memory_;
  IdMint& mint_;
  const ModelConfig& model_;
  const Request* prompt_ = nullptr;  // until send() is done, as asked_
  const Request* asked_ = nullptr;
  SessionOwner owner_;
  std::string asked_session_;  // the id that the client gave
  std::string request_;
  EncodeOptions options_;
  ConversationIdentity who_;
  ConversationClaim claim_;
  std::unique_ptr<UpstreamCall> call_;  // the POST that is under way
  std::string_view how_;                // what the client is told
  std::string sent_;
  std::string held_back_;
  std::string served_;
  SseDecoder frames_;  // until the answer has been named
  std::size_t frames_seen_ = 0;
  bool created_ = false;
  KeptAnswer kept_;  // where this answer is
  AnswerRecord answer_{kMaxAnswer};
  std::optional<KeptAnswer> followed_;  // what this answer was marked to follow
  bool cut_ = true;                     // until its end has come
  bool settled_ = false;
  bool cancelled_ = false;
};

class QwenWebTarget final : public UpstreamTarget {
 public:
  QwenWebTarget(net::Loop& loop, const UpstreamConfig& config,
                std::unique_ptr<UpstreamTarget> posts, ConversationMemory& memory,
                std::uint64_t id_seed)
      : loop_(loop), config_(config), posts_(std::move(posts)), memory_(memory), mint_(id_seed) {}

  std::unique_ptr<UpstreamCall> call(const ModelConfig& model) override {
    return std::make_unique<QwenWebCall>(loop_, config_, *posts_, memory_, mint_, model);
  }

 private:
  net::Loop& loop_;
  const UpstreamConfig config_;
  const std::unique_ptr<UpstreamTarget> posts_;
  ConversationMemory& memory_;
  IdMint mint_;
};

}  // namespace

std::unique_ptr<UpstreamTarget> make_qwen_web_target(net::Loop& loop, const UpstreamConfig& config,
                                                     std::unique_ptr<UpstreamTarget> posts,
                                                     ConversationMemory& memory,
                                                     std::uint64_t id_seed) {
  return std::make_unique<QwenWebTarget>(loop, config, std::move(posts), memory, id_seed);
}

}  // namespace callgate::server
