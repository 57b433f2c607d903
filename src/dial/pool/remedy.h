// What a failure of an upstream means: for the request, for the memory that is kept of the upstream, and for the client.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/error.h"
#include "config/config.h"

namespace callgate::server {

// What helps against a failure.
enum class Remedy : std::uint8_t {
  none,       // the request itself is at fault
  elsewhere,  // another upstream may do better
  later,      // so may the same one, after a while
};
Remedy remedy_for(const Error& error);

// What is wrong with an upstream. Those further down cost a request more that is sent there all the same.
enum class Trouble : std::uint8_t {
  slow,     // it answers, much later than its peers
  failure,  // it refuses, at once
  cut,      // it breaks off answers that it began
  silence,  // it does not answer
};
std::string_view to_string(Trouble trouble);

// What the failure says of the upstream; nothing where it is well. `began`: an answer had begun.
std::optional<Trouble> trouble_of(const Error& error, bool began);

// When the upstream wants to be asked again, from now on; nothing where it does not say so.
std::optional<Milliseconds> named_pause(const Error& error);

// Of several failures of one request the client gets the most useful: the greatest of these.
int usefulness(const Error& error);

}  // namespace callgate::server
