// The texts of an entry: bounded for callers, and made storable by the writer.
#pragma once

#include <string>

#include "store/entry_queue.h"
#include "store/request_log.h"

namespace callgate::store {

// Cuts after kLongestText bytes, between characters.
void limit_text(std::string& text);
void limit_texts(RequestRecord& record);
void limit_texts(RequestOutcome& outcome);

// Replaces what is not UTF-8 and drops zeros, which PostgreSQL cannot store.
void clean_texts(Entry& entry);

}  // namespace callgate::store
