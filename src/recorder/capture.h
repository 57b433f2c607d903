// Capture: collects what passes in one request, up to a limit, and hands it to the writer. On the loop's thread only.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/pipeline.h"
#include "config/config.h"
#include "dial/upstream_call.h"
#include "net/http.h"
#include "recorder/capture_writer.h"
#include "recorder/recent_captures.h"

namespace callgate::server {

inline constexpr std::string_view kCaptureHeader = "x-callgate-capture";

// Whether a request is captured: its model is configured to be, or its header asks for it. `key` is nullptr on an open
// gateway. Fails when the header asks and may not, or when captures have nowhere to go.
Result<bool> wants_capture(const Config& config, std::string_view header, const KeyConfig* key,
                           std::string_view model);

class Capture {
 public:
  struct Start {
    std::string request_id;
    std::string key;  // the name of the client's; empty: none
    std::int64_t time_ms = 0;
    std::string model;
    std::string protocol;
    std::shared_ptr<const std::vector<std::string>> secrets;
    // Only what replaying it takes, for RecentCaptures: not what the client said and got.
    bool brief = false;
    bool answer = false;  // a brief one has what the client got all the same
  };
  // Nothing when captures hold too much memory already; that is counted unless it is brief. REQUIRES: the writer and `config` outlive it.
  static std::unique_ptr<Capture> make(CaptureWriter& writer, const CaptureConfig& config,
                                       Start start);
  // A capture that was not finished ends as `interrupted`.
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  void client_asked(const net::RequestHead& head, std::string_view body);
  void client_got(int status, const net::Headers& headers, std::string_view body);
  void client_got(std::string_view bytes);
  void client_got_comment(std::string_view bytes);
  // What the pipeline of this attempt is made with. The times that it asks for are captured as well: the capture outlives
  // the pipeline.
  void made_pipeline(PipelineOptions& options);
  // The same for a turn of a tool loop.
  void begin_round(const Request& request, const PipelineOptions& options);
  // The gateway ended the turn, or let held back reasoning go, because it was time to.
  void cut();
  void release_reasoning();
  // The gateway stopped waiting for the upstream.
  void gave_up(const Error& error) { add_failure(error); }
  // A brief one has no body of the client's request: before its end it gets what shaped the turn.
  void keep_request(const Request& request);
  // As far as it has come, with what shaped the turn.
  CaptureJob look(const Request& request) const;
  // `recent` also keeps it; nullptr: the turn is not worth keeping. A brief capture goes nowhere else.
  void finish(std::string_view end, RecentCaptures* recent = nullptr,
              RecentCaptures::Why why = RecentCaptures::Why::suspicious);

 private:
  friend class CapturedCall;
  Capture(CaptureWriter& writer, const CaptureConfig& config, Start start);
  void add_head(Direction direction, CapturedHead head);
  void add_bytes(Direction direction, std::string_view bytes);
  // More bytes of the last line.
  void join(std::string_view bytes);
  void add_failure(const Error& error);
  void add_mark(CaptureLine::Kind kind);
  void add(Direction direction, CaptureLine line);
  // Room for a line with `size` bytes; else the capture is truncated here.
  bool take(std::size_t size) { return take(size, sizeof(CaptureLine) + size); }
  bool take(std::size_t size, std::size_t memory);
  std::int64_t elapsed_us() const;

  CaptureWriter& writer_;
  const CaptureConfig& config_;
  CaptureJob job_;
  bool brief_;
  bool answer_;  // what the client gets is part of it
  std::uint64_t used_ = 0;
  bool finished_ = false;
  std::chrono::steady_clock::time_point begin_;
};

// A call whose bytes also go into a capture.
class CapturedCall final : public UpstreamCall {
 public:
  // REQUIRES: all of them outlive it.
  CapturedCall(UpstreamCall& call, Capture& capture, const UpstreamConfig& upstream)
      : call_(call), capture_(capture), upstream_(upstream) {}

  EventSink* observer() override { return call_.observer(); }
  net::Task<Result<void>> send(const Request& asked, const UpstreamRequest& request) override;
  int status() const override { return call_.status(); }
  std::string_view header(std::string_view name) const override { return call_.header(name); }
  net::Headers headers() const override { return call_.headers(); }
  net::Task<Result<Piece>> read(net::Millis patience) override;
  net::Task<> settle() override { return call_.settle(); }
  void cancel() override { call_.cancel(); }

 private:
  UpstreamCall& call_;
  Capture& capture_;
  const UpstreamConfig& upstream_;
};

}  // namespace callgate::server
