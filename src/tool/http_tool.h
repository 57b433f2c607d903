// HttpTool: a tool that is one HTTP request. Redirects are not followed; a status of 400 or more is an error result.
#pragma once

#include <memory>

#include "tool/config.h"
#include "tool/network_guard.h"
#include "tool/source.h"
#include "tool/tool.h"
#include "tool/url_template.h"

namespace callgate::tool {

class HttpTool : public Tool {
 public:
  // REQUIRES: `config` holds an HttpToolConfig.
  static Result<std::shared_ptr<Tool>> make(net::Loop& loop, const ToolConfig& config);

 private:
  struct Parts {
    HttpToolConfig config;
    UrlTemplate url;
    NetworkGuard guard;
  };
  HttpTool(net::Loop& loop, ToolSpec spec, ToolLimits limits, Parts parts);

  net::Task<ToolResult> perform(const ToolCall& call, net::Millis timeout,
                                CancelToken& cancel) override;
  net::Task<Result<ToolResult>> read_answer(net::ClientExchange& exchange);
  Result<UrlTemplate::Place> place(const std::vector<Argument>& arguments) const;
  std::string body(const ToolCall& call, const std::vector<Argument>& arguments) const;
  net::Headers headers(const ToolCall& call, bool has_body) const;
  bool is_text(std::string_view content_type) const;

  const Parts parts_;
  const bool in_query_;  // the method has no body
  std::unique_ptr<net::HttpClient> client_;
};

}  // namespace callgate::tool
