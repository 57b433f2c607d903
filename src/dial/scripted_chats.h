// The chats of scripted upstreams that keep conversations, for all loops: script/reply/qwen_web_chats.h behind a mutex.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "script/reply/qwen_web_chats.h"

namespace callgate::server {

class ScriptedChats {
 public:
  explicit ScriptedChats(std::size_t max_chats) : chats_(max_chats) {}

  std::string start() {
    const std::lock_guard lock(mutex_);
    return chats_.start();
  }
  Result<script::QwenWebChats::Posted> post(std::string_view body) {
    const std::lock_guard lock(mutex_);
    return chats_.post(body);
  }
  void sent(const script::ReplyPlace& place, std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    chats_.sent(place, bytes);
  }
  void end(const script::ReplyPlace& place) {
    const std::lock_guard lock(mutex_);
    chats_.end(place);
  }
  std::optional<std::string> print(std::string_view chat_id) {
    const std::lock_guard lock(mutex_);
    return chats_.print(chat_id);
  }
  std::string list() {
    const std::lock_guard lock(mutex_);
    return chats_.list();
  }

 private:
  std::mutex mutex_;
  script::QwenWebChats chats_;
};

}  // namespace callgate::server
