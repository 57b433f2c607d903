// One request to an upstream and its answer, whether the upstream is a server or the model inside the process.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "config/config.h"
#include "dial/scripted_chats.h"
#include "net/client.h"
#include "net/loop.h"
#include "net/task.h"
#include "script/render.h"
#include "script/script.h"
#include "upstream/wire_format.h"

namespace callgate::server {

class Credential;

inline net::Millis limit(Milliseconds value) { return net::Millis(value.count()); }

// Says whether an upstream that keeps sessions began one for this answer or went on with one: new, continued, branched, recovered.
inline constexpr std::string_view kSessionStateHeader = "x-callgate-session-state";
// The id of its session there. A client may send it back to say which conversation it means.
inline constexpr std::string_view kSessionHeader = "x-callgate-session";

// How often upstreams were asked for this answer.
inline constexpr std::string_view kAttemptsHeader = "x-callgate-attempts";

// Where a request comes from, for upstreams that keep conversations.
struct Origin {
  const Request& prompt;      // what is encoded: what was asked, with whatever was rendered into it
  std::string_view key_name;  // of the client's key, empty on an open gateway
  std::string_view session;   // as the client names its conversation, may be empty
  std::string_view request{};  // the id of the request
};

class UpstreamCall {
 public:
  virtual ~UpstreamCall() = default;

  // Before send(). The prompt stays valid until send() is done.
  virtual void set_origin(const Origin&) {}
  // What wants to see the events that the client gets. It lives as long as the call. nullptr: nothing.
  virtual EventSink* observer() { return nullptr; }

  // Sends the request; completes with the head of the answer. Both stay valid until then. `asked` is what the client
  // itself wrote; `request` is encoded from the prompt.
  virtual net::Task<Result<void>> send(const Request& asked, const UpstreamRequest& request) = 0;
  virtual int status() const = 0;
  // The value of a header of the answer; empty if it is missing.
  virtual std::string_view header(std::string_view name) const = 0;
  // All of them.
  virtual net::Headers headers() const = 0;

  using Piece = net::Piece;
  // The next bytes of the answer. kNever as patience waits for them, up to the upstream's own timeouts.
  virtual net::Task<Result<Piece>> read(net::Millis patience) = 0;

  // The body that was really sent, where that is not the request's; once. Empty: it is the request's.
  virtual std::string take_sent() { return {}; }

  // The client will get no more events: whatever its next request needs is kept. Done before the client gets the end of
  // its answer. A call that is not settled settles itself when it is destroyed, without waiting.
  virtual net::Task<> settle() { co_return; }

  // Ends the call now; what waits for it fails soon after.
  virtual void cancel() = 0;
};

// What a loop needs to call one upstream: parsed once, when the configuration is loaded.
class UpstreamTarget {
 public:
  virtual ~UpstreamTarget() = default;
  // A call on behalf of that model of the configuration, which outlives it.
  virtual std::unique_ptr<UpstreamCall> call(const ModelConfig& model) = 0;
};

// For an upstream with a URL. `credential`: of one whose key is not in its configuration; else nullptr.
Result<std::unique_ptr<UpstreamTarget>> make_http_target(
    net::Loop& loop, const UpstreamConfig& config, std::shared_ptr<Credential> credential = {});
// For config.is_scripted(): plays the script. A model whose configuration names a dialect that writes calls as text does
// so.
std::unique_ptr<UpstreamTarget> make_script_target(net::Loop& loop, const UpstreamConfig& config,
                                                   std::shared_ptr<const script::Script> script,
                                                   std::shared_ptr<ScriptedChats> chats);

// How calls leave as text in that dialect; nothing when it is not one that writes them so.
script::CallText call_text(std::string_view dialect);

// The file that a scripted upstream plays; empty: the demo model's script.
std::string script_file(const UpstreamConfig& config);
// The text of the script in that file, or of the demo model's when the name is empty.
Result<std::string> read_script(const std::string& file);
// The error names the file.
Result<script::Script> parse_script_of(const std::string& file, std::string_view text);
// Both.
Result<script::Script> load_script(const std::string& file);

}  // namespace callgate::server
