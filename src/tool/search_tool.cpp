#include "tool/search_tool.h"

#include <algorithm>
#include <utility>

#include "base/quoted.h"
#include "base/text.h"
#include "json/reader.h"
#include "json/writer.h"
#include "tool/arguments.h"
#include "tool/http_tool.h"

namespace callgate::tool {
namespace {

constexpr std::size_t kMaxTitle = 300;  // bytes, as the next two
constexpr std::size_t kMaxAddress = 2000;
constexpr std::size_t kMaxSnippet = 1000;

constexpr std::string_view kSearchParameters =
    R"({"type":"object","properties":{"query":{"type":"string","description":"the words to search for"},"count":{"type":"integer","description":"how many results"}},"required":["query"],"additionalProperties":false})";

// The value of a member; the last of several with that name. Empty if it is missing.
std::string_view member_of(std::string_view json, std::string_view name) {
  json::Reader in(json);
  std::string_view found;
  if (in.peek() != json::Kind::object) return {};
  for (std::string_view key; in.next_member(key);) {
    const bool wanted = key == name;
    const std::string_view value = in.raw();
    if (wanted) found = value;
  }
  return found;
}

// The list at `path`, names with dots between.
std::string_view value_at(std::string_view json, std::string_view path) {
  while (!path.empty() && !json.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    json = member_of(json, path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return json;
}

// One line of at most `most` bytes.
std::string line_of(std::string_view result, std::string_view name, std::size_t most) {
  std::string text = name.empty() ? "" : to_plain_text(value_at(result, name));
  if (text == "null") text.clear();
  std::replace_if(text.begin(), text.end(), is_space, ' ');
  return shortened(trimmed(text), most);
}

bool append_result(std::string& out, std::size_t number, std::string_view result,
                   const SearchReply& reply) {
  const std::string url = line_of(result, reply.url, kMaxAddress);
  if (url.empty()) return false;
  const std::string title = line_of(result, reply.title, kMaxTitle);
  const std::string snippet = line_of(result, reply.snippet, kMaxSnippet);
  out.append(out.empty() ? "" : "\n").append(std::to_string(number)).append(". ");
  out.append(title.empty() ? url : title).append("\n   ").append(url) += '\n';
  if (!snippet.empty()) out.append("   ").append(snippet) += '\n';
  return true;
}

class SearchTool final : public Tool {
 public:
  SearchTool(net::Loop& loop, ToolSpec spec, ToolLimits limits, SearchToolConfig config,
             std::shared_ptr<Tool> request)
      : Tool(loop, std::move(spec), limits),
        config_(std::move(config)),
        request_(std::move(request)) {}

 private:
  Result<std::string> to_request(std::string_view arguments, std::size_t& count) const;
  net::Task<ToolResult> perform(const ToolCall& call, net::Millis timeout,
                                CancelToken& cancel) override;

  const SearchToolConfig config_;
  const std::shared_ptr<Tool> request_;  // an HTTP tool with the API's own arguments
};

Result<std::string> SearchTool::to_request(std::string_view arguments, std::size_t& count) const {
  const auto given = read_arguments(arguments);
  if (!given) return tl::unexpected(given.error());
  const Argument* query = find_argument(*given, "query");
  const std::string words = query == nullptr ? "" : to_plain_text(query->json);
  if (is_blank(words)) return fail(ErrorCode::invalid_request, "query: expected words");
  const Argument* wanted = find_argument(*given, "count");
  const auto number = saturated_number(wanted == nullptr ? "" : std::string_view(wanted->json));
  count = std::clamp<std::uint64_t>(number.value_or(config_.max_results), 1, config_.max_results);
  std::string out;
  json::ObjectWriter object(out);
  json::append_string(object.key(config_.query_name), words);
  if (!config_.count_name.empty()) {
    object.integer(config_.count_name, static_cast<std::int64_t>(count));
  }
  object.close();
  return out;
}

net::Task<ToolResult> SearchTool::perform(const ToolCall& call, net::Millis timeout,
                                          CancelToken& cancel) {
  std::size_t count = 0;
  auto request = to_request(call.arguments, count);
  if (!request) co_return error_result(request.error().message);
  ToolCall asked = call;
  asked.arguments = std::move(*request);
  ToolResult result = co_await request_->run(asked, timeout, cancel);
  if (result.is_error) co_return result;
  if (result.truncated) {
    co_return error_result("the reply of the search API is longer than " +
                           std::to_string(config_.reply_bytes) + " bytes");
  }
  auto text = read_search_reply(result.text, config_.reply, count);
  if (!text) co_return error_result(text.error().message);
  result.text = std::move(*text);
  co_return result;
}

}  // namespace

Result<std::string> read_search_reply(std::string_view json, const SearchReply& reply,
                                      std::size_t most) {
  json::Reader whole(json);
  whole.skip();
  if (!whole.finish()) {
    return fail(ErrorCode::upstream_failed, "the reply of the search API is not JSON");
  }
  const std::string_view list = value_at(json, reply.list);
  json::Reader in(list);
  if (list.empty() || in.peek() != json::Kind::array) {
    return fail(ErrorCode::upstream_failed,
                "the reply of the search API has no list at " + in_quotes(reply.list));
  }
  std::string out;
  std::size_t count = 0;
  while (in.next_element()) {
    const std::string_view result = in.raw();
    if (count < most && append_result(out, count + 1, result, reply)) ++count;
  }
  return out.empty() ? "No results." : out;
}

Result<std::shared_ptr<Tool>> make_search_tool(net::Loop& loop, const ToolConfig& config) {
  const auto& own = std::get<SearchToolConfig>(config.how);
  ToolConfig request{.name = config.name, .limits = config.limits, .how = own.http};
  request.limits.result_bytes = own.reply_bytes;
  auto made = HttpTool::make(loop, request);
  if (!made) return made;
  ToolSpec spec{
      .name = config.name, .description = config.description, .parameters = config.parameters};
  if (spec.description.empty()) {
    spec.description = "Searches the web. Gives titles, addresses and what the pages say.";
  }
  if (spec.parameters.empty()) spec.parameters.text = kSearchParameters;
  return std::shared_ptr<Tool>(
      std::make_shared<SearchTool>(loop, std::move(spec), config.limits, own, std::move(*made)));
}

}  // namespace callgate::tool
