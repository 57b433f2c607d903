// A configuration in force.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "access/access.h"
#include "callgate/dialect.h"
#include "callgate/policy.h"
#include "callgate/result.h"
#include "capture/secret_mask.h"
#include "config/config.h"
#include "config/dialect_config.h"
#include "dial/call_habits.h"
#include "dial/learned_pairs.h"
#include "engine/prepare_request.h"
#include "turn/model/model_finder.h"

namespace callgate::server {

struct DialectChoice {
  const Dialect* dialect = nullptr;  // nullptr: native
  bool is_default = false;           // nobody chose it
};

// The dialect of a turn among `dialects`: the header `x-callgate-dialect`, else the configuration, else the model's name, else auto.
Result<DialectChoice> choose_dialect(const dialect::Catalog& dialects, const ModelConfig& model,
                                     std::string_view header);

// Immutable but for its counters. A reload replaces it on each event loop; a request keeps the one it began with.
struct Snapshot {
  struct Model {
    const ModelConfig* config = nullptr;
    DialectChoice dialect;  // without a header
    PolicyOptions policy;
    engine::RequestRules rules;
    std::shared_ptr<const ModelConfig> own =
        {};  // of a model without a table; nullptr: the snapshot has it
  };
  // `catalogue`: what upstreams say that they serve; nullptr: nobody asks them. REQUIRES: check_config(given) holds.
  Snapshot(Config given, Access keys, std::shared_ptr<const ModelCatalogue> catalogue = nullptr);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // The names that the key may use: of models, their aliases, and what upstreams serve, in the order of the configuration.
  // `key` is nullptr on an open gateway.
  std::vector<ListedModel> list_models(const KeyState* key) const;

  // The model, if it exists and the key may use it. `key` is nullptr on an open gateway.
  Result<Model> choose_model(const KeyState* key, std::string_view name) const;

  const Config config;
  const dialect::Catalog dialects;  // the built-in ones and those of the configuration
  const ModelFinder finder;
  const Access access;
  const std::int64_t loaded_at;                                   // seconds since 1970
  const std::shared_ptr<const std::vector<std::string>> secrets;  // what captures must not show
  const SecretMask mask;                                          // over those that are long enough
  std::unordered_map<std::string_view, Model> models;
  // Learned while this configuration is in force.
  mutable LearnedPairs text_only;  // upstreams that refused tools
  mutable CallHabits habits;
};

}  // namespace callgate::server
