#include "dial/targets.h"

#include <fstream>
#include <iterator>

#include "dial/credential/credential.h"

namespace callgate::server {
namespace {

// Enough for a demo or a test; the oldest chat makes room.
constexpr std::size_t kMostChats = 10'000;

Result<std::shared_ptr<const LoadedScript>> load(const UpstreamConfig& upstream,
                                                 const UpstreamPart* before) {
  const std::string file = script_file(upstream);
  auto text = read_script(file);
  if (!text) return tl::unexpected(text.error());
  const bool same = before != nullptr && before->script && before->script->text == *text;
  if (same) return before->script;
  auto script = parse_script_of(file, *text);
  if (!script) return tl::unexpected(script.error());
  return std::make_shared<const LoadedScript>(
      LoadedScript{.text = std::move(*text), .script = std::move(*script)});
}

std::string text_of_file(const std::string& path) {
  if (path.empty()) return {};
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

const UpstreamPart* find_part(const UpstreamParts* parts, std::string_view name) {
  if (parts == nullptr) return nullptr;
  const auto found = parts->by_upstream.find(name);
  return found == parts->by_upstream.end() ? nullptr : &found->second;
}

}  // namespace

Result<std::shared_ptr<const UpstreamParts>> load_upstream_parts(
    const Config& config, ChildHosts& children,
    const std::function<ChildHealth(const std::string& upstream)>& health,
    const UpstreamParts* before) {
  auto parts = std::make_shared<UpstreamParts>();
  for (const UpstreamConfig& upstream : config.upstreams) {
    UpstreamPart& part = parts->by_upstream[upstream.name];
    part.ca_text = text_of_file(upstream.ca_file);
    const UpstreamPart* old = find_part(before, upstream.name);
    const bool same_key = old != nullptr && old->credential && old->credential->is_of(upstream);
    part.credential = same_key ? old->credential : Credential::make(upstream);
    if (!upstream.is_scripted()) continue;
    auto script = load(upstream, find_part(before, upstream.name));
    if (!script) return tl::unexpected(script.error());
    part.script = std::move(*script);
    if (parts->chats == nullptr && before != nullptr) parts->chats = before->chats;
    if (parts->chats == nullptr) parts->chats = std::make_shared<ScriptedChats>(kMostChats);
  }
  // Only now, when nothing can fail any more: a host has a thread.
  for (const UpstreamConfig& upstream : config.upstreams) {
    if (!upstream.is_child()) continue;
    parts->by_upstream[upstream.name].host =
        children.find_or_start(upstream, [&] { return health(upstream.name); });
  }
  return parts;
}

Result<Targets::Prepared> Targets::prepare(const std::vector<UpstreamConfig>& upstreams,
                                           const UpstreamParts& parts) {
  Prepared prepared;
  for (const UpstreamConfig& upstream : upstreams) {
    const UpstreamPart& part = *find_part(&parts, upstream.name);
    const auto old = targets_.find(upstream.name);
    const bool same =
        old != targets_.end() && old->second.config == upstream && old->second.part == part;
    if (same) {
      prepared.insert(*old);
      continue;
    }
    auto target = make(upstream, part, parts);
    if (!target) return tl::unexpected(target.error());
    prepared.emplace(upstream.name, Entry{upstream, part, std::move(*target)});
  }
  return prepared;
}

Result<std::shared_ptr<UpstreamTarget>> Targets::make(const UpstreamConfig& config,
                                                      const UpstreamPart& part,
                                                      const UpstreamParts& parts) {
  if (config.is_child()) return make_child_target(loop_, config, part.host);
  Result<std::unique_ptr<UpstreamTarget>> target;
  if (config.is_scripted()) {
    const std::shared_ptr<const script::Script> script(part.script, &part.script->script);
    target = make_script_target(loop_, config, script, parts.chats);
  } else {
    target = make_http_target(loop_, config, part.credential);
  }
  if (!target) return tl::unexpected(target.error());
  if (config.wire != "qwen_web") return std::move(*target);
  return make_qwen_web_target(loop_, config, std::move(*target), memory_, mint_.next());
}

std::shared_ptr<UpstreamTarget> Targets::find(std::string_view name) const {
  const auto found = targets_.find(name);
  return found == targets_.end() ? nullptr : found->second.target;
}

}  // namespace callgate::server
