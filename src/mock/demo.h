// The embedded demo: an upstream inside the process and models that need no configuration.
#pragma once

#include <string>

#include "config/config.h"

namespace callgate::server {

// Adds what is not configured yet: demo-text, demo-tools (calls as the wire format has them) and, for each dialect that
// writes calls as text, demo-DIALECT. demo-FORMAT speaks another wire format than Chat Completions. demo-loop has a tool that
// the gateway runs.
void add_demo(Config& config);

// Adds demo-codex_app_server and demo-codex_proto: `program` is callgate itself, run as the child that codex would be.
void add_codex_demo(Config& config, const std::string& program);

// What to print once the gateway listens at that address: commands that stream a tool call, and a tool loop.
std::string demo_greeting(std::string_view base_url);

}  // namespace callgate::server
