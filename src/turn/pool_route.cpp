#include "turn/pool_route.h"

#include <algorithm>

#include "chat/content.h"
#include "chat/token_estimate.h"

namespace callgate::server {
namespace {

// Of each message; what is the same so far is rarely another conversation.
constexpr std::size_t kHashedText = std::size_t{64} << 10;

// The system prompts at the beginning and the first message after them: what stays as a conversation grows.
std::uint64_t hash_of_opening(const Request& request) {
  std::uint64_t hash = 0;
  for (const Message& message : request.messages) {
    const std::string_view text = std::string_view(message.content.text).substr(0, kHashedText);
    hash = hash * 0x100000001b3ull + hash_of(text);
    if (!is_prompt(message)) break;
  }
  return hash;
}

bool has_token_limit(const TurnJob& job) {
  const auto& names = job.config().upstream;
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return job.snapshot->config.find_upstream(name)->tokens_per_minute > 0;
  });
}

}  // namespace

std::uint64_t affinity_of(const ModelConfig& model, const Request& request,
                          std::string_view session, std::string_view key) {
  std::uint64_t hash = 0;
  if (model.balance == "session" && !session.empty()) hash = hash_of(session);
  if (model.balance == "key" && !key.empty()) hash = hash_of(key);
  if (model.balance == "prefix") hash = hash_of_opening(request);
  return hash;
}

PoolWalk make_walk(const TurnJob& job, const Request& request, std::uint64_t now, bool skip_first) {
  const ModelConfig& model = job.config();
  const auto limit = static_cast<std::uint64_t>(model.deadline.count());
  return PoolWalk(places_of(model),
                  {.retries = model.retries,
                   .backoff = model.retry_backoff,
                   .balance = balance_of(model.balance),
                   .affinity = affinity_of(model, request, job.session, job.key_name()),
                   .deadline = limit == 0 ? 0 : now + limit,
                   .skip_first = skip_first});
}

Board::Question make_question(const TurnJob& job, const Request& request) {
  Board::Question question;
  question.model = job.config().name;
  question.stream = request.stream;
  question.may_copy = true;
  if (has_token_limit(job)) question.tokens = estimate_tokens(request);
  return question;
}

}  // namespace callgate::server
