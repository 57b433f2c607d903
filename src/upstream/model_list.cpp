#include "upstream/model_list.h"

#include <utility>

#include "json/reader.h"

namespace callgate::upstream {
namespace {

// `list`: the member that has the models; `name`: what they are called by in it.
struct ListForm {
  std::string_view path;
  std::string_view list;
  std::string_view name;
};

ListForm form_of(std::string_view wire) {
  if (wire == "ollama") return {"/api/tags", "models", "name"};
  if (wire == "gemini") return {"/models?pageSize=1000", "models", "name"};
  if (wire == "anthropic_messages") return {"/models?limit=1000", "data", "id"};
  if (wire.starts_with("openai_")) return {"/models", "data", "id"};
  return {};
}

ServedModel read_model(json::Reader& in, const ListForm& form) {
  ServedModel model;
  for (std::string_view key; in.next_member(key);) {
    if (key == form.name && in.peek() == json::Kind::string) {
      model.id = in.string();
    } else if (key == "created" && in.peek() == json::Kind::number) {
      model.created = in.integer().value_or(0);
    } else {
      in.skip();
    }
  }
  // Gemini names models by their path.
  if (constexpr std::string_view kPath = "models/"; model.id.starts_with(kPath)) {
    model.id.erase(0, kPath.size());
  }
  return model;
}

std::vector<ServedModel> read_models(json::Reader& in, const ListForm& form) {
  std::vector<ServedModel> models;
  while (in.next_element()) {
    if (in.peek() != json::Kind::object) {
      in.skip();
      continue;
    }
    ServedModel model = read_model(in, form);
    if (!model.id.empty() && models.size() < kMostModels) models.push_back(std::move(model));
  }
  return models;
}

}  // namespace

std::string_view model_list_path(std::string_view wire) { return form_of(wire).path; }

std::optional<std::vector<ServedModel>> read_model_list(std::string_view wire,
                                                        std::string_view body) {
  const ListForm form = form_of(wire);
  std::optional<std::vector<ServedModel>> models;
  json::Reader in(body);
  if (form.path.empty() || in.peek() != json::Kind::object) return std::nullopt;
  for (std::string_view key; in.next_member(key);) {
    if (key == form.list && in.peek() == json::Kind::array) {
      models = read_models(in, form);
    } else {
      in.skip();
    }
  }
  if (!in.finish()) return std::nullopt;
  return models;
}

}  // namespace callgate::upstream
