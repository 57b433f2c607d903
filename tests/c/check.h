// What the tests in C share: CHECK, and collecting events as lines of text, neighbouring pieces joined.
#ifndef CALLGATE_TESTS_CHECK_H
#define CALLGATE_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callgate/callgate.h"

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

#define CHECK_TEXT(found, expected)                                                    \
  do {                                                                                 \
    if (strcmp((found), (expected)) != 0) {                                            \
      fprintf(stderr, "%s:%d: found\n%s\nexpected\n%s\n", __FILE__, __LINE__, (found), \
              (expected));                                                             \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)

// A text that grows.
typedef struct text {
  char bytes[8192];
  size_t size;
  unsigned last;  // the kind of the last event
} text;

static inline void text_add(text* to, const char* bytes, size_t size) {
  CHECK(to->size + size < sizeof(to->bytes));
  memcpy(to->bytes + to->size, bytes, size);
  to->size += size;
  to->bytes[to->size] = '\0';
}

static inline void text_say(text* to, const char* bytes) { text_add(to, bytes, strlen(bytes)); }

// Appends `kind text`, on a new line unless the event goes on with the piece before it.
static inline void text_event(text* to, const callgate_event* event) {
  static const char* const kNames[] = {"",           "text ", "reasoning ", "refusal ", "call ",
                                       "arguments ", "end ",  "field ",     "usage ",   "finish "};
  const int joins = event->kind == to->last &&
                    (event->kind <= CALLGATE_REFUSAL || event->kind == CALLGATE_ARGUMENTS);
  if (!joins) {
    if (to->size > 0) text_say(to, "\n");
    text_say(to, event->kind <= CALLGATE_FINISH ? kNames[event->kind] : "? ");
  }
  text_add(to, event->text, event->text_size);
  if (event->kind == CALLGATE_CALL_END || event->kind == CALLGATE_FINISH) {
    char value[16];
    snprintf(value, sizeof(value), "%u", event->value);
    text_say(to, value);
  }
  to->last = event->kind;
}

#endif
