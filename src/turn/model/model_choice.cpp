#include "turn/model/model_choice.h"

#include <algorithm>

#include "base/glob.h"
#include "chat/content.h"
#include "chat/replayed_calls.h"
#include "chat/token_estimate.h"

namespace callgate::server {
namespace {

constexpr std::size_t kMostLookedAt = 4096;  // bytes of a message that may ask for a title

bool asks_for_title(const Message& message, const std::vector<std::string>& patterns) {
  const std::string text = text_of(message.content).substr(0, kMostLookedAt);
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return glob_matches(pattern, text, Case::ignored);
  });
}

// A system prompt or the last message asks for it, and no tools are there to work with.
bool is_title_request(const Request& request, const std::vector<std::string>& patterns) {
  if (!request.tools.empty() || request.messages.empty()) return false;
  const auto asks = [&](const Message& message) { return asks_for_title(message, patterns); };
  if (request.messages.back().role == Role::user && asks(request.messages.back())) return true;
  return std::any_of(request.messages.begin(), request.messages.end(),
                     [&](const Message& message) { return is_prompt(message) && asks(message); });
}

Result<void> check_context(const ModelConfig& model, const Request& request) {
  if (model.context_length == 0) return {};
  const std::int64_t tokens = estimate_tokens(request);
  if (tokens <= model.context_length) return {};
  return tl::unexpected(
      Error{.code = ErrorCode::invalid_request,
            .message = "the model's context length is " + std::to_string(model.context_length) +
                       " tokens, and the request has about " + std::to_string(tokens),
            .param = "messages",
            .upstream_code = "context_length_exceeded"});
}

Result<void> check_replayed(const ModelConfig& model, const Request& request) {
  if (model.replayed_tools != "reject") return {};
  const auto found = find_replayed_calls(request.messages);
  if (!found) return {};
  const std::string where = "messages[" + std::to_string(*found) + "].content";
  return fail(ErrorCode::invalid_request,
              where + ": it has calls or results of tools as text, which this model refuses",
              where);
}

}  // namespace

Result<Snapshot::Model> choose_for(const Snapshot& snapshot, const KeyState* key,
                                   const Request& request) {
  auto model = snapshot.choose_model(key, request.model);
  if (!model) return model;
  const ModelConfig& asked = *model->config;
  if (!asked.title_model.empty() && is_title_request(request, asked.title_patterns)) {
    // A key that may not use that model gets the one that it asked for.
    if (auto other = snapshot.choose_model(key, asked.title_model)) model = std::move(other);
  }
  if (auto fits = check_context(*model->config, request); !fits) {
    return tl::unexpected(fits.error());
  }
  if (auto clean = check_replayed(*model->config, request); !clean) {
    return tl::unexpected(clean.error());
  }
  return model;
}

}  // namespace callgate::server
