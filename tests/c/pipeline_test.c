// The pipeline through the C interface: bytes of a server in, bytes for a client out.
#include "check.h"

static const char kRequest[] =
    "{\"model\": \"demo\", \"stream\": true, \"messages\": [{\"role\": \"user\", \"content\": "
    "\"tea?\"}]}";
// Without an id, with an object for arguments, and a finish reason that is wrong.
static const char kUpstream[] =
    "data: {\"choices\":[{\"delta\":{\"content\":\"Let me look.\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"find\","
    "\"arguments\":{\"q\":\"tea\"}}}]},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

static callgate_pipeline* make(const char* const* policies) {
  const callgate_pipeline_options options = {
      .size = sizeof(options), .request = kRequest, .policies = policies, .id_seed = 42};
  callgate_error error;
  callgate_pipeline* pipeline = callgate_pipeline_new(&options, &error);
  CHECK_TEXT(error.message, "");
  CHECK(pipeline != NULL);
  return pipeline;
}

static void take(callgate_pipeline* pipeline, text* into) {
  const char* bytes = NULL;
  const size_t size = callgate_pipeline_take(pipeline, &bytes);
  text_add(into, bytes, size);
}

static void mends_the_answer_whatever_the_cuts(void) {
  text whole = {.size = 0};
  for (size_t piece = sizeof(kUpstream) - 1; piece > 0; piece /= 2) {
    text client = {.size = 0};
    callgate_pipeline* pipeline = make(NULL);
    for (size_t at = 0; at < sizeof(kUpstream) - 1; at += piece) {
      const size_t rest = sizeof(kUpstream) - 1 - at;
      CHECK(callgate_pipeline_push(pipeline, kUpstream + at, rest < piece ? rest : piece) ==
            CALLGATE_OK);
      take(pipeline, &client);
    }
    CHECK(callgate_pipeline_finish(pipeline) == CALLGATE_OK);
    take(pipeline, &client);
    CHECK(callgate_pipeline_finished(pipeline));
    CHECK(callgate_pipeline_error(pipeline) == NULL);
    CHECK(strstr(client.bytes, "\"id\":\"call_") != NULL);
    CHECK(strstr(client.bytes, "\"finish_reason\":\"tool_calls\"") != NULL);
    CHECK(strstr(client.bytes, "data: [DONE]\n\n") != NULL);
    if (whole.size == 0) whole = client;
    CHECK_TEXT(client.bytes, whole.bytes);
    callgate_pipeline_free(pipeline);
  }
}

static void applies_policies(void) {
  const char* const policies[] = {"call_whitespace=false", "tool_call_max=3", NULL};
  callgate_pipeline_free(make(policies));
  const char* const wrong[] = {"tool_cal_max=3", NULL};
  const callgate_pipeline_options options = {
      .size = sizeof(options), .request = kRequest, .policies = wrong};
  callgate_error error;
  CHECK(callgate_pipeline_new(&options, &error) == NULL);
  CHECK(strstr(error.message, "tool_cal_max") != NULL);
}

static void reports_a_failure(void) {
  callgate_pipeline* pipeline = make(NULL);
  CHECK(callgate_pipeline_fail(pipeline, "the connection broke") == CALLGATE_OK);
  CHECK(callgate_pipeline_finished(pipeline));
  CHECK_TEXT(callgate_pipeline_error(pipeline), "the connection broke");
  CHECK(callgate_pipeline_push(pipeline, "x", 1) == CALLGATE_WRONG_STATE);
  callgate_pipeline_free(pipeline);
}

static void says_what_is_wrong_with_options(void) {
  const struct {
    callgate_pipeline_options options;
    const char* word;
  } cases[] = {
      {{.size = sizeof(callgate_pipeline_options)}, "request"},
      {{.size = sizeof(callgate_pipeline_options), .request = "{}"}, "model"},
      {{.size = sizeof(callgate_pipeline_options), .request = kRequest, .wire = "openai"}, "wire"},
      {{.size = sizeof(callgate_pipeline_options), .request = kRequest, .protocol = "x"},
       "protocol"},
      {{.size = sizeof(callgate_pipeline_options), .request = kRequest, .dialect = "x"}, "dialect"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    callgate_error error;
    CHECK(callgate_pipeline_new(&cases[i].options, &error) == NULL);
    CHECK(error.status == CALLGATE_INVALID);
    if (strstr(error.message, cases[i].word) == NULL) CHECK_TEXT(error.message, cases[i].word);
  }
}

static void keeps_a_bounded_amount(void) {
  const callgate_pipeline_options options = {
      .size = sizeof(options), .request = kRequest, .max_unread = 1000};
  callgate_pipeline* pipeline = callgate_pipeline_new(&options, NULL);
  const char delta[] = "data: {\"choices\":[{\"delta\":{\"content\":\"word \"}}]}\n\n";
  callgate_status status = CALLGATE_OK;
  for (int i = 0; i < 100 && status == CALLGATE_OK; ++i) {
    status = callgate_pipeline_push(pipeline, delta, sizeof(delta) - 1);
  }
  CHECK(status == CALLGATE_UNREAD);
  const char* bytes = NULL;
  const size_t ready = callgate_pipeline_take(pipeline, &bytes);
  CHECK(ready >= 1000 && ready < 2000);
  CHECK(callgate_pipeline_take(pipeline, &bytes) == 0);
  CHECK(callgate_pipeline_push(pipeline, delta, sizeof(delta) - 1) == CALLGATE_OK);
  callgate_pipeline_free(pipeline);
}

static void answers_misuse(void) {
  const char* bytes = NULL;
  CHECK(callgate_pipeline_push(NULL, "x", 1) == CALLGATE_INVALID);
  CHECK(callgate_pipeline_finish(NULL) == CALLGATE_INVALID);
  CHECK(callgate_pipeline_take(NULL, &bytes) == 0);
  CHECK(callgate_pipeline_error(NULL) == NULL);
  callgate_pipeline_free(NULL);
  callgate_pipeline* pipeline = make(NULL);
  CHECK(callgate_pipeline_push(pipeline, NULL, 1) == CALLGATE_INVALID);
  CHECK(callgate_pipeline_take(pipeline, NULL) == 0);
  callgate_pipeline_free(pipeline);
}

int main(void) {
  mends_the_answer_whatever_the_cuts();
  applies_policies();
  reports_a_failure();
  says_what_is_wrong_with_options();
  keeps_a_bounded_amount();
  answers_misuse();
  return 0;
}
