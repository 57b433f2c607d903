// Reads what follows the keyword of a script line. A fault is left in the reader.
#pragma once

#include <string>

#include "script/line_reader.h"
#include "script/script.h"

namespace callgate::script {

void read_condition(LineReader& in, Condition& condition);  // model gpt-*
void read_header(LineReader& in, Headers& headers);         // retry-after: 2
Call read_call(LineReader& in);                             // find {"q": "tea"} id=call_1
Usage read_usage(LineReader& in);                           // prompt=10 completion=5
Finish read_finish(LineReader& in);                         // length
SetCut read_cut(LineReader& in);                            // arguments 8 bytes
WriteMode read_write_mode(LineReader& in);                  // 3
std::string read_bytes(LineReader& in);                     // "strings" or <<WORD
Frame read_frame(LineReader& in);                           // {"choices": []}
Status read_status(LineReader& in);                         // 429 {"error": {...}}
Faults read_faults(LineReader& in);                         // no_id finish=stop

}  // namespace callgate::script
