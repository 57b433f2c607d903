#include "tool/hook_verdict.h"

#include "json/reader.h"

namespace callgate::tool {
namespace {

tl::unexpected<Error> odd(std::string_view what) {
  return fail(ErrorCode::upstream_failed, "invalid answer: " + std::string(what));
}

// The members that every verdict has; `other` reads the rest and returns false for a key that it does not know.
template <class Other>
Result<std::string> read_action(std::string_view json, std::string& reason, Other other) {
  std::string action;
  json::Reader in(json);
  if (in.peek() != json::Kind::object) return odd("expected a JSON object");
  for (std::string_view key; in.next_member(key);) {
    if (key == "action") {
      action = in.string();
    } else if (key == "reason") {
      reason = in.string();
    } else if (!other(in, key)) {
      in.skip();
    }
  }
  if (!in.finish()) return odd("expected " + std::string(in.error().message));
  return action;
}

}  // namespace

Result<HookVerdict> read_verdict(std::string_view json, HookMoment moment) {
  HookVerdict verdict;
  bool has_result = false;
  const auto read_rest = [&](json::Reader& in, std::string_view key) {
    if (key == "result") {
      verdict.result = in.string();
      has_result = true;
    } else if (key == "is_error") {
      verdict.is_error = in.boolean();
    } else if (key == "arguments") {
      if (in.peek() != json::Kind::object) in.fail("arguments that are an object");
      verdict.arguments = in.raw();
    } else {
      return false;
    }
    return true;
  };
  const auto action = read_action(json, verdict.reason, read_rest);
  if (!action) return tl::unexpected(action.error());
  if (*action == "deny") {
    verdict.action = HookVerdict::Action::deny;
  } else if (*action == "replace") {
    if (!has_result) return odd("replace without a result");
    verdict.action = HookVerdict::Action::replace;
  } else if (*action != "allow") {
    return odd("expected the action allow, deny or replace");
  }
  if (verdict.arguments &&
      (moment == HookMoment::after || verdict.action != HookVerdict::Action::allow)) {
    return odd("arguments belong to allow, before the tool");
  }
  return verdict;
}

Result<WordVerdict> read_word_verdict(std::string_view json, HookMoment moment) {
  WordVerdict verdict;
  bool has_text = false;
  const auto read_rest = [&](json::Reader& in, std::string_view key) {
    if (key == "text") {
      verdict.text = in.string();
      has_text = true;
    } else if (key == "messages") {
      if (in.peek() != json::Kind::array) in.fail("messages that are an array");
      verdict.messages = in.raw();
    } else {
      return false;
    }
    return true;
  };
  const auto action = read_action(json, verdict.reason, read_rest);
  if (!action) return tl::unexpected(action.error());
  if (*action == "deny") {
    verdict.action = WordVerdict::Action::deny;
  } else if (*action == "rewrite") {
    verdict.action = WordVerdict::Action::rewrite;
    if (moment == HookMoment::answer && !has_text) return odd("rewrite without a text");
    if (moment == HookMoment::prompt && verdict.messages.empty()) {
      return odd("rewrite without messages");
    }
  } else if (*action != "allow") {
    return odd("expected the action allow, deny or rewrite");
  }
  return verdict;
}

}  // namespace callgate::tool
