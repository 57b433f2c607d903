// The header compiles as C++ with all warnings.
#include "callgate/callgate.h"

static_assert(sizeof(callgate_error) == 256);
static_assert(sizeof(callgate_event) == 64);
