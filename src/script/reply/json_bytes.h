// JSON strings whose content passes as it is. json/writer.h mends invalid UTF-8; a scripted model must be able to cut
// inside a character.
#pragma once

#include <string>
#include <string_view>

namespace callgate::script {

// `bytes` between quotes; only what JSON requires is escaped.
void append_json_bytes(std::string& out, std::string_view bytes);

}  // namespace callgate::script
