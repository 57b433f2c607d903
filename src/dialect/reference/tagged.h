// The dialects that write each argument as a raw text between tags, one row of markers each:
//
//   <function=get_weather><parameter=city>Paris</parameter></function>
#pragma once

#include "dialect/reference/reference.h"

namespace callgate::dialect::reference::tagged {

// The reference of a tagged dialect; nullptr: there is none.
Reference find_reference(std::string_view dialect);

bool read_dots(const ReferenceCase& turn, EventLog& log);
// tagged_prefixed.cpp
bool read_minimax_m3(const ReferenceCase& turn, EventLog& log);
// tagged_xml.cpp
bool read_generic_xml(const ReferenceCase& turn, EventLog& log);
bool read_use_tool(const ReferenceCase& turn, EventLog& log);

}  // namespace callgate::dialect::reference::tagged
