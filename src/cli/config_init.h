// The file that `callgate config init` writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace callgate::cli {

// A model server of the usual kinds.
struct KnownServer {
  std::string_view kind;  // of UpstreamConfig::server
  std::string_view title;
  std::string_view wire;
  std::string_view url;  // where it listens by default
};
const std::vector<KnownServer>& known_servers();

struct FoundServer {
  KnownServer server;
  std::string url;
  std::vector<std::string> models;  // empty: it was not asked, or does not say
};
// The first of the usual servers that answers on this machine.
std::optional<FoundServer> find_server();

std::string print_initial_config(const FoundServer& found, bool is_there);

}  // namespace callgate::cli
