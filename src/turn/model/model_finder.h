// Models without a table of their own: those that an upstream lists, those whose name fits a pattern, and those that are another
// model with a reasoning effort at the end of the name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "turn/model/model_catalogue.h"

namespace callgate::server {

bool is_pattern(std::string_view name);

// A name that clients may ask for.
struct ListedModel {
  std::string name;
  std::string owner;         // the upstream
  std::int64_t created = 0;  // Unix seconds; 0: nobody knows
};

struct FoundModel {
  std::shared_ptr<const ModelConfig> config;
  std::string effort;  // of its reasoning; empty: as the client says
};

class ModelFinder {
 public:
  // `catalogue` may be nullptr: then patterns alone count. REQUIRES: the configuration outlives the finder.
  ModelFinder(const Config& config, std::shared_ptr<const ModelCatalogue> catalogue)
      : config_(config), catalogue_(std::move(catalogue)) {}

  // A model that no table names.
  std::optional<FoundModel> find(std::string_view name) const;
  // All names, those of tables first, each once.
  std::vector<ListedModel> list() const;
  bool serves_lists() const;

 private:
  // The upstreams that serve it, and what they call it.
  struct Served {
    std::vector<std::string> upstreams;
    std::string id;
    std::string label;  // the name, or the pattern where any name would do
  };
  Served served(std::string_view name) const;
  std::shared_ptr<const ModelConfig> find_plain(std::string_view name) const;
  const ModelConfig* table_of(std::string_view name) const;

  const Config& config_;
  std::shared_ptr<const ModelCatalogue> catalogue_;
};

}  // namespace callgate::server
