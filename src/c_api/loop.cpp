#include "callgate/loop.h"

#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "c_api/event_queue.h"
#include "c_api/guard.h"
#include "c_api/loop_tools.h"
#include "callgate/pipeline.h"
#include "chat/message_json.h"
#include "client/protocol.h"
#include "upstream/wire_format.h"

namespace callgate::c_api {

// An action that owns its texts.
struct KeptAction {
  callgate_action_kind kind = CALLGATE_LOOP_FINISHED;
  std::uint32_t id = 0;
  std::int64_t deadline = 0;
  std::string name = {};
  std::string call_id = {};
  std::string text = {};
};

class LoopClient final : public loop::ClientSink {
 public:
  void accept(const Event& event) override { queue.accept(event); }
  void notice(const loop::Notice&) override {}  // the owner learns the same from its actions

  EventQueue queue;
};

// Hands a turn's events to the loop. That a turn failed is not its end: the loop may have it asked again.
class LoopTurnSink final : public EventSink {
 public:
  explicit LoopTurnSink(loop::ToolLoop& loop) : loop_(loop) {}
  void accept(const Event& event) override {
    const auto* finish = std::get_if<TurnFinished>(&event);
    if (finish != nullptr && finish->reason == FinishReason::upstream_error) return;
    loop_.accept(event);
  }

 private:
  loop::ToolLoop& loop_;
};

// The model's answer to one request of the loop, while it arrives.
struct OpenTurn {
  OpenTurn(std::uint32_t number_in, Request request_in, loop::ToolLoop& loop)
      : number(number_in), request(std::move(request_in)), sink(loop) {}

  std::uint32_t number;
  Request request;
  LoopTurnSink sink;
  std::optional<Pipeline> pipeline;
  std::string nothing;  // the events go to the sink, and no bytes here
};

}  // namespace callgate::c_api

struct callgate_loop {
  std::size_t unread() const { return client.queue.unread(); }

  callgate::c_api::LoopClient client;
  std::optional<callgate::loop::ToolLoop> loop;
  const callgate::WireFormat* wire = nullptr;
  const callgate::Dialect* dialect = nullptr;
  std::uint64_t id_seed = 0;
  std::unique_ptr<callgate::c_api::OpenTurn> turn;
  std::deque<callgate::c_api::KeptAction> actions;
  callgate::c_api::KeptAction current;  // the last one that was read
  std::size_t max_unread = callgate::c_api::kMaxUnread;
  bool started = false;
  bool failed = false;
};

namespace callgate::c_api {
namespace {

Result<std::unique_ptr<callgate_loop>> make_loop(const callgate_loop_options* given) {
  const Result<callgate_loop_options> options = read_options(given);
  if (!options) return tl::unexpected(options.error());
  auto made = std::make_unique<callgate_loop>();
  made->max_unread = or_default(options->max_unread, kMaxUnread);
  made->id_seed = options->id_seed;
  made->wire = upstream::find(options->wire == nullptr ? "openai_chat" : options->wire);
  if (made->wire == nullptr) return fail(ErrorCode::invalid_request, "wire: unknown");
  if (options->dialect != nullptr) {
    made->dialect = dialect::find(options->dialect);
    if (made->dialect == nullptr) return fail(ErrorCode::invalid_request, "dialect: unknown");
  }
  if (options->request == nullptr) return fail(ErrorCode::invalid_request, "request: missing");
  Result<Request> request = client::find("openai_chat")->decode({.body = options->request});
  if (!request) return tl::unexpected(request.error());
  Result<std::vector<loop::Tool>> tools = read_loop_tools(view(options->tools));
  if (!tools) return tl::unexpected(tools.error());

  loop::Options how{.memory = loop::Memory::none, .id_seed = options->id_seed};
  const auto set = [&](std::string_view name, std::string_view value) {
    return loop::set_option(how, name, value);
  };
  if (auto done = read_settings(options->settings, "settings", set); !done) {
    return tl::unexpected(done.error());
  }
  std::optional<loop::State> state;
  if (options->state != nullptr) {
    Result<loop::State> read = loop::decode_state(options->state);
    if (!read) return tl::unexpected(read.error());
    state = std::move(*read);
  }
  auto loop = loop::ToolLoop::make(std::move(*request), std::move(how), std::move(*tools),
                                   made->client, {}, std::move(state));
  if (!loop) return tl::unexpected(loop.error());
  made->loop.emplace(std::move(*loop));
  return made;
}

std::string print_calls(const std::vector<CallRecord>& calls) {
  std::string out;
  append_list(out, calls, [&](const CallRecord& call) {
    append_call(out, call.id, call.name, call.arguments,
                [&](json::ObjectWriter& object) { append_extra(object, call.extra); });
  });
  return out;
}

// Opens the turn that the loop asks for. A request that cannot be written in the wire format fails at once.
void call_model(callgate_loop& handle, loop::CallModel call, std::int64_t now) {
  auto body = handle.wire->encode(
      call.request, {.model = call.request.model, .key = {}, .auth = {}, .stream = true});
  if (!body) return handle.loop->fail_turn(call.turn, body.error(), now);
  handle.turn = std::make_unique<OpenTurn>(call.turn, std::move(call.request), *handle.loop);
  PipelineOptions how;
  how.wire = handle.wire->name;
  how.dialect = handle.dialect;
  how.id_seed = handle.id_seed + call.turn;
  how.sink = &handle.turn->sink;
  handle.turn->pipeline.emplace(*Pipeline::make(handle.turn->request, std::move(how)));
  handle.actions.push_back(
      {.kind = CALLGATE_CALL_MODEL, .id = call.turn, .text = std::move(body->body)});
}

void keep(callgate_loop& handle, loop::Action action, std::int64_t now) {
  std::visit(Overloaded{
                 [&](loop::CallModel& a) { call_model(handle, std::move(a), now); },
                 [&](loop::StopModel& a) {
                   handle.turn.reset();
                   handle.actions.push_back({.kind = CALLGATE_STOP_MODEL, .id = a.turn});
                 },
                 [&](loop::RunTool& a) {
                   handle.actions.push_back({CALLGATE_RUN_TOOL, a.run, a.deadline, a.name,
                                             a.call_id, std::move(a.arguments)});
                 },
                 [&](loop::CancelTool& a) {
                   handle.actions.push_back({.kind = CALLGATE_CANCEL_TOOL, .id = a.run});
                 },
                 [&](loop::WaitForApproval& a) {
                   handle.actions.push_back({CALLGATE_ASK_APPROVAL, a.run, a.deadline, a.name,
                                             a.call_id, std::move(a.arguments)});
                 },
                 [&](loop::ReturnToClient& a) {
                   handle.actions.push_back({.kind = CALLGATE_RETURN_CALLS,
                                             .name = loop::encode_state(a.state),
                                             .text = print_calls(a.calls)});
                 },
                 [&](loop::Finish& a) {
                   handle.actions.push_back({.kind = CALLGATE_LOOP_FINISHED,
                                             .name = std::string(loop::to_string(a.end)),
                                             .text = a.error ? a.error->message : ""});
                 },
             },
             action);
}

// Runs `act` on a loop that has started, then collects what it wants done. A turn that was open is dropped only here, never
// from inside its own pipeline.
template <class Act>
callgate_status drive_loop(callgate_loop* handle, std::int64_t now, Act act) {
  return guarded(handle, [&] {
    if (!handle->started) return CALLGATE_WRONG_STATE;
    act(*handle->loop);
    for (auto actions = handle->loop->take_actions(); !actions.empty();
         actions = handle->loop->take_actions()) {
      for (loop::Action& action : actions) keep(*handle, std::move(action), now);
    }
    return CALLGATE_OK;
  });
}

// As drive_loop(), for something that happened to a turn of the model; nothing if that is not the current one.
template <class Act>
callgate_status drive_loop_turn(callgate_loop* handle, std::uint32_t number, std::int64_t now,
                                Act act) {
  return drive_loop(handle, now, [&](loop::ToolLoop& loop) {
    if (handle->turn == nullptr || handle->turn->number != number || loop.finished()) return;
    loop.on_time(now);
    OpenTurn& turn = *handle->turn;
    act(turn);
    if (!turn.pipeline->finished()) return;
    if (const auto& error = turn.pipeline->error()) loop.fail_turn(number, *error, now);
    handle->turn.reset();
  });
}

}  // namespace

// The functions of callgate.h: one with C linkage is the same in every namespace.
extern "C" {

CALLGATE_API callgate_loop* callgate_loop_new(const callgate_loop_options* options,
                                              callgate_error* error) {
  return make_handle<callgate_loop>(error, [&] { return make_loop(options); });
}

CALLGATE_API callgate_status callgate_loop_start(callgate_loop* handle, int64_t now) {
  if (handle == nullptr) return CALLGATE_INVALID;
  if (std::exchange(handle->started, true)) return CALLGATE_WRONG_STATE;
  return drive_loop(handle, now, [&](loop::ToolLoop& to) { to.start(now); });
}

CALLGATE_API int callgate_loop_next_action(callgate_loop* handle, callgate_action* action) {
  if (handle == nullptr || action == nullptr || handle->actions.empty()) return 0;
  KeptAction& current = handle->current;
  current = std::move(handle->actions.front());
  handle->actions.pop_front();
  *action = {.kind = static_cast<uint32_t>(current.kind),
             .id = current.id,
             .deadline = current.deadline,
             .name = current.name.data(),
             .name_size = current.name.size(),
             .call_id = current.call_id.data(),
             .call_id_size = current.call_id.size(),
             .text = current.text.data(),
             .text_size = current.text.size()};
  return 1;
}

CALLGATE_API int callgate_loop_next(callgate_loop* handle, callgate_event* event) {
  return handle != nullptr && event != nullptr && handle->client.queue.next(*event) ? 1 : 0;
}

CALLGATE_API callgate_status callgate_loop_push(callgate_loop* handle, uint32_t turn,
                                                const char* bytes, size_t size, int64_t now) {
  if (bytes == nullptr && size > 0) return CALLGATE_INVALID;
  return drive_loop_turn(handle, turn, now,
                         [&](OpenTurn& to) { to.pipeline->push(view(bytes, size), to.nothing); });
}

CALLGATE_API callgate_status callgate_loop_end_turn(callgate_loop* handle, uint32_t turn,
                                                    int64_t now) {
  return drive_loop_turn(handle, turn, now, [&](OpenTurn& to) { to.pipeline->finish(to.nothing); });
}

CALLGATE_API callgate_status callgate_loop_fail_turn(callgate_loop* handle, uint32_t turn,
                                                     const char* message, int64_t now) {
  return drive_loop_turn(handle, turn, now, [&](OpenTurn& to) {
    const Error error{.code = ErrorCode::upstream_failed, .message = std::string(view(message))};
    to.pipeline->fail(error, to.nothing);
  });
}

CALLGATE_API callgate_status callgate_loop_result(callgate_loop* handle, uint32_t run,
                                                  const char* text, size_t size, int is_error,
                                                  int64_t now) {
  if (text == nullptr && size > 0) return CALLGATE_INVALID;
  return drive_loop(handle, now, [&](loop::ToolLoop& to) {
    to.finish_run(run, {.text = std::string(view(text, size)), .is_error = is_error != 0}, now);
  });
}

CALLGATE_API callgate_status callgate_loop_decide(callgate_loop* handle, uint32_t run, int approved,
                                                  const char* reason, int64_t now) {
  return drive_loop(handle, now, [&](loop::ToolLoop& to) {
    if (approved != 0) {
      to.approve(run, now);
    } else {
      to.deny(run, view(reason), now);
    }
  });
}

CALLGATE_API callgate_status callgate_loop_cancel(callgate_loop* handle, int64_t now) {
  return drive_loop(handle, now, [&](loop::ToolLoop& to) { to.cancel(now); });
}

CALLGATE_API int64_t callgate_loop_deadline(const callgate_loop* handle) {
  if (handle == nullptr || handle->failed || !handle->started) return -1;
  return handle->loop->deadline().value_or(-1);
}

CALLGATE_API callgate_status callgate_loop_on_time(callgate_loop* handle, int64_t now) {
  return drive_loop(handle, now, [&](loop::ToolLoop& to) { to.on_time(now); });
}

CALLGATE_API int callgate_loop_finished(const callgate_loop* handle) {
  return handle == nullptr || handle->failed || handle->loop->finished() ? 1 : 0;
}

CALLGATE_API void callgate_loop_free(callgate_loop* handle) { delete handle; }

}  // extern "C"

}  // namespace callgate::c_api
