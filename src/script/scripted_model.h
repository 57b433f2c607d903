// The scripted model: a request in, a reply out. The same request gives the same bytes. Rendered replies are kept, so
// that a bench measures the gateway and not its upstream.
//
//   ScriptedModel model(*parse_script(text));
//   Reply reply = model.reply(request);
//   while (auto action = reply.next()) perform(*action);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "callgate/request.h"
#include "script/fault.h"
#include "script/render.h"
#include "script/reply/reply.h"
#include "script/script.h"

namespace callgate::script {

struct ReplyOptions {
  std::string_view wire = "openai_chat";
  Faults faults;               // on top of the script's own
  CallText call_text;          // set: calls leave as text
  ReplyPlace place;            // set: the reply is not kept, since no other has its place
  std::string_view form = {};  // Request::form of the answer, where the wire format has several
};

// Not for several threads at once: `times` counts requests. Replies are independent of the model and of each other.
class ScriptedModel {
 public:
  explicit ScriptedModel(Script script);
  // Several models may play one script.
  explicit ScriptedModel(std::shared_ptr<const Script> script);

  // The first rule that matches answers. No rule, or a wire format that no encoder knows: a whole answer with an
  // error status that says so.
  Reply reply(const Request& request, const ReplyOptions& options = {});

  const Script& script() const { return *script_; }

 private:
  struct Match {
    const Rule* rule = nullptr;
    std::size_t index = 0;
  };
  Match match(const Request& request);
  const std::string& key_of(const Match& match, const Request& request, const ReplyOptions& options,
                            std::uint32_t turn);
  void keep(const std::string& key, const std::shared_ptr<const Rendering>& rendering);

  std::shared_ptr<const Script> script_;
  std::vector<std::uint32_t> uses_;  // per rule
  std::unordered_map<std::string, std::shared_ptr<const Rendering>> kept_;
  std::size_t kept_bytes_ = 0;
  std::string key_;
};

// What plays the demo: the demo model, paced and cut so that a person sees it stream.
std::string_view demo_script();

}  // namespace callgate::script
