// The C interface of libcallgate: streamed model output in, clean tool calls out. C99, and what the shared library exports.
//
//   callgate_parser* parser = callgate_parser_new(&(callgate_parser_options){.size = sizeof(callgate_parser_options),
//                                                 .dialect = "hermes"}, NULL);
//   callgate_parser_push(parser, CALLGATE_TEXT, bytes, size);  // as often as text arrives, cut anywhere
//   callgate_parser_finish(parser, CALLGATE_STOP);
//   for (callgate_event event; callgate_parser_next(parser, &event);) use(&event);
//   callgate_parser_free(parser);
//
// Three handles: a parser (text of a model to events), a pipeline (bytes of a model server to bytes for a client) and a tool
// loop (a state machine that says when to ask the model and which tools to run). None does I/O, reads a clock or starts a
// thread.
//
// Threads: a handle belongs to one thread at a time; different handles are independent. Functions without a handle may be
// called from any thread. The library has no global state.
//
// Memory: strings that go in are copied. What comes out belongs to the handle and is valid until the next call on it.
// Texts have a length and no terminating zero. A handle keeps what was not read yet: once that is `max_unread` bytes,
// functions that would add to it do nothing and return CALLGATE_UNREAD.
//
// Failures: no exception leaves the library, and odd model output is never a failure. After CALLGATE_NO_MEMORY or
// CALLGATE_INTERNAL the handle answers CALLGATE_WRONG_STATE and can only be freed. A NULL handle is answered with
// CALLGATE_INVALID; freeing NULL does nothing.
//
// Compatibility: option structs begin with their size, so that fields can be added at their end; set it to sizeof, and all fields that
// you do not need to 0. Enums may get further values: pass over kinds of events and actions that you do not know.
// docs/library.md has the rest of the promise.
#ifndef CALLGATE_CALLGATE_H
#define CALLGATE_CALLGATE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CALLGATE_API __attribute__((visibility("default")))
#else
#define CALLGATE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum callgate_status {
  CALLGATE_OK = 0,
  CALLGATE_INVALID = 1,      // an argument is wrong; of a *_new function, the error says which
  CALLGATE_WRONG_STATE = 2,  // not now: the turn is over, or the handle failed earlier
  CALLGATE_UNREAD = 3,       // read first: callgate_*_next() or callgate_pipeline_take()
  CALLGATE_NO_MEMORY = 4,
  CALLGATE_INTERNAL = 5  // callgate is wrong: report it
} callgate_status;

// Why a *_new function returned NULL.
typedef struct callgate_error {
  int32_t status;     // a callgate_status
  char message[252];  // what was found and what was expected; ends with a zero
} callgate_error;

CALLGATE_API const char* callgate_version(void);  // such as "0.2.0"

// The names of dialects. NULL: there are not as many.
CALLGATE_API const char* callgate_dialect_name(size_t index);
// The dialect that models of this name write, "auto" if their name does not say.
CALLGATE_API const char* callgate_dialect_for(const char* model);

typedef enum callgate_kind {
  CALLGATE_TEXT = 1,       // text: a piece of the answer
  CALLGATE_REASONING = 2,  // text: a piece of the reasoning
  CALLGATE_REFUSAL = 3,    // text: a piece of a refusal
  CALLGATE_CALL = 4,       // text: the tool's name. id: the model's own id for it, may be empty
  CALLGATE_ARGUMENTS = 5,  // text: a piece of the call's arguments, which together are JSON
  CALLGATE_CALL_END = 6,   // value: a callgate_outcome
  CALLGATE_FIELD = 7,  // of the server's answer, without a kind of its own. id: name, text: JSON
  CALLGATE_USAGE = 8,  // the tokens so far; the last one counts
  CALLGATE_FINISH = 9  // the last event. value: a callgate_reason
} callgate_kind;

typedef enum callgate_outcome {
  CALLGATE_COMPLETE = 0,
  CALLGATE_TRUNCATED = 1,  // do not run it
  CALLGATE_MALFORMED = 2   // the arguments are not JSON
} callgate_outcome;

typedef enum callgate_reason {
  CALLGATE_STOP = 0,
  CALLGATE_TOOL_CALLS = 1,
  CALLGATE_LENGTH = 2,
  CALLGATE_CONTENT_FILTER = 3,
  CALLGATE_UPSTREAM_ERROR = 4
} callgate_reason;

// One ordered fact of a turn. Calls never interleave; their numbers count up from 0; pieces are whole UTF-8 sequences and never
// empty.
typedef struct callgate_event {
  uint32_t kind;  // a callgate_kind
  uint32_t call;  // CALL, ARGUMENTS, CALL_END: the call's number
  uint32_t value;
  uint32_t reserved;
  const char* text;
  size_t text_size;
  const char* id;
  size_t id_size;
  int64_t prompt_tokens;  // USAGE
  int64_t completion_tokens;
} callgate_event;

// Parser: text of a model in, events out.
typedef struct callgate_parser callgate_parser;

typedef struct callgate_parser_options {
  size_t size;
  const char* dialect;  // NULL: that of `model`
  const char* model;    // NULL, with a `dialect` of NULL: "auto"
  // The declared tools as JSON: [{"name": "f", "parameters": {...}}], or as Chat Completions has them. They tell calls from
  // quotations, and arguments in tags are typed by them. NULL: any name is a tool. "[]": there are none, and no call is found.
  const char* tools;
  int32_t reasoning_open;  // not 0: the prompt already opened the reasoning
  int32_t whole_calls;     // not 0: a call is held back until it is known to be well-formed
  size_t max_held_back;    // bytes of one call; 0: 1 MiB
  size_t max_unread;       // 0: 16 MiB
} callgate_parser_options;

// NULL if the options are wrong. `error` may be NULL, as everywhere.
CALLGATE_API callgate_parser* callgate_parser_new(const callgate_parser_options* options,
                                                  callgate_error* error);
// The next piece of what the model wrote, cut anywhere, even inside a character. `channel`: CALLGATE_TEXT, or
// CALLGATE_REASONING if the server separates reasoning itself.
CALLGATE_API callgate_status callgate_parser_push(callgate_parser* parser, int channel,
                                                  const char* text, size_t size);
// The model stopped. `reason` is the server's view; the CALLGATE_FINISH event has what it amounts to with the calls that were
// found.
CALLGATE_API callgate_status callgate_parser_finish(callgate_parser* parser, int reason);
// 1 and the next event, or 0.
CALLGATE_API int callgate_parser_next(callgate_parser* parser, callgate_event* event);
// The dialect that `auto` found calls in, "" if it found none or another one was asked for. Never freed.
CALLGATE_API const char* callgate_parser_settled_on(const callgate_parser* parser);
CALLGATE_API void callgate_parser_free(callgate_parser* parser);

// Pipeline: bytes of a model server in, bytes for a client out.
typedef struct callgate_pipeline callgate_pipeline;

typedef struct callgate_pipeline_options {
  size_t size;
  const char* request;   // required: the body of the client's request, as `protocol` has it
  const char* path;      // of the client's request, for protocols that name the model there
  const char* protocol;  // what the client speaks. NULL: "openai_chat"
  const char* wire;      // what the model server speaks. NULL: "openai_chat"
  const char* dialect;   // NULL: native calls only, text is text
  const char* model;     // what the client is told. NULL: what it asked for
  // Policies as in docs/streaming.md, `name=value`, the last one NULL. May be NULL.
  const char* const* policies;
  int64_t created;       // seconds since 1970, for the answer
  uint64_t id_seed;      // the ids that callgate mints come from this alone: take a random number
  size_t max_held_back;  // 0: 1 MiB
  size_t max_frame;      // of the server's stream; 0: 8 MiB
  size_t max_body;       // of an answer that is not streamed; 0: 64 MiB
  size_t max_unread;     // 0: 16 MiB
} callgate_pipeline_options;

CALLGATE_API callgate_pipeline* callgate_pipeline_new(const callgate_pipeline_options* options,
                                                      callgate_error* error);
CALLGATE_API callgate_status callgate_pipeline_push(callgate_pipeline* pipeline, const char* bytes,
                                                    size_t size);
// The server closed its answer.
CALLGATE_API callgate_status callgate_pipeline_finish(callgate_pipeline* pipeline);
// The connection failed: the client gets an orderly end that says so.
CALLGATE_API callgate_status callgate_pipeline_fail(callgate_pipeline* pipeline,
                                                    const char* message);
// The bytes for the client that are ready; 0 if there are none.
CALLGATE_API size_t callgate_pipeline_take(callgate_pipeline* pipeline, const char** bytes);
// Not 0: the client's answer is complete, or it failed before it began. What the server still sends is ignored.
CALLGATE_API int callgate_pipeline_finished(const callgate_pipeline* pipeline);
// What failed, or NULL. If no bytes were ready by then, answer the client with a status of your own.
CALLGATE_API const char* callgate_pipeline_error(const callgate_pipeline* pipeline);
CALLGATE_API void callgate_pipeline_free(callgate_pipeline* pipeline);

// Tool loop: the model calls tools, you run them, until there is an answer.
typedef struct callgate_loop callgate_loop;

typedef enum callgate_action_kind {
  // Ask the model. text: the request's body. Its answer goes to callgate_loop_push() for turn `id`.
  CALLGATE_CALL_MODEL = 1,
  CALLGATE_STOP_MODEL = 2,  // stop turn `id` of the model
  // Run the tool `name` with the arguments `text`, then callgate_loop_result() for run `id`.
  CALLGATE_RUN_TOOL = 3,
  CALLGATE_CANCEL_TOOL = 4,  // stop run `id`
  // Ask a person about run `id`, which has the same fields as RUN_TOOL, then callgate_loop_decide().
  CALLGATE_ASK_APPROVAL = 5,
  // Over for now: the client runs these calls itself. text: them, as JSON. name: the `state` for the loop of its next
  // request.
  CALLGATE_RETURN_CALLS = 6,
  // Over. name: how, such as "completed" or "max_rounds". text: the error, if any.
  CALLGATE_LOOP_FINISHED = 7
} callgate_action_kind;

typedef struct callgate_action {
  uint32_t kind;  // a callgate_action_kind
  uint32_t id;
  int64_t deadline;  // RUN_TOOL, ASK_APPROVAL: milliseconds on your clock
  const char* name;
  size_t name_size;
  const char* call_id;
  size_t call_id_size;
  const char* text;
  size_t text_size;
} callgate_action;

typedef struct callgate_loop_options {
  size_t size;
  // Required: the body of a Chat Completions request. The tools that it declares are the client's to run.
  const char* request;
  // The tools that you run, as JSON: [{"name": "f", "description": "...", "parameters": {...}, "approval": false,
  // "exclusive": false, "return_direct": false, "timeout_ms": 0}]
  const char* tools;
  // Limits and modes as in docs/loop.md, `name=value` such as "max_tool_rounds=5", the last one NULL. May be NULL.
  const char* const* settings;
  const char* wire;     // what the model server speaks. NULL: "openai_chat"
  const char* dialect;  // for callgate_loop_push(). NULL: native calls only
  const char* state;    // from the CALLGATE_RETURN_CALLS that the request answers. May be NULL
  uint64_t id_seed;
  size_t max_unread;  // 0: 16 MiB
} callgate_loop_options;

// Times are milliseconds on any clock that never goes back.
CALLGATE_API callgate_loop* callgate_loop_new(const callgate_loop_options* options,
                                              callgate_error* error);
CALLGATE_API callgate_status callgate_loop_start(callgate_loop* loop, int64_t now);
// 1 and the next thing to do, or 0.
CALLGATE_API int callgate_loop_next_action(callgate_loop* loop, callgate_action* action);
// 1 and the next event for the client, or 0. All turns of the model are one turn here.
CALLGATE_API int callgate_loop_next(callgate_loop* loop, callgate_event* event);
// Bytes of the model server's answer to turn `turn`, and its end. Bytes of another turn are ignored.
CALLGATE_API callgate_status callgate_loop_push(callgate_loop* loop, uint32_t turn,
                                                const char* bytes, size_t size, int64_t now);
CALLGATE_API callgate_status callgate_loop_end_turn(callgate_loop* loop, uint32_t turn,
                                                    int64_t now);
// The turn broke off.
CALLGATE_API callgate_status callgate_loop_fail_turn(callgate_loop* loop, uint32_t turn,
                                                     const char* message, int64_t now);
// What tool run `run` gave back. Runs that are unknown, over or cancelled are ignored.
CALLGATE_API callgate_status callgate_loop_result(callgate_loop* loop, uint32_t run,
                                                  const char* text, size_t size, int is_error,
                                                  int64_t now);
CALLGATE_API callgate_status callgate_loop_decide(callgate_loop* loop, uint32_t run, int approved,
                                                  const char* reason, int64_t now);
// The client has left.
CALLGATE_API callgate_status callgate_loop_cancel(callgate_loop* loop, int64_t now);
// When callgate_loop_on_time() must be called at the latest; -1: never.
CALLGATE_API int64_t callgate_loop_deadline(const callgate_loop* loop);
CALLGATE_API callgate_status callgate_loop_on_time(callgate_loop* loop, int64_t now);
CALLGATE_API int callgate_loop_finished(const callgate_loop* loop);
CALLGATE_API void callgate_loop_free(callgate_loop* loop);

#ifdef __cplusplus
}
#endif

#endif
