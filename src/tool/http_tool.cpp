#include "tool/http_tool.h"

#include <algorithm>
#include <array>

#include "base/glob.h"
#include "tool/bounded_text.h"

namespace callgate::tool {
namespace {

constexpr std::array<std::string_view, 11> kTextTypes = {"text/*",
                                                         "application/json",
                                                         "application/*+json",
                                                         "application/x-ndjson",
                                                         "application/xml",
                                                         "application/*+xml",
                                                         "application/javascript",
                                                         "application/yaml",
                                                         "application/x-yaml",
                                                         "application/toml",
                                                         "application/x-www-form-urlencoded"};

// `text/html` of `text/html; charset=utf-8`.
std::string_view media_type(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  return type;
}

ToolResult failed(const Error& error, net::Millis timeout, const CancelToken& cancel) {
  if (cancel.cancelled()) return error_result(kCancelledWords);
  if (error.code == ErrorCode::timed_out) return error_result(timeout_words(timeout));
  ToolResult result = error_result(error.message);
  result.refused = error.code == ErrorCode::forbidden;
  return result;
}

bool is_header(const std::pair<std::string, std::string>& header) {
  return net::is_sendable({header.first, header.second}) && !header.first.empty();
}

}  // namespace

Result<std::shared_ptr<Tool>> HttpTool::make(net::Loop& loop, const ToolConfig& config) {
  const auto& own = std::get<HttpToolConfig>(config.how);
  Result<UrlTemplate> url = UrlTemplate::parse(own.url);
  if (!url) return tl::unexpected(url.error());
  Result<NetworkGuard> guard = NetworkGuard::make(own.network);
  if (!guard) return tl::unexpected(guard.error());
  if (url->has_open_host() && !guard->has_hosts()) {
    return fail(ErrorCode::invalid_request,
                "url: its host is an argument, so the hosts that are allowed must be listed");
  }
  if (own.method.empty() || !net::is_sendable({own.method, ""})) {
    return fail(ErrorCode::invalid_request, "method: expected one such as GET or POST");
  }
  if (!std::all_of(own.headers.begin(), own.headers.end(), is_header)) {
    return fail(ErrorCode::invalid_request,
                "headers: a name or a value holds bytes that HTTP forbids");
  }
  ToolSpec spec{
      .name = config.name, .description = config.description, .parameters = config.parameters};
  return std::shared_ptr<Tool>(new HttpTool(loop, std::move(spec), config.limits,
                                            {own, std::move(*url), std::move(*guard)}));
}

HttpTool::HttpTool(net::Loop& loop, ToolSpec spec, ToolLimits limits, Parts parts)
    : Tool(loop, std::move(spec), limits),
      parts_(std::move(parts)),
      in_query_(parts_.config.method == "GET" || parts_.config.method == "HEAD" ||
                parts_.config.method == "DELETE"),
      client_(make_guarded_client(loop, parts_.config.network, parts_.guard)) {}

Result<UrlTemplate::Place> HttpTool::place(const std::vector<Argument>& arguments) const {
  Result<UrlTemplate::Place> place = parts_.url.expand(arguments);
  if (!place) return place;
  if (auto allowed = parts_.guard.check_host(place->target.host); !allowed) {
    return tl::unexpected(allowed.error());
  }
  char separator = place->path.find('?') == std::string::npos ? '?' : '&';
  const auto add = [&](const Argument& argument) {
    for (const std::string& text : to_plain_texts(argument.json)) {
      place->path.push_back(std::exchange(separator, '&'));
      append_percent_encoded(place->path, argument.name);
      place->path.push_back('=');
      append_percent_encoded(place->path, text);
    }
  };
  if (parts_.config.query) {
    for (const std::string& name : *parts_.config.query) {
      if (const Argument* argument = find_argument(arguments, name)) add(*argument);
    }
  } else if (in_query_) {
    for (const Argument& argument : arguments) {
      if (!parts_.url.uses(argument.name)) add(argument);
    }
  }
  return place;
}

std::string HttpTool::body(const ToolCall& call, const std::vector<Argument>& arguments) const {
  if (parts_.config.body) return to_object(arguments, *parts_.config.body);
  if (in_query_) return {};
  return call.arguments.empty() ? "{}" : call.arguments;
}

net::Headers HttpTool::headers(const ToolCall& call, bool has_body) const {
  net::Headers headers;
  for (const auto& [name, value] : parts_.config.headers) headers.add(name, value);
  const auto add_new = [&](std::string_view name, std::string_view value) {
    if (!headers.find(name) && net::is_sendable({name, value})) headers.add(name, value);
  };
  if (has_body) add_new("content-type", "application/json");
  add_new("accept", "application/json, text/*;q=0.9, */*;q=0.1");
  add_new("user-agent", "callgate");
  if (!parts_.config.pass_context) return headers;
  add_new("x-callgate-call-id", call.id);
  for (const auto& [name, value] : call.context.fields()) add_new("x-callgate-" + name, value);
  if (!call.context.traceparent.empty()) add_new("traceparent", call.context.traceparent);
  if (!call.context.tracestate.empty()) add_new("tracestate", call.context.tracestate);
  return headers;
}

bool HttpTool::is_text(std::string_view content_type) const {
  const std::string_view type = media_type(content_type);
  const auto matches = [type](std::string_view pattern) {
    return glob_matches(pattern, type, Case::ignored);
  };
  const auto& own = parts_.config.content_types;
  if (!own.empty()) return std::any_of(own.begin(), own.end(), matches);
  return type.empty() || std::any_of(kTextTypes.begin(), kTextTypes.end(), matches);
}

net::Task<ToolResult> HttpTool::perform(const ToolCall& call, net::Millis timeout,
                                        CancelToken& cancel) {
  const auto arguments = read_arguments(call.arguments);
  if (!arguments) co_return error_result(arguments.error().message);
  const auto to = place(*arguments);
  if (!to) co_return failed(to.error(), timeout, cancel);
  const std::string content = body(call, *arguments);
  net::ClientRequest request;
  request.method = parts_.config.method;
  request.path = to->path;
  request.headers = headers(call, !content.empty());
  request.body = content;
  net::Timeouts timeouts{
      .connect = timeout, .tls = timeout, .first_byte = timeout, .idle = timeout};
  timeouts.total = timeout;
  net::ClientExchange exchange(*client_, to->target, timeouts);
  const CancelToken::Hook hook(cancel, [&exchange] { exchange.cancel(); });
  const Result<void> sent = co_await exchange.send(request);
  if (!sent) co_return failed(sent.error(), timeout, cancel);
  Result<ToolResult> result = co_await read_answer(exchange);
  if (!result) co_return failed(result.error(), timeout, cancel);
  if (cancel.cancelled()) co_return error_result(kCancelledWords);
  co_return std::move(*result);
}

net::Task<Result<ToolResult>> HttpTool::read_answer(net::ClientExchange& exchange) {
  const int status = exchange.status();
  const std::string type(exchange.headers().find("content-type").value_or(""));
  const std::string coding(exchange.headers().find("content-encoding").value_or("identity"));
  const bool is_error = status >= 300;
  std::string words =
      is_error ? "HTTP " + std::to_string(status) + " " + std::string(net::reason_phrase(status))
               : "";
  if (const auto location = exchange.headers().find("location"); location && status < 400) {
    words.append(": redirects are not followed, it names ").append(*location);
  }
  if (!is_text(type) || !net::equals_ignoring_case(coding, "identity")) {
    if (is_error) co_return error_result(words);
    co_return error_result("the answer is not text: content-type " + type + ", content-encoding " +
                           coding);
  }
  BoundedText text(is_error ? parts_.config.preview_bytes : limits().result_bytes);
  // What is over the limit is not waited for: the connection closes with the exchange.
  while (!text.truncated()) {
    const Result<std::string_view> bytes = co_await exchange.read();
    if (!bytes && !is_error) co_return tl::unexpected(bytes.error());
    if (!bytes || bytes->empty()) break;
    text.append(*bytes);
  }
  ToolResult result;
  result.is_error = is_error;
  result.bytes = text.bytes();
  result.truncated = text.truncated();
  result.text = text.take();
  if (is_error) result.text = words + (result.text.empty() ? "" : "\n" + result.text);
  co_return result;
}

}  // namespace callgate::tool
