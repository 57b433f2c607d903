#include "turn/model/model_finder.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/glob.h"

namespace callgate::server {
namespace {

constexpr std::array<std::string_view, 4> kEfforts{"none", "low", "medium", "high"};

// Splits `gpt-5-high`. Nothing: it has no such end.
struct SuffixedName {
  std::string_view base;
  std::string_view effort;
};
std::optional<SuffixedName> split_effort(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const std::string_view effort = name.substr(dash + 1);
  if (std::find(kEfforts.begin(), kEfforts.end(), effort) == kEfforts.end()) return std::nullopt;
  return SuffixedName{name.substr(0, dash), effort};
}

}  // namespace

bool is_pattern(std::string_view name) {
  return name.find_first_of("*?") != std::string_view::npos;
}

bool ModelFinder::serves_lists() const {
  return std::any_of(config_.upstreams.begin(), config_.upstreams.end(),
                     [](const UpstreamConfig& upstream) { return !upstream.models.empty(); });
}

const ModelConfig* ModelFinder::table_of(std::string_view name) const {
  for (const ModelConfig& model : config_.models) {
    const auto& aliases = model.aliases;
    if (model.name == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end()) {
      return &model;
    }
  }
  return nullptr;
}

// An upstream whose list nobody has yet is believed to have what fits its patterns.
ModelFinder::Served ModelFinder::served(std::string_view name) const {
  Served found;
  for (const UpstreamConfig& upstream : config_.upstreams) {
    if (upstream.models.empty() || !name.starts_with(upstream.models_prefix)) continue;
    const std::string_view id = name.substr(upstream.models_prefix.size());
    if (id.empty() || !matches_any(upstream.models, id)) continue;
    if (!found.upstreams.empty() && found.id != id) continue;  // it has another name there
    const auto list = catalogue_ == nullptr ? nullptr : catalogue_->of(upstream.name);
    if (list != nullptr && !list->ids.contains(std::string(id))) continue;
    if (found.upstreams.empty()) {
      found.id = id;
      found.label = list != nullptr ? std::string(name) : upstream.models_prefix + "*";
    }
    found.upstreams.push_back(upstream.name);
  }
  return found;
}

// A table whose name is a pattern says how; the upstreams are its own, or those that list the model.
std::shared_ptr<const ModelConfig> ModelFinder::find_plain(std::string_view name) const {
  const Served served = this->served(name);
  auto made = std::make_shared<ModelConfig>();
  for (const ModelConfig& table : config_.models) {
    if (!is_pattern(table.name) || !glob_matches(table.name, name)) continue;
    if (table.upstream.empty() && served.upstreams.empty()) continue;
    *made = table;
    made->aliases.clear();
    break;
  }
  const bool own = !made->upstream.empty();
  if (!own && served.upstreams.empty()) return nullptr;
  if (!own) {
    made->upstream = served.upstreams;
    for (const std::string& upstream : served.upstreams) made->pool.push_back({upstream});
    made->name = served.label;
  }
  if (made->id.empty()) made->id = own ? std::string(name) : served.id;
  return made;
}

// A table that wants suffixes goes before what patterns may stand for.
std::optional<FoundModel> ModelFinder::find(std::string_view name) const {
  const auto parts = split_effort(name);
  const ModelConfig* table = parts ? table_of(parts->base) : nullptr;
  if (table != nullptr && table->effort_suffixes && !is_pattern(table->name)) {
    return FoundModel{std::make_shared<const ModelConfig>(*table), std::string(parts->effort)};
  }
  if (auto plain = find_plain(name)) return FoundModel{std::move(plain), {}};
  auto base = parts && table == nullptr ? find_plain(parts->base) : nullptr;
  if (base == nullptr || !base->effort_suffixes) return std::nullopt;
  return FoundModel{std::move(base), std::string(parts->effort)};
}

std::vector<ListedModel> ModelFinder::list() const {
  std::vector<ListedModel> all;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, const ModelConfig& model, std::int64_t created) {
    if (!seen.insert(name).second) return;
    all.push_back({name, model.upstream.front(), created});
    if (!model.effort_suffixes) return;
    for (const std::string_view effort : kEfforts) {
      std::string with_effort = name + "-" + std::string(effort);
      if (seen.insert(with_effort).second) {
        all.push_back({std::move(with_effort), model.upstream.front(), created});
      }
    }
  };
  for (const ModelConfig& model : config_.models) {
    if (!is_pattern(model.name)) add(model.name, model, 0);
    for (const std::string& alias : model.aliases) add(alias, model, 0);
  }
  for (const UpstreamConfig& upstream : config_.upstreams) {
    const auto list =
        upstream.models.empty() || catalogue_ == nullptr ? nullptr : catalogue_->of(upstream.name);
    if (list == nullptr) continue;
    for (const auto& model : list->all) {
      if (!matches_any(upstream.models, model.id)) continue;
      const std::string name = upstream.models_prefix + model.id;
      if (seen.contains(name)) continue;
      if (const auto found = find_plain(name)) add(name, *found, model.created);
    }
  }
  return all;
}

}  // namespace callgate::server
