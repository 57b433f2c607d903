// The parser through the C interface: every cut gives the same events, and every misuse has an answer.
#include "check.h"

static const char kWritten[] =
    "Let me look. \xf0\x9f\x8d\xb5<tool_call>\n{\"name\": \"find\", \"arguments\": {\"q\": "
    "\"tea\"}}\n</tool_call>";
static const char kExpected[] =
    "text Let me look. \xf0\x9f\x8d\xb5\ncall find\narguments {\"q\": \"tea\"}\nend 0\nfinish 1";

static void drain(callgate_parser* parser, text* into) {
  callgate_event event;
  while (callgate_parser_next(parser, &event)) text_event(into, &event);
}

static callgate_parser* make(const char* dialect, const char* tools) {
  const callgate_parser_options options = {
      .size = sizeof(options), .dialect = dialect, .tools = tools};
  callgate_parser* parser = callgate_parser_new(&options, NULL);
  CHECK(parser != NULL);
  return parser;
}

static void does_not_depend_on_the_cuts(void) {
  const size_t size = sizeof(kWritten) - 1;
  for (size_t piece = 1; piece <= size; ++piece) {
    text seen = {.size = 0};
    callgate_parser* parser = make("hermes", NULL);
    for (size_t at = 0; at < size; at += piece) {
      const size_t rest = size - at;
      CHECK(callgate_parser_push(parser, CALLGATE_TEXT, kWritten + at,
                                 rest < piece ? rest : piece) == CALLGATE_OK);
      drain(parser, &seen);
    }
    CHECK(callgate_parser_finish(parser, CALLGATE_STOP) == CALLGATE_OK);
    drain(parser, &seen);
    CHECK_TEXT(seen.bytes, kExpected);
    callgate_parser_free(parser);
  }
}

static void events_may_be_read_at_the_end(void) {
  text seen = {.size = 0};
  callgate_parser* parser = make("hermes", NULL);
  for (size_t at = 0; at + 1 < sizeof(kWritten); ++at) {
    CHECK(callgate_parser_push(parser, CALLGATE_TEXT, kWritten + at, 1) == CALLGATE_OK);
  }
  CHECK(callgate_parser_finish(parser, CALLGATE_STOP) == CALLGATE_OK);
  drain(parser, &seen);
  CHECK_TEXT(seen.bytes, kExpected);
  callgate_parser_free(parser);
}

static void tells_a_cut_call_from_a_whole_one(void) {
  const char cut[] = "<tool_call>{\"name\": \"find\", \"arguments\": {\"q\": \"te";
  text seen = {.size = 0};
  callgate_parser* parser = make("hermes", NULL);
  callgate_parser_push(parser, CALLGATE_TEXT, cut, sizeof(cut) - 1);
  callgate_parser_finish(parser, CALLGATE_LENGTH);
  drain(parser, &seen);
  CHECK_TEXT(seen.bytes, "call find\narguments {\"q\": \"te\nend 1\nfinish 2");
  callgate_parser_free(parser);
}

static void knows_the_declared_tools(void) {
  text seen = {.size = 0};
  callgate_parser* parser = make("hermes", "[]");
  callgate_parser_push(parser, CALLGATE_TEXT, kWritten, sizeof(kWritten) - 1);
  callgate_parser_finish(parser, CALLGATE_STOP);
  drain(parser, &seen);
  CHECK(strstr(seen.bytes, "text Let me look.") == seen.bytes);
  CHECK(strstr(seen.bytes, "call find") == NULL);
  callgate_parser_free(parser);

  text typed = {.size = 0};
  const char xml[] = "<tool_call><function=f><parameter=n>\n7\n</parameter></function></tool_call>";
  parser = make("qwen3_coder",
                "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": "
                "{\"properties\": {\"n\": {\"type\": \"integer\"}}}}}]");
  callgate_parser_push(parser, CALLGATE_TEXT, xml, sizeof(xml) - 1);
  callgate_parser_finish(parser, CALLGATE_STOP);
  drain(parser, &typed);
  CHECK_TEXT(typed.bytes, "call f\narguments {\"n\":7}\nend 0\nfinish 1");
  callgate_parser_free(parser);
}

static void names_the_dialect_that_auto_found(void) {
  callgate_parser* parser = make(NULL, "[{\"name\": \"find\"}]");
  CHECK_TEXT(callgate_parser_settled_on(parser), "");
  callgate_parser_push(parser, CALLGATE_TEXT, kWritten + 17, sizeof(kWritten) - 18);
  callgate_parser_finish(parser, CALLGATE_STOP);
  CHECK(strlen(callgate_parser_settled_on(parser)) > 0);
  callgate_parser_free(parser);
  CHECK_TEXT(callgate_dialect_for("Qwen/Qwen3-Coder-30B"), "qwen3_coder");
  CHECK_TEXT(callgate_dialect_for("no-such-model"), "auto");
  CHECK_TEXT(callgate_dialect_for(NULL), "auto");
}

static void lists_the_dialects(void) {
  size_t count = 0;
  int found = 0;
  for (const char* name; (name = callgate_dialect_name(count)) != NULL; ++count) {
    const callgate_parser_options options = {.size = sizeof(options), .dialect = name};
    callgate_parser* parser = callgate_parser_new(&options, NULL);
    CHECK(parser != NULL);
    callgate_parser_free(parser);
    found += strcmp(name, "hermes") == 0;
  }
  CHECK(count > 40 && found == 1);
}

static void says_what_is_wrong_with_options(void) {
  const struct {
    callgate_parser_options options;
    const char* word;
  } cases[] = {
      {{.size = sizeof(callgate_parser_options), .dialect = "hermse"}, "hermse"},
      {{.size = sizeof(callgate_parser_options), .tools = "[{}]"}, "name"},
      {{.size = sizeof(callgate_parser_options), .tools = "{"}, "tools"},
      {{.size = 0, .dialect = "hermes"}, "size"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    callgate_error error;
    CHECK(callgate_parser_new(&cases[i].options, &error) == NULL);
    CHECK(error.status == CALLGATE_INVALID && strstr(error.message, cases[i].word) != NULL);
    CHECK(callgate_parser_new(&cases[i].options, NULL) == NULL);
  }
  char name[1000];
  memset(name, 'x', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  callgate_error error;
  const callgate_parser_options options = {.size = sizeof(options), .dialect = name};
  CHECK(callgate_parser_new(&options, &error) == NULL);
  CHECK(strlen(error.message) == sizeof(error.message) - 1);
}

// A program that was compiled with an older header has a shorter struct, one with a newer header a longer one.
static void takes_structs_of_other_versions(void) {
  const callgate_parser_options shorter = {.size = offsetof(callgate_parser_options, tools),
                                           .dialect = "hermes",
                                           .tools = "this is not read"};
  callgate_parser* parser = callgate_parser_new(&shorter, NULL);
  CHECK(parser != NULL);
  callgate_parser_free(parser);
  struct {
    callgate_parser_options known;
    char unknown[64];
  } longer = {.known = {.size = sizeof(longer), .dialect = "hermes"}};
  parser = callgate_parser_new(&longer.known, NULL);
  CHECK(parser != NULL);
  callgate_parser_free(parser);
  parser = callgate_parser_new(NULL, NULL);
  CHECK(parser != NULL);
  callgate_parser_free(parser);
}

static void answers_misuse(void) {
  callgate_event event;
  CHECK(callgate_parser_push(NULL, CALLGATE_TEXT, "x", 1) == CALLGATE_INVALID);
  CHECK(callgate_parser_finish(NULL, CALLGATE_STOP) == CALLGATE_INVALID);
  CHECK(callgate_parser_next(NULL, &event) == 0);
  CHECK_TEXT(callgate_parser_settled_on(NULL), "");
  callgate_parser_free(NULL);

  callgate_parser* parser = make("hermes", NULL);
  CHECK(callgate_parser_push(parser, CALLGATE_CALL, "x", 1) == CALLGATE_INVALID);
  CHECK(callgate_parser_push(parser, CALLGATE_TEXT, NULL, 1) == CALLGATE_INVALID);
  CHECK(callgate_parser_push(parser, CALLGATE_TEXT, NULL, 0) == CALLGATE_OK);
  CHECK(callgate_parser_finish(parser, 77) == CALLGATE_INVALID);
  CHECK(callgate_parser_finish(parser, CALLGATE_STOP) == CALLGATE_OK);
  CHECK(callgate_parser_finish(parser, CALLGATE_STOP) == CALLGATE_WRONG_STATE);
  CHECK(callgate_parser_push(parser, CALLGATE_TEXT, "x", 1) == CALLGATE_WRONG_STATE);
  CHECK(callgate_parser_next(parser, NULL) == 0);
  CHECK(callgate_parser_next(parser, &event) == 1 && event.kind == CALLGATE_FINISH);
  CHECK(callgate_parser_next(parser, &event) == 0);
  callgate_parser_free(parser);
}

static void keeps_a_bounded_amount(void) {
  const callgate_parser_options options = {
      .size = sizeof(options), .dialect = "hermes", .max_unread = 4096};
  callgate_parser* parser = callgate_parser_new(&options, NULL);
  callgate_status status = CALLGATE_OK;
  size_t pushed = 0;
  while (pushed < 100000 &&
         (status = callgate_parser_push(parser, CALLGATE_TEXT, "word ", 5)) == CALLGATE_OK) {
    pushed += 5;
  }
  CHECK(status == CALLGATE_UNREAD && pushed < 4096);
  size_t read = 0;
  for (callgate_event event; callgate_parser_next(parser, &event);) read += event.text_size;
  CHECK(read <= pushed && read + 16 >= pushed);
  CHECK(callgate_parser_push(parser, CALLGATE_TEXT, "on", 2) == CALLGATE_OK);
  callgate_parser_free(parser);
}

int main(void) {
  CHECK(strchr(callgate_version(), '.') != NULL);
  does_not_depend_on_the_cuts();
  events_may_be_read_at_the_end();
  tells_a_cut_call_from_a_whole_one();
  knows_the_declared_tools();
  names_the_dialect_that_auto_found();
  lists_the_dialects();
  says_what_is_wrong_with_options();
  takes_structs_of_other_versions();
  answers_misuse();
  keeps_a_bounded_amount();
  return 0;
}
