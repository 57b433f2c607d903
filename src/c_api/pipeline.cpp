#include "callgate/pipeline.h"

#include <optional>
#include <utility>

#include "c_api/guard.h"
#include "client/protocol.h"

struct callgate_pipeline {
  std::size_t unread() const { return out.size(); }

  callgate::Request request;
  std::optional<callgate::Pipeline> pipeline;
  std::string out;    // not taken yet
  std::string taken;  // what the last take() gave away
  std::string error;
  std::size_t max_unread = callgate::c_api::kMaxUnread;
  bool ended = false;
  bool failed = false;
};

namespace callgate::c_api {
namespace {

Result<Request> read_request(const callgate_pipeline_options& options, std::string_view protocol) {
  const Protocol* found = client::find(protocol);
  if (found == nullptr) {
    return fail(ErrorCode::invalid_request, "protocol: unknown: " + std::string(protocol));
  }
  if (options.request == nullptr) return fail(ErrorCode::invalid_request, "request: missing");
  Result<Request> request =
      found->decode({.body = view(options.request), .path = view(options.path)});
  if (!request) return fail(ErrorCode::invalid_request, "request: " + request.error().message);
  return request;
}

Result<PipelineOptions> pipeline_options(const callgate_pipeline_options& options) {
  PipelineOptions how;
  if (options.wire != nullptr) how.wire = options.wire;
  if (options.protocol != nullptr) how.protocol = options.protocol;
  if (options.dialect != nullptr) {
    how.dialect = dialect::find(options.dialect);
    if (how.dialect == nullptr) {
      return fail(ErrorCode::invalid_request,
                  "dialect: there is no \"" + std::string(options.dialect) + "\"");
    }
  }
  how.model = view(options.model);
  how.created = options.created;
  how.id_seed = options.id_seed;
  how.max_held_back = or_default(options.max_held_back, how.max_held_back);
  how.max_frame = or_default(options.max_frame, how.max_frame);
  how.max_body = or_default(options.max_body, how.max_body);
  const auto set = [&](std::string_view name, std::string_view value) {
    return set_policy(how.policy, name, value);
  };
  if (auto done = read_settings(options.policies, "policies", set); !done) {
    return tl::unexpected(done.error());
  }
  return how;
}

Result<std::unique_ptr<callgate_pipeline>> make_pipeline(const callgate_pipeline_options* given) {
  const Result<callgate_pipeline_options> options = read_options(given);
  if (!options) return tl::unexpected(options.error());
  Result<PipelineOptions> how = pipeline_options(*options);
  if (!how) return tl::unexpected(how.error());
  Result<Request> request = read_request(*options, how->protocol);
  if (!request) return tl::unexpected(request.error());

  auto made = std::make_unique<callgate_pipeline>();
  made->request = std::move(*request);
  made->max_unread = or_default(options->max_unread, kMaxUnread);
  Result<Pipeline> pipeline = Pipeline::make(made->request, std::move(*how));
  if (!pipeline) return tl::unexpected(pipeline.error());
  made->pipeline.emplace(std::move(*pipeline));
  return made;
}

// Runs `act` on a pipeline whose turn is not over, and keeps the error that it may have met.
template <class Act>
callgate_status drive_pipeline(callgate_pipeline* handle, bool last, Act act) {
  return guarded(handle, [&] {
    if (handle->ended) return CALLGATE_WRONG_STATE;
    handle->ended = last;
    act(*handle->pipeline);
    if (handle->error.empty() && handle->pipeline->error()) {
      handle->error = handle->pipeline->error()->message;
    }
    return CALLGATE_OK;
  });
}

}  // namespace

// The functions of callgate.h: one with C linkage is the same in every namespace.
extern "C" {

CALLGATE_API callgate_pipeline* callgate_pipeline_new(const callgate_pipeline_options* options,
                                                      callgate_error* error) {
  return make_handle<callgate_pipeline>(error, [&] { return make_pipeline(options); });
}

CALLGATE_API callgate_status callgate_pipeline_push(callgate_pipeline* pipeline, const char* bytes,
                                                    size_t size) {
  if (bytes == nullptr && size > 0) return CALLGATE_INVALID;
  return drive_pipeline(pipeline, false,
                        [&](Pipeline& to) { to.push(view(bytes, size), pipeline->out); });
}

CALLGATE_API callgate_status callgate_pipeline_finish(callgate_pipeline* pipeline) {
  return drive_pipeline(pipeline, true, [&](Pipeline& to) { to.finish(pipeline->out); });
}

CALLGATE_API callgate_status callgate_pipeline_fail(callgate_pipeline* pipeline,
                                                    const char* message) {
  return drive_pipeline(pipeline, true, [&](Pipeline& to) {
    const Error error{.code = ErrorCode::upstream_failed, .message = std::string(view(message))};
    to.fail(error, pipeline->out);
  });
}

CALLGATE_API size_t callgate_pipeline_take(callgate_pipeline* pipeline, const char** bytes) {
  if (pipeline == nullptr || bytes == nullptr) return 0;
  pipeline->taken.clear();
  std::swap(pipeline->taken, pipeline->out);
  *bytes = pipeline->taken.data();
  return pipeline->taken.size();
}

CALLGATE_API int callgate_pipeline_finished(const callgate_pipeline* pipeline) {
  return pipeline == nullptr || pipeline->failed || pipeline->pipeline->finished() ? 1 : 0;
}

CALLGATE_API const char* callgate_pipeline_error(const callgate_pipeline* pipeline) {
  return pipeline == nullptr || pipeline->error.empty() ? nullptr : pipeline->error.c_str();
}

CALLGATE_API void callgate_pipeline_free(callgate_pipeline* pipeline) { delete pipeline; }

}  // extern "C"

}  // namespace callgate::c_api
