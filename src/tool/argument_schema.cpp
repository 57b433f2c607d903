#include "tool/argument_schema.h"

#include "tool/schema_adapter.h"
#include "tool/schema_rewrite.h"

// After the adapter, which says how it is to be compiled.
#include <cmath>
#include <optional>
#include <regex>
#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "json/writer.h"
#include "tool/bounded_text.h"

namespace callgate::tool {
namespace {

constexpr std::size_t kMostSchemaBytes = std::size_t{256} << 10;
constexpr std::size_t kMostPatternStates = 1'000;
constexpr std::size_t kMostMatchedBytes = std::size_t{16} << 10;
constexpr std::size_t kMostFaults = 8;
constexpr std::size_t kMostLooks = 300'000;
constexpr std::size_t kMostReasonLooks = 20'000;

using Context = std::vector<std::string>;

// `pattern`, matched in time that grows with the text and no deeper than the pattern, unlike the usual engine.
class PatternConstraint : public valijson::constraints::PolyConstraint {
 public:
  explicit PatternConstraint(std::string pattern) : pattern_(std::move(pattern)) {
    if (!is_small()) return;
    constexpr auto kFlags = std::regex_constants::ECMAScript | std::regex_constants::__polynomial;
    const std::regex alone(pattern_, kFlags);  // throws unless the pattern is one by itself
    // Found anywhere in one pass: a search would begin anew at every character.
    regex_.emplace("[\\s\\S]*?(?:" + pattern_ + ")", kFlags);
  }

  bool validate(const valijson::adapters::Adapter& target, const Context& context,
                valijson::ValidationResults* results) const override {
    std::string text;
    if (!regex_ || !target.isString() || !target.getString(text)) return true;
    const bool fits = text.size() <= kMostMatchedBytes;
    // A look costs as much as some tens of steps.
    if (fits) dynamic_cast<const NodeAdapter&>(target).spend(text.size() * pattern_.size() / 32);
    if (fits && is_match(text)) return true;
    if (results != nullptr) results->pushError(context, "expected text that matches " + pattern_);
    return false;
  }

 private:
  bool is_match(const std::string& text) const {
    return std::regex_search(text, *regex_, std::regex_constants::match_continuous);
  }
  // Repeats are unrolled when a pattern is compiled. A pattern that gets too large is not checked.
  bool is_small() const {
    if (pattern_.size() > kMostPatternStates) return false;
    std::size_t states = pattern_.size();
    for (std::size_t at = pattern_.find('{'); at < pattern_.size();
         at = pattern_.find('{', at + 1)) {
      const std::size_t end = std::min(pattern_.find('}', at), pattern_.size());
      std::size_t most = 1;
      for (std::size_t digit = at + 1; digit < end;) {
        most = std::max<std::size_t>(most, std::strtoul(pattern_.c_str() + digit, nullptr, 10));
        digit = std::min(pattern_.find(',', digit), end) + 1;
      }
      if (most > kMostPatternStates) return false;
      // The length of a group that repeats is unknown here.
      const bool is_group = at > 0 && pattern_[at - 1] == ')';
      states = is_group ? states * most : states + most;
      if (states > kMostPatternStates) return false;
    }
    return true;
  }
  Constraint* cloneInto(void* place) const override { return new (place) PatternConstraint(*this); }
  std::size_t sizeOf() const override { return sizeof(PatternConstraint); }

  std::string pattern_;
  std::optional<std::regex> regex_;
};

class MultipleConstraint : public valijson::constraints::PolyConstraint {
 public:
  explicit MultipleConstraint(double divisor) : divisor_(divisor) {}

  bool validate(const valijson::adapters::Adapter& target, const Context& context,
                valijson::ValidationResults* results) const override {
    if (!target.isNumber()) return true;
    const double value = target.getNumber();
    // As near as 0.3 comes to three times 0.1.
    const double off = std::abs(std::remainder(value, divisor_));
    if (off <= std::abs(value) * 1e-15 || off <= divisor_ * 1e-9) return true;
    if (results != nullptr) {
      std::string divisor = std::to_string(divisor_);
      while (divisor.ends_with('0')) divisor.pop_back();
      if (divisor.ends_with('.')) divisor.pop_back();
      results->pushError(context, "expected a multiple of " + divisor);
    }
    return false;
  }

 private:
  Constraint* cloneInto(void* place) const override {
    return new (place) MultipleConstraint(*this);
  }
  std::size_t sizeOf() const override { return sizeof(MultipleConstraint); }

  double divisor_;
};

struct PatternBuilder : valijson::ConstraintBuilder {
  valijson::constraints::Constraint* make(const valijson::adapters::Adapter& value) const override {
    return new PatternConstraint(value.getString());
  }
};

struct MultipleBuilder : valijson::ConstraintBuilder {
  valijson::constraints::Constraint* make(const valijson::adapters::Adapter& value) const override {
    return new MultipleConstraint(value.getNumber());
  }
};

// What a step of valijson's path names: `[city]` a member, `[0]` an item.
struct Walk {
  std::string path = "arguments";
  const SchemaNode* value;
  const SchemaNode* schema;  // if it is known

  void step(const std::string& place) {
    const std::string name =
        place.size() > 2 && place.front() == '[' ? place.substr(1, place.size() - 2) : place;
    if (value != nullptr && value->is_array()) {
      const std::size_t index = std::strtoul(name.c_str(), nullptr, 10);
      value = index < value->items.size() ? &value->items[index] : nullptr;
      schema = schema == nullptr ? nullptr : schema->find("items");
      path += "[" + name + "]";
      return;
    }
    value = value == nullptr ? nullptr : value->find(name);
    const SchemaNode* properties = schema == nullptr ? nullptr : schema->find("properties");
    schema = properties == nullptr ? nullptr : properties->find(name);
    path += "." + name;
  }
};

void append_json(std::string& out, const SchemaNode& node) {
  if (node.is_string()) return json::append_string(out, node.text);
  out += node.kind == json::Kind::number ? node.text : describe(node);
}

std::string expected_type(const SchemaNode& type) {
  if (type.is_string()) return type.text;
  std::string out;
  for (const SchemaNode& one : type.items) out += (out.empty() ? "" : " or ") + one.text;
  return out;
}

// valijson's sentence, or a better one where the schema says more.
std::string words_of(const Walk& walk, const std::string& description) {
  const auto says = [&](std::string_view part) {
    return description.find(part) != std::string::npos;
  };
  const SchemaNode* type = walk.schema == nullptr ? nullptr : walk.schema->find("type");
  const SchemaNode* choices = walk.schema == nullptr ? nullptr : walk.schema->find("enum");
  if (says("'type' constraint") && type != nullptr) return "expected " + expected_type(*type);
  if (says("enum values") && choices != nullptr && choices->items.size() <= 50) {
    std::string out;
    for (const SchemaNode& choice : choices->items) {
      out += out.empty() ? "expected one of " : ", ";
      append_json(out, choice);
    }
    return out;
  }
  return std::string(whole_prefix(description, 300));
}

// The name in `Missing required property 'city'.`
std::optional<std::string> quoted_name(const std::string& description, std::string_view before) {
  const std::size_t at = description.find(before);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t open = description.find('\'', at + before.size() - 1);
  const std::size_t close = description.rfind('\'');
  if (open == std::string::npos || close <= open) return std::nullopt;
  return description.substr(open + 1, close - open - 1);
}

// Nothing for a sentence that only repeats that something inside is wrong.
std::optional<std::string> message_of(const valijson::ValidationResults::Error& fault, Walk walk) {
  for (std::size_t i = 1; i < fault.context.size(); ++i) walk.step(fault.context[i]);
  const std::string& description = fault.description;
  if (description.find("associated with property name") != std::string::npos ||
      description.find("Failed to validate item #") != std::string::npos) {
    return std::nullopt;
  }
  if (const auto name = quoted_name(description, "Missing required property '")) {
    return walk.path + "." + *name + ": missing";
  }
  if (const auto name = quoted_name(description, "'additionalProperties' constraints: '")) {
    return walk.path + "." + *name + ": not a property of this tool";
  }
  std::string message = walk.path + ": " + words_of(walk, description);
  if (walk.value != nullptr) message += ", got " + describe(*walk.value);
  return message;
}

}  // namespace

struct ArgumentSchema::Compiled {
  SchemaNode document;
  valijson::Schema schema;
};

ArgumentSchema::ArgumentSchema(std::unique_ptr<Compiled> compiled)
    : compiled_(std::move(compiled)) {}
ArgumentSchema::~ArgumentSchema() = default;
ArgumentSchema::ArgumentSchema(ArgumentSchema&&) noexcept = default;
ArgumentSchema& ArgumentSchema::operator=(ArgumentSchema&&) noexcept = default;

Result<ArgumentSchema> ArgumentSchema::compile(std::string_view schema) {
  if (schema.empty()) schema = "{}";
  if (schema.size() > kMostSchemaBytes) {
    return fail(ErrorCode::too_large, "schema: longer than " + std::to_string(kMostSchemaBytes));
  }
  auto compiled = std::make_unique<Compiled>();
  Result<SchemaNode> document = read_node(schema);
  if (!document) return fail(ErrorCode::invalid_request, "schema: " + document.error().message);
  compiled->document = std::move(*document);
  if (!compiled->document.is_object()) {
    return fail(ErrorCode::invalid_request, "schema: expected an object");
  }
  if (auto done = rewrite_schema(compiled->document); !done) return tl::unexpected(done.error());
  try {
    valijson::SchemaParser parser;
    parser.addConstraintBuilder(kPatternKey, new PatternBuilder);
    parser.addConstraintBuilder(kMultipleKey, new MultipleBuilder);
    parser.populateSchema(NodeAdapter(compiled->document), compiled->schema);
  } catch (const std::exception& fault) {
    return fail(ErrorCode::invalid_request, std::string("schema: ") + fault.what());
  }
  return ArgumentSchema(std::move(compiled));
}

Result<void> ArgumentSchema::check(std::string_view arguments) const {
  Result<SchemaNode> value = read_node(arguments.empty() ? "{}" : arguments);
  if (!value) return fail(ErrorCode::invalid_request, "arguments: " + value.error().message);
  if (!value->is_object()) {
    return fail(ErrorCode::invalid_request,
                "arguments: expected an object, got " + describe(*value));
  }
  valijson::ValidationResults results;
  try {
    valijson::Validator validator;
    SchemaBudget budget{kMostLooks};
    const NodeAdapter target(NodePlace{&*value, &budget});
    if (validator.validate(compiled_->schema, target, nullptr)) return {};
  } catch (const std::exception& fault) {
    return fail(ErrorCode::invalid_request,
                std::string("arguments: they cannot be checked: ") + fault.what());
  }
  try {
    // Collecting reasons costs far more than finding that there is one.
    valijson::Validator validator;
    SchemaBudget budget{kMostReasonLooks};
    validator.validate(compiled_->schema, NodeAdapter(NodePlace{&*value, &budget}), &results);
  } catch (const std::exception&) {
    // The reasons found so far are reported.
  }
  std::string message;
  std::size_t count = 0;
  for (const auto& fault : results) {
    const auto words = message_of(fault, Walk{.value = &*value, .schema = &compiled_->document});
    if (!words) continue;
    if (++count > kMostFaults) break;
    message += (message.empty() ? "" : "; ") + *words;
  }
  if (count > kMostFaults) message += "; and more";
  if (message.empty()) message = "arguments: not what the schema allows";
  return fail(ErrorCode::invalid_request, std::move(message));
}

Result<void> check_arguments(std::string_view schema, std::string_view arguments) {
  const Result<ArgumentSchema> compiled = ArgumentSchema::compile(schema);
  if (!compiled) return tl::unexpected(compiled.error());
  return compiled->check(arguments);
}

}  // namespace callgate::tool
