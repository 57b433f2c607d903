#include "turn/snapshot.h"

#include <algorithm>
#include <chrono>

#include "base/quoted.h"
#include "config/config_text.h"
#include "config/secrets.h"
#include "dialect/models.h"
#include "dialect/render/render.h"

namespace callgate::server {
namespace {

// A model that the key may not use is spoken of alike whether it exists or not.
Error no_model(const Snapshot& snapshot, const KeyState* key, std::string_view name) {
  const bool denied = key != nullptr && !key->may_use(name);
  std::string message =
      denied ? "key \"" + key->config.name + "\" may not use model " : std::string("model ");
  message.append(in_quotes(name)).append(denied ? "" : " does not exist");
  std::vector<std::string_view> names;
  const std::vector<ListedModel> all = snapshot.list_models(key);
  for (const ListedModel& listed : all) names.push_back(listed.name);
  if (snapshot.config.models.empty() && !snapshot.finder.serves_lists()) {
    message += "; no [[model]] is configured";
  } else if (names.empty()) {
    message += "; this key may use no model";
  } else {
    const std::string near = suggestion(name, names);
    message.append(near.empty() ? ";" : near).append(" GET /v1/models lists all");
  }
  return {.code = denied ? ErrorCode::forbidden : ErrorCode::not_found,
          .message = std::move(message),
          .param = "model",
          .upstream_code = denied ? "" : "model_not_found"};
}

engine::CallIdForm call_ids_of(const ModelConfig& model, std::string_view dialect) {
  if (model.upstream_call_ids.empty()) return engine::call_ids_of(dialect);
  if (model.upstream_call_ids == "kimi") return engine::CallIdForm::kimi;
  if (model.upstream_call_ids == "mistral") return engine::CallIdForm::mistral;
  return engine::CallIdForm::any;
}

// What the model's requests become on their way to the upstream.
engine::RequestRules rules_of(const ModelConfig& model, const DialectChoice& choice,
                              const std::vector<std::string>& scrub) {
  const std::string_view dialect = choice.dialect == nullptr ? "native" : choice.dialect->name;
  engine::RequestRules rules;
  if (model.system == "drop") rules.system = engine::SystemPrompts::drop;
  if (model.system == "first") rules.system = engine::SystemPrompts::first;
  rules.call_ids = call_ids_of(model, dialect);
  rules.params = model.params.members;
  rules.strip_replayed_calls = model.replayed_tools == "strip";
  rules.scrub = scrub;
  // A model of which nothing is known is shown the form that most models know; `auto` reads it.
  if (model.tools == "prompt") {
    rules.prompt_dialect = dialect::writes_calls_as_text(dialect) ? dialect : "hermes";
  }
  return rules;
}

// Keys such as `EMPTY` are no secrets: a mask of them would spoil what is logged.
std::vector<std::string> long_enough(std::vector<std::string> secrets) {
  std::erase_if(secrets, [](const auto& secret) { return !is_long_enough_for_a_secret(secret); });
  return secrets;
}

}  // namespace

static Snapshot::Model to_model(const dialect::Catalog& dialects, const ModelConfig& model,
                                const std::vector<std::string>& scrub) {
  const DialectChoice dialect = *choose_dialect(dialects, model, "");
  return {.config = &model,
          .dialect = dialect,
          .policy = *to_policy(model),
          .rules = rules_of(model, dialect, scrub)};
}

// A model that no table names.
static Snapshot::Model to_model(const dialect::Catalog& dialects, const FoundModel& found,
                                const std::vector<std::string>& scrub) {
  Snapshot::Model model = to_model(dialects, *found.config, scrub);
  model.own = found.config;
  if (found.effort.empty()) return model;
  constexpr std::string_view kEffort = "reasoning_effort";
  std::erase_if(model.rules.params, [&](const auto& field) { return field.name == kEffort; });
  ExtraField& field = model.rules.params.emplace_back();
  field.name = kEffort;
  field.value.text = "\"" + found.effort + "\"";
  return model;
}

Result<DialectChoice> choose_dialect(const dialect::Catalog& dialects, const ModelConfig& model,
                                     std::string_view header) {
  const std::string_view name = header.empty() ? std::string_view(model.dialect) : header;
  DialectChoice choice;
  if (name.empty()) {
    choice.is_default = true;
    choice.dialect = dialects.choose_for(model.id.empty() ? model.name : model.id).dialect;
    // A prompt cannot teach an own dialect; `auto` reads that and what the prompt shows.
    const auto own = dialects.own();
    const bool untaught =
        model.tools == "prompt" && std::find(own.begin(), own.end(), choice.dialect) != own.end();
    if (choice.dialect == nullptr || untaught) choice.dialect = dialects.find("auto");
  } else {
    choice.dialect = dialects.find(name);
    if (choice.dialect == nullptr) {
      return fail(ErrorCode::invalid_request, "header x-callgate-dialect: there is no dialect " +
                                                  in_quotes(name) +
                                                  ", `callgate dialects` lists all");
    }
  }
  if (choice.dialect->name == "native") choice.dialect = nullptr;
  return choice;
}

Snapshot::Snapshot(Config given, Access keys, std::shared_ptr<const ModelCatalogue> catalogue)
    : config(std::move(given)),
      dialects(make_catalog(config)),
      finder(config, std::move(catalogue)),
      access(std::move(keys)),
      loaded_at(std::chrono::duration_cast<std::chrono::seconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count()),
      secrets(std::make_shared<const std::vector<std::string>>(secrets_of(config))),
      mask(long_enough(*secrets)) {
  for (const ModelConfig& model : config.models) {
    if (is_pattern(model.name)) continue;
    const Model known = to_model(dialects, model, config.scrub);
    models[model.name] = known;
    for (const std::string& alias : model.aliases) models[alias] = known;
  }
}

std::vector<ListedModel> Snapshot::list_models(const KeyState* key) const {
  std::vector<ListedModel> all = finder.list();
  if (key != nullptr) {
    std::erase_if(all, [&](const ListedModel& listed) { return !key->may_use(listed.name); });
  }
  for (ListedModel& listed : all) {
    if (listed.created == 0) listed.created = loaded_at;
  }
  return all;
}

Result<Snapshot::Model> Snapshot::choose_model(const KeyState* key, std::string_view name) const {
  const bool allowed = key == nullptr || key->may_use(name);
  if (!allowed) return tl::unexpected(no_model(*this, key, name));
  if (const auto found = models.find(name); found != models.end()) return found->second;
  if (const auto found = finder.find(name)) return to_model(dialects, *found, config.scrub);
  return tl::unexpected(no_model(*this, key, name));
}

}  // namespace callgate::server
