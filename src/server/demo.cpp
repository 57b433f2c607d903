#include "server/demo.h"

namespace callgate::server {

void add_demo(Config& config) {
  UpstreamConfig upstream;
  upstream.name = "demo";
  upstream.wire = "script";
  if (config.find_upstream(upstream.name) == nullptr) config.upstreams.push_back(upstream);
  for (const char* name : {"demo-text", "demo-tools"}) {
    if (config.find_model(name) != nullptr) continue;
    ModelConfig model;
    model.name = name;
    model.upstream = {upstream.name};
    config.models.push_back(model);
  }
}

std::string demo_curl(std::string_view base_url) {
  return "curl -N " + std::string(base_url) +
         "/v1/chat/completions -H 'content-type: application/json' -d "
         "'{\"model\":\"demo-tools\",\"stream\":true,"
         "\"messages\":[{\"role\":\"user\",\"content\":\"What is the weather in Paris?\"}],"
         "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"parameters\":"
         "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":["
         "\"city\"]}}}]}'";
}

}  // namespace callgate::server
