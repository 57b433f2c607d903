// Reading a JSON document of an upstream that does not write JSON quite right: what cannot be read as it is gets its invalid
// UTF-8 replaced and its unescaped control characters escaped, and is read again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/utf8.h"
#include "callgate/pipeline.h"
#include "json/escape.h"

namespace callgate::upstream {

// What was changed in a document before it could be read.
struct Mended {
  std::size_t replaced = 0;  // invalid bytes, by U+FFFD
  std::size_t escaped = 0;   // control characters in strings
};

inline Mended mend_document(std::string_view document, std::string& mended) {
  Mended changes;
  std::string valid;
  if (!utf8::is_valid(document)) {
    changes.replaced = utf8::append_sanitized(valid, document);
    document = valid;
  }
  mended.clear();
  changes.escaped = json::append_escaping_controls(mended, document);
  return changes;
}

// `read` reads a document and returns whether it could. `sanitized` holds the second one for as long as the caller looks into
// it; `mended` says what was changed.
template <class Read>
bool read_repaired(std::string_view document, std::string& sanitized, Mended& mended, Read read) {
  mended = {};
  if (read(document)) return true;
  mended = mend_document(document, sanitized);
  const bool changed = mended.replaced + mended.escaped > 0;
  return changed && read(std::string_view(sanitized));
}

inline void count_mended(const Mended& mended, RepairCounts& repairs) {
  repairs[static_cast<std::size_t>(Repair::utf8_invalid)] +=
      static_cast<std::uint32_t>(mended.replaced);
  repairs[static_cast<std::size_t>(Repair::control_unescaped)] +=
      static_cast<std::uint32_t>(mended.escaped);
}

}  // namespace callgate::upstream
