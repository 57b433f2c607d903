// The header compiles as C99 with all warnings.
#include "callgate/callgate.h"

typedef int callgate_header_is_c99[sizeof(callgate_event) > 0 ? 1 : -1];
