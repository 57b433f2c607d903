#include <cstdint>
#include <utility>
#include <vector>

#include "c_api/event_queue.h"
#include "c_api/guard.h"
#include "callgate/dialect.h"
#include "callgate/version.h"
#include "chat/finish_reason.h"
#include "chat/tool_json.h"
#include "dialect/models.h"

struct callgate_parser final : callgate::EventSink {
  // Counts calls on their way to the queue.
  void accept(const callgate::Event& event) override {
    if (const auto* end = std::get_if<callgate::CallFinished>(&event)) tally.add(end->outcome);
    queue.accept(event);
  }
  std::size_t unread() const { return queue.unread(); }

  std::vector<callgate::ToolSpec> tools;
  std::unique_ptr<callgate::DialectParser> parser;
  callgate::c_api::EventQueue queue;
  callgate::CallTally tally;
  std::size_t max_unread = callgate::c_api::kMaxUnread;
  bool finished = false;
  bool failed = false;
};

namespace callgate::c_api {
namespace {

Result<const Dialect*> choose_dialect(const char* name, const char* model) {
  if (name == nullptr) {
    const Dialect* chosen = model == nullptr ? nullptr : dialect::default_for(model);
    return chosen == nullptr ? dialect::find("auto") : chosen;
  }
  const Dialect* found = dialect::find(name);
  if (found == nullptr) {
    return fail(ErrorCode::invalid_request,
                "dialect: there is no \"" + std::string(name) + "\", see callgate_dialect_name()");
  }
  return found;
}

Result<std::unique_ptr<callgate_parser>> make_parser(const callgate_parser_options* given) {
  const Result<callgate_parser_options> options = read_options(given);
  if (!options) return tl::unexpected(options.error());
  const Result<const Dialect*> dialect = choose_dialect(options->dialect, options->model);
  if (!dialect) return tl::unexpected(dialect.error());
  auto made = std::make_unique<callgate_parser>();
  if (options->tools != nullptr) {
    Result<std::vector<ToolSpec>> tools = read_tools(options->tools);
    if (!tools) return tl::unexpected(tools.error());
    made->tools = std::move(*tools);
  }
  made->max_unread = or_default(options->max_unread, kMaxUnread);
  DialectOptions how{.tools = made->tools};
  how.start = options->reasoning_open != 0 ? Channel::reasoning : Channel::text;
  how.commit = options->whole_calls != 0 ? Commit::whole_call : (*dialect)->commit;
  how.max_held_back = or_default(options->max_held_back, how.max_held_back);
  const bool none = options->tools != nullptr && made->tools.empty();
  made->parser = none ? dialect::make_without_calls(**dialect, how) : (*dialect)->make(how);
  return made;
}

}  // namespace

// The functions of callgate.h: one with C linkage is the same in every namespace.
extern "C" {

CALLGATE_API const char* callgate_version(void) { return kVersion; }

// Names of dialects are literals, so that a zero follows them.
CALLGATE_API const char* callgate_dialect_name(size_t index) {
  const auto all = dialect::all();
  return index < all.size() ? all[index]->name.data() : nullptr;
}

CALLGATE_API const char* callgate_dialect_for(const char* model) {
  try {
    const Dialect* chosen = dialect::default_for(view(model));
    return chosen == nullptr ? "auto" : chosen->name.data();
  } catch (...) {
    return "auto";
  }
}

CALLGATE_API callgate_parser* callgate_parser_new(const callgate_parser_options* options,
                                                  callgate_error* error) {
  return make_handle<callgate_parser>(error, [&] { return make_parser(options); });
}

CALLGATE_API callgate_status callgate_parser_push(callgate_parser* parser, int channel,
                                                  const char* text, size_t size) {
  return guarded(parser, [&] {
    if (parser->finished) return CALLGATE_WRONG_STATE;
    if (channel != CALLGATE_TEXT && channel != CALLGATE_REASONING) return CALLGATE_INVALID;
    if (text == nullptr && size > 0) return CALLGATE_INVALID;
    if (size == 0) return CALLGATE_OK;
    const Channel from = channel == CALLGATE_TEXT ? Channel::text : Channel::reasoning;
    parser->parser->push(view(text, size), from, *parser);
    return CALLGATE_OK;
  });
}

CALLGATE_API callgate_status callgate_parser_finish(callgate_parser* parser, int reason) {
  return guarded(parser, [&] {
    if (parser->finished) return CALLGATE_WRONG_STATE;
    if (reason < CALLGATE_STOP || reason > CALLGATE_UPSTREAM_ERROR) return CALLGATE_INVALID;
    const auto said = static_cast<FinishReason>(reason);
    if (!ends_normally(said)) parser->parser->cut_off();
    parser->finished = true;
    parser->parser->finish(*parser);
    parser->queue.accept(TurnFinished{settle(said, parser->tally)});
    return CALLGATE_OK;
  });
}

CALLGATE_API int callgate_parser_next(callgate_parser* parser, callgate_event* event) {
  return parser != nullptr && event != nullptr && parser->queue.next(*event) ? 1 : 0;
}

CALLGATE_API const char* callgate_parser_settled_on(const callgate_parser* parser) {
  if (parser == nullptr) return "";
  const std::string_view name = parser->parser->settled_on();
  return name.empty() ? "" : name.data();
}

CALLGATE_API void callgate_parser_free(callgate_parser* parser) { delete parser; }

}  // extern "C"

}  // namespace callgate::c_api
