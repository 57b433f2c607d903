#include "script/reply/qwen_web_chats.h"

#include <algorithm>

#include "json/reader.h"
#include "json/writer.h"
#include "script/reply/qwen_web_reply.h"

namespace callgate::script {
namespace {

struct Delta {
  std::string content;
  std::string phase;
  std::string status;
};

void read_choice(json::Reader& in, Delta& delta) {
  for (std::string_view key; in.next_member(key);) {
    if (key != "delta" || in.peek() != json::Kind::object) {
      in.skip();
      continue;
    }
    for (std::string_view name; in.next_member(name);) {
      const bool is_text = in.peek() == json::Kind::string;
      if (is_text && name == "content") {
        delta.content = in.string();
      } else if (is_text && name == "phase") {
        delta.phase = in.string();
      } else if (is_text && name == "status") {
        delta.status = in.string();
      } else {
        in.skip();
      }
    }
  }
}

// What a frame that the scripted model wrote says. Empty when it is no such frame.
Delta read_frame(std::string_view json) {
  Delta delta;
  json::Reader in(json);
  if (in.peek() != json::Kind::object) return {};
  for (std::string_view key; in.next_member(key);) {
    if (key != "choices" || in.peek() != json::Kind::array) {
      in.skip();
      continue;
    }
    while (in.next_element()) {
      if (in.peek() == json::Kind::object) {
        read_choice(in, delta);
      } else {
        in.skip();
      }
    }
  }
  return in.finish() ? delta : Delta{};
}

}  // namespace

std::string QwenWebChats::start() {
  std::string id = "chat-" + std::to_string(++chats_started_);
  chats_.try_emplace(id);
  order_.push_back(id);
  if (order_.size() > max_chats_) {
    chats_.erase(order_.front());
    order_.pop_front();
  }
  std::string out = R"({"success":true,"request_id":"req-1","data":{"id":)";
  json::append_string(out, id);
  return out + "}}";
}

// A parent is an answer, or by the older rule the message that the answer follows.
std::optional<std::size_t> QwenWebChats::find_answer(const Chat& chat, std::string_view id) {
  for (std::size_t i = chat.nodes.size(); i-- > 0;) {
    const Node& node = chat.nodes[i];
    if (!node.is_answer) continue;
    if (node.id == id || chat.nodes[*node.parent].id == id) return i;
  }
  return std::nullopt;
}

std::vector<Message> QwenWebChats::path_to(const Chat& chat, std::size_t node) {
  std::vector<Message> messages;
  for (std::optional<std::size_t> at = node; at; at = chat.nodes[*at].parent) {
    Message& message = messages.emplace_back();
    message.role = chat.nodes[*at].is_answer ? Role::assistant : Role::user;
    json::append_string(message.content.text, chat.nodes[*at].content);
  }
  std::reverse(messages.begin(), messages.end());
  return messages;
}

Result<QwenWebChats::Posted> QwenWebChats::post(std::string_view body) {
  auto read = read_qwen_web_post(body);
  if (!read) return tl::unexpected(read.error());
  const auto found = chats_.find(read->chat_id);
  if (found == chats_.end()) {
    return fail(ErrorCode::not_found, "there is no chat " + read->chat_id);
  }
  Chat& chat = found->second;
  std::optional<std::size_t> parent;
  if (!read->parent_id.empty()) {
    parent = find_answer(chat, read->parent_id);
    if (!parent) return fail(ErrorCode::not_found, "there is no parent " + read->parent_id);
  }
  if (chat.running > 0) ++chat.overlaps;
  const std::string number = std::to_string(++nodes_added_);
  const std::size_t message = chat.nodes.size();
  chat.nodes.push_back({.id = "msg-" + number, .parent = parent, .content = read->content});
  chat.nodes.push_back({.id = "resp-" + number,
                        .parent = message,
                        .is_answer = true,
                        .status = Node::Status::running,
                        .frames = std::make_unique<SseDecoder>()});
  ++chat.running;
  Posted posted;
  posted.place = {.chat_id = read->chat_id,
                  .parent_id = chat.nodes[message].id,
                  .response_id = chat.nodes[message + 1].id};
  posted.request.model = read->model;
  posted.request.messages = path_to(chat, message);
  posted.request.stream = read->stream;
  posted.request.include_usage = true;
  return posted;
}

QwenWebChats::Node* QwenWebChats::find(const ReplyPlace& place, Chat*& chat) {
  const auto found = chats_.find(place.chat_id);
  if (found == chats_.end()) return nullptr;
  chat = &found->second;
  for (auto node = chat->nodes.rbegin(); node != chat->nodes.rend(); ++node) {
    if (node->id == place.response_id) return &*node;
  }
  return nullptr;
}

void QwenWebChats::sent(const ReplyPlace& place, std::string_view bytes) {
  Chat* chat = nullptr;
  Node* node = find(place, chat);
  if (node == nullptr || node->frames == nullptr) return;
  node->frames->push(bytes, [&](const SseFrame& frame) { take_frame(*node, frame.data); });
  if (node->status == Node::Status::finished) end(place);
}

void QwenWebChats::take_frame(Node& node, std::string_view json) {
  const Delta delta = read_frame(json);
  if (delta.phase != "answer") return;
  node.content += delta.content;
  if (delta.status == "finished") node.status = Node::Status::finished;
}

void QwenWebChats::end(const ReplyPlace& place) {
  Chat* chat = nullptr;
  Node* node = find(place, chat);
  if (node == nullptr || node->frames == nullptr) return;
  node->frames.reset();
  if (node->status == Node::Status::running) node->status = Node::Status::cut;
  --chat->running;
}

std::optional<std::string> QwenWebChats::print(std::string_view chat_id) const {
  const auto found = chats_.find(chat_id);
  if (found == chats_.end()) return std::nullopt;
  const Chat& chat = found->second;
  std::string out = R"({"success":true,"data":{"id":)";
  json::append_string(out, chat_id);
  out += ",\"overlaps\":" + std::to_string(chat.overlaps) + ",\"messages\":[";
  for (const Node& node : chat.nodes) {
    if (out.back() == '}') out.push_back(',');
    json::ObjectWriter object(out);
    object.string("id", node.id);
    if (node.parent) {
      object.string("parent_id", chat.nodes[*node.parent].id);
    } else {
      object.null("parent_id");
    }
    object.string("role", node.is_answer ? "assistant" : "user");
    object.string("content", node.content);
    object.string("status", node.status == Node::Status::running    ? "running"
                            : node.status == Node::Status::finished ? "finished"
                                                                    : "cut");
    object.close();
  }
  return out + "]}}";
}

std::string QwenWebChats::list() const {
  std::string out = R"({"success":true,"data":[)";
  for (const std::string& id : order_) {
    if (out.back() == '}') out.push_back(',');
    out += "{\"id\":";
    json::append_string(out, id);
    out.push_back('}');
  }
  return out + "]}";
}

}  // namespace callgate::script
