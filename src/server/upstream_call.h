// One request to an upstream and its answer, whether the upstream is a server or the model inside the process.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "net/client.h"
#include "net/loop.h"
#include "net/task.h"
#include "script/script.h"
#include "server/config.h"
#include "upstream/wire_format.h"

namespace callgate::server {

class UpstreamCall {
 public:
  virtual ~UpstreamCall() = default;

  // Sends the request; completes with the head of the answer. `request` stays valid until then.
  virtual net::Task<Result<void>> send(const Request& asked, const UpstreamRequest& request) = 0;
  virtual int status() const = 0;
  // The value of a header of the answer, empty when there is none.
  virtual std::string_view header(std::string_view name) const = 0;
  // All of them.
  virtual net::Headers headers() const = 0;

  struct Piece {
    std::string_view bytes;  // valid until the caller next waits; empty at the end
    bool waiting = false;    // `patience` ran out, nothing is wrong, nothing was read
  };
  // The next bytes of the answer. kNever as patience waits for them, up to the upstream's own timeouts.
  virtual net::Task<Result<Piece>> read(net::Millis patience) = 0;

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

// For an upstream with a URL.
Result<std::unique_ptr<UpstreamTarget>> make_http_target(net::Loop& loop,
                                                         const UpstreamConfig& config);
// For config.is_scripted(): plays the script file in `config.url`, or the demo model when that names none. A model whose
// configuration names a dialect that writes calls as text does so.
Result<std::unique_ptr<UpstreamTarget>> make_script_target(net::Loop& loop,
                                                           const UpstreamConfig& config);

// The script in that file, or the demo model's when the name is empty.
Result<script::Script> load_script(const std::string& file);

}  // namespace callgate::server
