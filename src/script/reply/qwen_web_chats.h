// The chats of a Qwen web upstream that the scripted model stands in for: its own account of what it was told, so that
// tests can compare. Each chat is a tree; a message follows an answer, an answer follows its message.
//
//   GET /chats/CHAT  {"success":true,"data":{"id":"chat-1","overlaps":0,"messages":[
//     {"id":"msg-1","parent_id":null,"role":"user","content":"Hi","status":"finished"},
//     {"id":"resp-1","parent_id":"msg-1","role":"assistant","content":"Hel","status":"cut"}]}}
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "callgate/result.h"
#include "script/reply/reply_encoder.h"
#include "sse/decoder.h"

namespace callgate::script {

// Not for several threads at once.
class QwenWebChats {
 public:
  // Of more chats than that the oldest are forgotten.
  explicit QwenWebChats(std::size_t max_chats = 100'000) : max_chats_(max_chats) {}

  // Starts a chat: the body of the answer to POST /chats/new.
  std::string start();

  struct Posted {
    Request request;  // the conversation that the message is the end of
    ReplyPlace place;
  };
  // Takes a message. not_found: no such chat, or no such parent in it.
  Result<Posted> post(std::string_view body);
  // What was sent of the answer, cut anywhere.
  void sent(const ReplyPlace& place, std::string_view bytes);
  // Nothing more is sent of it. An answer that did not finish was cut.
  void end(const ReplyPlace& place);

  std::optional<std::string> print(std::string_view chat_id) const;
  // {"success":true,"data":[{"id":"chat-1"},...]}, the oldest first.
  std::string list() const;

 private:
  struct Node {
    std::string id;
    std::optional<std::size_t> parent;
    bool is_answer = false;
    std::string content;
    enum class Status : std::uint8_t { running, finished, cut } status = Status::finished;
    std::unique_ptr<SseDecoder> frames;  // while running
  };
  struct Chat {
    std::vector<Node> nodes;
    std::uint32_t running = 0;
    std::uint32_t overlaps = 0;  // messages that came while an answer was running
  };

  static std::optional<std::size_t> find_answer(const Chat& chat, std::string_view id);
  static std::vector<Message> path_to(const Chat& chat, std::size_t node);
  static void take_frame(Node& node, std::string_view json);
  Node* find(const ReplyPlace& place, Chat*& chat);

  std::size_t max_chats_;
  std::uint64_t chats_started_ = 0;
  std::uint64_t nodes_added_ = 0;
  std::map<std::string, Chat, std::less<>> chats_;
  std::deque<std::string> order_;
};

}  // namespace callgate::script
