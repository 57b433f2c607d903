// What the tests of this room share: requests, and a reply played to its end.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "json/writer.h"
#include "script/scripted_model.h"

namespace callgate::script {

inline Message message(Role role, std::string_view text) {
  Message made{.role = role};
  json::append_string(made.content.text, text);
  return made;
}

inline Request user_request(std::string_view text = "Hi", bool stream = true) {
  Request request{.model = "m", .stream = stream};
  request.messages.push_back(message(Role::user, text));
  return request;
}

inline Script script_of(std::string_view text) {
  Result<Script> script = parse_script(text);
  EXPECT_TRUE(script.has_value()) << (script ? "" : script.error().message);
  return script ? *script : Script{};
}

// A reply as text: bytes as they are, and the other actions as lines such as [wait 20].
struct Played {
  std::string bytes;
  std::vector<std::string> actions;  // "write N", "wait N", "respond N", "reset", "close", "hang"
  std::string body;
};

inline Played play(Reply reply) {
  Played played;
  while (const std::optional<Action> action = reply.next()) {
    std::visit(Overloaded{
                   [&](const Write& a) {
                     played.bytes += a.bytes;
                     played.actions.push_back("write " + std::to_string(a.bytes.size()));
                   },
                   [&](const Wait& a) {
                     played.actions.push_back("wait " + std::to_string(a.milliseconds));
                   },
                   [&](const Respond& a) {
                     played.body = a.body;
                     played.actions.push_back("respond " + std::to_string(a.status));
                   },
                   [&](const Reset&) { played.actions.push_back("reset"); },
                   [&](const Close&) { played.actions.push_back("close"); },
                   [&](const Hang&) { played.actions.push_back("hang"); },
               },
               *action);
  }
  return played;
}

inline Played play(std::string_view script, const Request& request = user_request(),
                   const ReplyOptions& options = {}) {
  return play(ScriptedModel(script_of(script)).reply(request, options));
}

// The data of each `data: ` line.
inline std::vector<std::string> frames_of(std::string_view bytes) {
  std::vector<std::string> frames;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find("\n\n"), bytes.size());
    const std::string_view frame = bytes.substr(0, end);
    if (frame.starts_with("data: ")) frames.emplace_back(frame.substr(6));
    bytes.remove_prefix(std::min(end + 2, bytes.size()));
  }
  return frames;
}

inline std::size_t count_in(std::string_view text, std::string_view wanted) {
  std::size_t count = 0;
  for (std::size_t at = text.find(wanted); at != std::string_view::npos;
       at = text.find(wanted, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace callgate::script
