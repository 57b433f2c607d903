#include "dialect/custom/catalog.h"

#include <algorithm>

#include "base/check.h"
#include "dialect/auto_parser.h"
#include "dialect/custom/layout.h"
#include "dialect/family/marked_json.h"
#include "dialect/family/python_calls.h"
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect {

// A definition with its parsers. Those keep the layout that they read.
class CustomDialect {
 public:
  explicit CustomDialect(const Definition& definition)
      : definition_(definition), layout_(std::make_shared<const Layout>(definition_)) {
    for (const std::string& pattern : definition_.models) models_.push_back(pattern);
    spec_ = definition_.description.empty() ? definition_.call.front() : definition_.description;
    dialect_ = {.name = definition_.name,
                .spec = spec_,
                .models = models_,
                .commit = definition_.commit == "whole_call" ? Commit::whole_call : Commit::eager,
                .make = {make, this}};
  }
  CustomDialect(const CustomDialect&) = delete;
  CustomDialect& operator=(const CustomDialect&) = delete;

  const Dialect& dialect() const { return dialect_; }
  OwnSigns signs() const;

 private:
  static std::unique_ptr<DialectParser> make(const void* self, const DialectOptions& options);

  const Definition definition_;
  std::shared_ptr<const Layout> layout_;
  std::vector<std::string_view> models_;
  std::string spec_;
  Dialect dialect_;
};

std::unique_ptr<DialectParser> CustomDialect::make(const void* self,
                                                   const DialectOptions& options) {
  const std::shared_ptr<const Layout>& layout = static_cast<const CustomDialect*>(self)->layout_;
  std::shared_ptr<const Prose> prose(layout, &layout->prose);
  std::unique_ptr<CallReader> reader;
  switch (layout->form) {
    case Layout::Form::json:
      reader = make_marked_json(*prose, layout->keys, options);
      break;
    case Layout::Form::python:
      reader = std::make_unique<PythonCalls>(layout->open, options);
      break;
    case Layout::Form::named:
      reader = make_named_json(*prose, layout->named, options);
      break;
    case Layout::Form::tagged:
      reader = std::make_unique<TaggedCalls>(layout->tagged, layout->open, options, &*prose);
      break;
  }
  return make_turn_parser(std::move(prose), std::move(reader), options);
}

OwnSigns CustomDialect::signs() const {
  OwnSigns signs{.dialect = &dialect_};
  const auto kind = definition_.special_tokens ? Sign::Kind::token : Sign::Kind::text;
  const auto add = [&](std::string_view text, Sign::Kind as, bool section) {
    signs.signs.push_back({.text = text, .dialect = dialect_.name, .kind = as, .section = section});
  };
  for (const std::string_view text : layout_->section_open) add(text, kind, true);
  for (const Opener& opener : layout_->open) {
    const auto& sections = layout_->section_open;
    const bool known = std::find(sections.begin(), sections.end(), opener.text) != sections.end();
    if (!known) add(opener.text, kind, true);
  }
  // Reasoning that only this dialect opens says at the start of a turn who writes it.
  for (const Envelope& envelope : layout_->reasoning) {
    const bool usual = envelope.open == kThink[0].open;
    if (!usual && !envelope.open.empty()) add(envelope.open, Sign::Kind::turn, false);
    if (!usual) signs.reasoning.push_back(envelope);
  }
  signs.tails.assign(layout_->tail.begin(), layout_->tail.end());
  return signs;
}

Catalog::Catalog() : Catalog(std::vector<Definition>()) {}

Catalog::Catalog(const std::vector<Definition>& definitions)
    : all_(dialect::all().begin(), dialect::all().end()) {
  CALLGATE_CHECK(definitions.size() <= kMaxDefinitions);
  if (definitions.empty()) return;
  std::vector<OwnSigns> signs;
  for (const Definition& definition : definitions) {
    const auto& custom = customs_.emplace_back(std::make_unique<CustomDialect>(definition));
    own_.push_back(&custom->dialect());
    signs.push_back(custom->signs());
  }
  list_ = std::make_unique<const WatchList>(std::move(signs));
  auto_ = std::make_unique<const Dialect>(automatic_with(*list_));
  for (const Dialect*& dialect : all_) {
    if (dialect->name == auto_->name) dialect = auto_.get();
  }
  all_.insert(all_.end(), own_.begin(), own_.end());
  std::sort(all_.begin(), all_.end(),
            [](const Dialect* a, const Dialect* b) { return a->name < b->name; });
}

Catalog::Catalog(Catalog&&) noexcept = default;
Catalog& Catalog::operator=(Catalog&&) noexcept = default;
Catalog::~Catalog() = default;

const Dialect* Catalog::find(std::string_view name) const {
  const auto at = std::find_if(all_.begin(), all_.end(),
                               [&](const Dialect* dialect) { return dialect->name == name; });
  return at == all_.end() ? nullptr : *at;
}

const Dialect* find_in(const Catalog* catalog, std::string_view name) {
  return catalog == nullptr ? find(name) : catalog->find(name);
}

ModelChoice Catalog::choose_for(std::string_view model) const {
  ModelChoice choice = dialect::choose_for(model, own_);
  return choice.matches.empty() ? dialect::choose_for(model) : choice;
}

}  // namespace callgate::dialect
