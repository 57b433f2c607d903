// The response object: who it is, how it stands, and the request's settings repeated, with the API's defaults for those that were
// not given. Every member that a client may insist on is there, if only as null.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "callgate/request.h"
#include "client/protocol.h"
#include "json/writer.h"

namespace callgate::client {

class ResponsesEcho {
 public:
  ResponsesEcho(const Request& request, const ResponseIdentity& identity);

  // How the response stands, as JSON or words.
  struct Standing {
    std::string_view status = "in_progress";
    std::string_view error = "null";
    std::string_view incomplete = "null";
    std::string_view output = {};  // items with commas between them
    std::string_view usage = "null";
    std::string_view more = {};  // `,"name":value`
    bool completed = false;
  };
  void append(std::string& out, const Standing& standing) const;

  void set_service_tier(std::string_view json) { service_tier_ = json; }

 private:
  std::string identity_;  // `{"id":...,"created_at":1`
  std::int64_t created_;
  std::string settings_;  // `,"instructions":null,...`
  std::string service_tier_;
};

}  // namespace callgate::client
