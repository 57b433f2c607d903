// The tool loop through the C interface: the order example, with a model that is a text and a tool that is a function.
#include "check.h"

static const char kRequest[] =
    "{\"model\": \"desk\", \"messages\": [{\"role\": \"user\", \"content\": \"Where is "
    "ORD-42?\"}]}";
static const char kTools[] =
    "[{\"name\": \"lookup_order\", \"description\": \"The state of an order\","
    " \"parameters\": {\"type\": \"object\"}}]";
static const char kCall[] =
    "data: {\"choices\":[{\"delta\":{\"content\":\"Let me look.\"}}]}\n\n"
    "data: "
    "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"tc1\",\"type\":\"function\","
    "\"function\":{\"name\":\"lookup_order\",\"arguments\":\"{\\\"id\\\": "
    "\\\"ORD-42\\\"}\"}}]}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
static const char kAnswer[] =
    "data: {\"choices\":[{\"delta\":{\"content\":\"It has "
    "shipped.\"},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

static callgate_loop* make(const char* request, const char* tools, const char* const* settings,
                           const char* state) {
  const callgate_loop_options options = {.size = sizeof(options),
                                         .request = request,
                                         .tools = tools,
                                         .settings = settings,
                                         .state = state};
  callgate_error error;
  callgate_loop* loop = callgate_loop_new(&options, &error);
  CHECK_TEXT(error.message, "");
  return loop;
}

static int contains(const callgate_action* action, const char* word) {
  char copy[8192];
  CHECK(action->text_size < sizeof(copy));
  memcpy(copy, action->text, action->text_size);
  copy[action->text_size] = '\0';
  return strstr(copy, word) != NULL;
}

static int named(const callgate_action* action, const char* name) {
  return action->name_size == strlen(name) && memcmp(action->name, name, action->name_size) == 0;
}

static void feed(callgate_loop* loop, uint32_t turn, const char* bytes, size_t piece) {
  const size_t size = strlen(bytes);
  for (size_t at = 0; at < size; at += piece) {
    const size_t rest = size - at;
    CHECK(callgate_loop_push(loop, turn, bytes + at, rest < piece ? rest : piece, 1) ==
          CALLGATE_OK);
  }
  CHECK(callgate_loop_end_turn(loop, turn, 1) == CALLGATE_OK);
}

static void read_events(callgate_loop* loop, text* into) {
  for (callgate_event event; callgate_loop_next(loop, &event);) text_event(into, &event);
}

static callgate_action next(callgate_loop* loop, callgate_action_kind kind) {
  callgate_action action;
  CHECK(callgate_loop_next_action(loop, &action) == 1);
  CHECK(action.kind == (uint32_t)kind);
  return action;
}

static void runs_a_tool_and_asks_again(size_t piece) {
  text client = {.size = 0};
  callgate_loop* loop = make(kRequest, kTools, NULL, NULL);
  CHECK(callgate_loop_start(loop, 0) == CALLGATE_OK);
  callgate_action action = next(loop, CALLGATE_CALL_MODEL);
  CHECK(contains(&action, "lookup_order") && contains(&action, "ORD-42"));
  feed(loop, action.id, kCall, piece);
  action = next(loop, CALLGATE_RUN_TOOL);
  CHECK(named(&action, "lookup_order") && contains(&action, "{\"id\": \"ORD-42\"}"));
  CHECK(action.deadline > 0 && callgate_loop_deadline(loop) > 0);
  CHECK(callgate_loop_result(loop, action.id, "shipped", 7, 0, 2) == CALLGATE_OK);
  action = next(loop, CALLGATE_CALL_MODEL);
  CHECK(contains(&action, "shipped") && contains(&action, "\"role\":\"tool\""));
  feed(loop, action.id, kAnswer, piece);
  action = next(loop, CALLGATE_LOOP_FINISHED);
  CHECK(named(&action, "completed") && action.text_size == 0);
  CHECK(callgate_loop_finished(loop) && callgate_loop_next_action(loop, &action) == 0);
  read_events(loop, &client);
  CHECK_TEXT(client.bytes, "text Let me look.\n\nIt has shipped.\nfinish 0");
  callgate_loop_free(loop);
}

static void asks_again_after_a_failure(void) {
  callgate_loop* loop = make(kRequest, kTools, NULL, NULL);
  callgate_loop_start(loop, 0);
  callgate_action action = next(loop, CALLGATE_CALL_MODEL);
  const uint32_t first = action.id;
  CHECK(callgate_loop_fail_turn(loop, first, "connection refused", 1) == CALLGATE_OK);
  action = next(loop, CALLGATE_CALL_MODEL);
  CHECK(action.id != first);
  CHECK(callgate_loop_push(loop, first, "late", 4, 1) == CALLGATE_OK);  // nobody reads it
  feed(loop, action.id, kAnswer, 7);
  action = next(loop, CALLGATE_LOOP_FINISHED);
  CHECK(named(&action, "completed"));
  callgate_loop_free(loop);
}

static void gives_up_after_failures(void) {
  const char* const settings[] = {"turn_retries=0", NULL};
  text client = {.size = 0};
  callgate_loop* loop = make(kRequest, kTools, settings, NULL);
  callgate_loop_start(loop, 0);
  callgate_action action = next(loop, CALLGATE_CALL_MODEL);
  callgate_loop_push(loop, action.id, "data: {\"error\":{\"message\":\"overloaded\"}}\n\n", 43, 1);
  callgate_loop_end_turn(loop, action.id, 1);
  action = next(loop, CALLGATE_LOOP_FINISHED);
  CHECK(named(&action, "error") && contains(&action, "overloaded"));
  read_events(loop, &client);
  CHECK_TEXT(client.bytes, "finish 4");
  callgate_loop_free(loop);
}

static void asks_a_person(void) {
  const char tools[] = "[{\"name\": \"lookup_order\", \"approval\": true}]";
  callgate_loop* loop = make(kRequest, tools, NULL, NULL);
  callgate_loop_start(loop, 0);
  callgate_action action = next(loop, CALLGATE_CALL_MODEL);
  feed(loop, action.id, kCall, 1000);
  action = next(loop, CALLGATE_ASK_APPROVAL);
  CHECK(named(&action, "lookup_order"));
  CHECK(callgate_loop_decide(loop, action.id, 0, "not today", 3) == CALLGATE_OK);
  action = next(loop, CALLGATE_CALL_MODEL);
  CHECK(contains(&action, "not today"));
  CHECK(callgate_loop_cancel(loop, 4) == CALLGATE_OK);
  next(loop, CALLGATE_STOP_MODEL);
  action = next(loop, CALLGATE_LOOP_FINISHED);
  CHECK(named(&action, "cancelled"));
  callgate_loop_free(loop);
}

static void runs_out_of_time(void) {
  const char* const settings[] = {"tool_timeout=1s", NULL};
  callgate_loop* loop = make(kRequest, kTools, settings, NULL);
  callgate_loop_start(loop, 0);
  callgate_action action = next(loop, CALLGATE_CALL_MODEL);
  feed(loop, action.id, kCall, 1000);
  action = next(loop, CALLGATE_RUN_TOOL);
  CHECK(callgate_loop_deadline(loop) <= 1100);
  CHECK(callgate_loop_on_time(loop, 5000) == CALLGATE_OK);
  next(loop, CALLGATE_CANCEL_TOOL);
  next(loop, CALLGATE_CALL_MODEL);
  callgate_loop_free(loop);
}

// The client declares the tool: the loop ends with its call, and goes on with the client's next request.
static void hands_calls_to_the_client(void) {
  const char request[] =
      "{\"model\": \"desk\", \"messages\": [{\"role\": \"user\", \"content\": \"Where?\"}], "
      "\"tools\": "
      "[{\"type\": \"function\", \"function\": {\"name\": \"lookup_order\"}}]}";
  callgate_loop* loop = make(request, NULL, NULL, NULL);
  callgate_loop_start(loop, 0);
  callgate_action action = next(loop, CALLGATE_CALL_MODEL);
  feed(loop, action.id, kCall, 1000);
  action = next(loop, CALLGATE_RETURN_CALLS);
  CHECK(contains(&action, "\"id\":\"tc1\"") && contains(&action, "lookup_order"));
  char state[4096];
  CHECK(action.name_size > 0 && action.name_size < sizeof(state));
  memcpy(state, action.name, action.name_size);
  state[action.name_size] = '\0';
  callgate_loop_free(loop);
  callgate_loop_free(make(kRequest, kTools, NULL, state));
}

static void says_what_is_wrong_with_options(void) {
  static const char* const kWrong[] = {"max_tool_round=5", NULL};
  const struct {
    callgate_loop_options options;
    const char* word;
  } cases[] = {
      {{.size = sizeof(callgate_loop_options)}, "request"},
      {{.size = sizeof(callgate_loop_options), .request = "nonsense"}, "JSON"},
      {{.size = sizeof(callgate_loop_options), .request = kRequest, .tools = "[{}]"}, "name"},
      {{.size = sizeof(callgate_loop_options),
        .request = kRequest,
        .tools = "[{\"name\":\"f\",\"aproval\":true}]"},
       "unknown member"},
      {{.size = sizeof(callgate_loop_options), .request = kRequest, .settings = kWrong},
       "max_tool_round"},
      {{.size = sizeof(callgate_loop_options), .request = kRequest, .state = "["}, ""},
      {{.size = sizeof(callgate_loop_options), .request = kRequest, .wire = "x"}, "wire"},
      {{.size = sizeof(callgate_loop_options), .request = kRequest, .dialect = "x"}, "dialect"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    callgate_error error;
    CHECK(callgate_loop_new(&cases[i].options, &error) == NULL);
    CHECK(error.status == CALLGATE_INVALID && error.message[0] != '\0');
    if (strstr(error.message, cases[i].word) == NULL) CHECK_TEXT(error.message, cases[i].word);
  }
}

static void answers_misuse(void) {
  callgate_event event;
  callgate_action action;
  CHECK(callgate_loop_start(NULL, 0) == CALLGATE_INVALID);
  CHECK(callgate_loop_push(NULL, 1, "x", 1, 0) == CALLGATE_INVALID);
  CHECK(callgate_loop_next(NULL, &event) == 0 && callgate_loop_next_action(NULL, &action) == 0);
  CHECK(callgate_loop_deadline(NULL) == -1);
  callgate_loop_free(NULL);
  callgate_loop* loop = make(kRequest, kTools, NULL, NULL);
  CHECK(callgate_loop_push(loop, 1, "x", 1, 0) == CALLGATE_WRONG_STATE);
  CHECK(callgate_loop_on_time(loop, 0) == CALLGATE_WRONG_STATE);
  CHECK(callgate_loop_start(loop, 0) == CALLGATE_OK);
  CHECK(callgate_loop_start(loop, 0) == CALLGATE_WRONG_STATE);
  CHECK(callgate_loop_result(loop, 99, "x", 1, 0, 0) == CALLGATE_OK);  // an unknown run: ignored
  CHECK(callgate_loop_result(loop, 99, NULL, 1, 0, 0) == CALLGATE_INVALID);
  callgate_loop_free(loop);
}

int main(void) {
  runs_a_tool_and_asks_again(1);
  runs_a_tool_and_asks_again(10000);
  asks_again_after_a_failure();
  gives_up_after_failures();
  asks_a_person();
  runs_out_of_time();
  hands_calls_to_the_client();
  says_what_is_wrong_with_options();
  answers_misuse();
  return 0;
}
