// Which dialects are written with special tokens of their models. A model server leaves special tokens out of the text
// unless it is asked to keep them, and a call whose markers are missing cannot be read.
#pragma once

#include <string_view>

namespace callgate::dialect {

// Whether markers of the dialect are special tokens of at least one model that writes it. `native` writes none; `auto` and
// names that are not known may.
bool writes_special_tokens(std::string_view dialect);

}  // namespace callgate::dialect
