// How McpClient comes to know a server: which revision it speaks, and which tools it has.
#include <algorithm>
#include <array>

#include "base/glob.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "tool/mcp_client.h"

namespace callgate::tool {
namespace {

constexpr std::array<std::string_view, 4> kSessionRevisions = {kMcpSessionRevision, "2025-06-18",
                                                               "2025-03-26", "2024-11-05"};
constexpr int kMostPages = 100;

bool has(const std::vector<std::string>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// A server that refuses a revision says which it supports.
bool still_supports(const Result<std::string>& answer, std::string_view revision) {
  if (error_code_of(answer) != kMcpUnsupportedVersion) return false;
  json::Reader in(json::member_json(read_mcp_message(*answer).error_data, "supported"));
  bool found = false;
  if (in.peek() != json::Kind::array) return false;
  while (in.next_element()) {
    if (in.peek() != json::Kind::string) return false;
    found = in.string() == revision || found;
  }
  return found;
}

}  // namespace

net::Task<Result<void>> McpClient::connect() {
  revision_.clear();
  alive_ = true;
  const Result<void> opened = transport_->open();
  if (!opened) co_return opened;
  if (config_.revision != McpRevision::session_2025_11_25) {
    const Result<bool> found = co_await probe_stateless();
    if (!found) co_return tl::unexpected(found.error());
    if (!*found && !alive_) {
      // Some servers do not survive a first message that they do not know.
      alive_ = true;
      const Result<void> again = transport_->open();
      if (!again) co_return again;
    }
  }
  if (!stateless()) {
    const Result<void> hands = co_await shake_hands();
    if (!hands) co_return hands;
  }
  co_return co_await list(config_.start_timeout);
}

net::Task<Result<bool>> McpClient::probe_stateless() {
  revision_ = kMcpStatelessRevision;
  transport_->use_revision(revision_);
  const bool sure = config_.revision == McpRevision::stateless_2026_07_28;
  const bool stdio = config_.url.empty();
  const net::Millis timeout = stdio && !sure ? config_.probe_timeout : config_.start_timeout;
  CancelToken never;
  Answer answer = co_await ask("server/discover", "", timeout, never);
  const bool again = still_supports(answer, kMcpStatelessRevision);
  if (again) answer = co_await ask("server/discover", "", timeout, never);
  const Result<std::string> result = result_of(answer);
  const std::int64_t code = error_code_of(answer);
  const bool modern_fault = code == kMcpHeaderMismatch || code == kMcpMissingCapability;
  if (result) {
    const McpHello hello = read_hello(*result);
    if (has(hello.versions, kMcpStatelessRevision)) {
      lists_changes_ = hello.lists_changes;
      co_return true;
    }
  }
  revision_.clear();
  transport_->use_revision("");
  if (!sure && !modern_fault) co_return false;
  if (!result) co_return tl::unexpected(result.error());
  co_return fail(ErrorCode::upstream_failed, "the MCP server does not speak revision 2026-07-28");
}

net::Task<Result<void>> McpClient::shake_hands() {
  std::string members;
  members.append(R"("protocolVersion":")").append(kMcpSessionRevision);
  members.append(R"(","capabilities":{},"clientInfo":)").append(client_words());
  CancelToken never;
  const Answer answer = co_await ask("initialize", members, config_.start_timeout, never);
  const Result<std::string> result = result_of(answer);
  if (!result) co_return tl::unexpected(result.error());
  const McpHello hello = read_hello(*result);
  const std::string version = hello.versions.empty() ? "" : hello.versions.front();
  if (std::find(kSessionRevisions.begin(), kSessionRevisions.end(), version) ==
      kSessionRevisions.end()) {
    co_return fail(ErrorCode::upstream_failed,
                   "the MCP server speaks revision \"" + version + "\", which is not known");
  }
  revision_ = version;
  lists_changes_ = hello.lists_changes;
  transport_->use_revision(revision_);
  std::string initialized = write_mcp_notification("notifications/initialized", "");
  co_await transport_->deliver(std::move(initialized));
  co_return Result<void>();
}

void McpClient::listen() {
  if (!lists_changes_) return;
  if (!stateless()) return transport_->listen({});
  transport_->listen(
      request("subscriptions/listen", R"("notifications":{"toolsListChanged":true})", nullptr));
}

net::Task<Result<void>> McpClient::list(net::Millis timeout) {
  const auto self = shared_from_this();
  std::vector<McpToolEntry> all;
  std::string cursor;
  for (int pages = 0; pages < kMostPages; ++pages) {
    std::string members;
    if (!cursor.empty()) {
      members = R"("cursor":)";
      json::append_string(members, cursor);
    }
    CancelToken never;
    const Answer answer = co_await ask("tools/list", members, timeout, never);
    const Result<std::string> result = result_of(answer);
    if (!result) co_return tl::unexpected(result.error());
    McpToolPage page = read_tool_page(*result);
    if (!page.is_valid) {
      co_return fail(ErrorCode::upstream_failed, "the MCP server's list of tools is not a list");
    }
    for (McpToolEntry& tool : page.tools) {
      const bool wanted = config_.tools.empty() || matches_any(config_.tools, tool.name);
      const bool usable = config_.url.empty() || read_header_params(tool.schema).has_value();
      if (wanted && usable && all.size() < config_.most_tools) all.push_back(std::move(tool));
    }
    if (page.next_cursor.empty() || page.next_cursor == cursor) break;
    cursor = page.next_cursor;
  }
  if (all != tools_) {
    tools_ = std::move(all);
    if (on_tools_) on_tools_();
  }
  co_return Result<void>();
}

net::Task<> McpClient::list_again([[maybe_unused]] std::shared_ptr<McpClient> self) {
  co_await loop_.sleep(
      net::Millis(0));  // the reader of the notification still holds the read buffer
  while (stale_ && up_) {
    stale_ = false;
    const Result<void> listed = co_await list(config_.start_timeout);
    if (!listed) break;
  }
  listing_ = false;
}

}  // namespace callgate::tool
