#include "json/schema_sample.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "json/schema_view.h"
#include "json/writer.h"

namespace callgate::json {
namespace {

constexpr int kMaxSampleDepth = 8;  // deeper values stay empty: schemas may contain themselves
constexpr std::size_t kMaxItems = 100;
constexpr std::size_t kMaxLength = 10'000;
constexpr std::size_t kMaxValues = 2000;

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kFormats{{
    {"date", "2026-01-15"},
    {"date-time", "2026-01-15T12:00:00Z"},
    {"time", "12:00:00Z"},
    {"duration", "P1D"},
    {"email", "ada@example.com"},
    {"uri", "https://example.com/"},
    {"url", "https://example.com/"},
    {"uuid", "00000000-0000-4000-8000-000000000001"},
    {"hostname", "example.com"},
    {"ipv4", "192.0.2.1"},
    {"ipv6", "2001:db8::1"},
}};

bool is_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

// Names first (capitals inside the text), then the longer words.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> others;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    const bool is_name = at > 0 && word.size() > 1 && word[0] >= 'A' && word[0] <= 'Z';
    if (is_name) {
      names.push_back(word);
    } else if (word.size() > 4) {
      others.push_back(word);
    }
    at = end + 1;
  }
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

class Sampler {
 public:
  Sampler(std::string_view root, std::string_view text, std::size_t first_word)
      : root_(root), words_(words_of(text)), next_word_(first_word) {}

  std::string object(const SchemaView& schema, int depth);
  std::string value(std::string_view schema, std::string_view name, std::size_t ordinal, int depth);

 private:
  std::string array(const SchemaView& schema, std::string_view name, int depth);
  std::string string(const SchemaView& schema, std::string_view name, std::size_t ordinal);

  std::string_view root_;
  std::vector<std::string_view> words_;
  std::size_t next_word_;
  std::size_t values_ = 0;
};

// A value that the schema names itself.
std::optional<std::string_view> given_value(const SchemaView& schema) {
  if (const auto value = schema.get("const")) return value;
  if (const auto value = schema.get("default"); value && *value != "null") return value;
  const std::vector<std::string_view> examples = elements(schema.get("examples").value_or(""));
  if (!examples.empty()) return examples.front();
  return schema.get("example");
}

std::string number_text(double value, bool integer) {
  constexpr double kExact = 9007199254740992.0;
  if (integer || (std::abs(value) < kExact && value == std::floor(value))) {
    value = std::clamp(value, -kExact, kExact);
    return std::to_string(static_cast<std::int64_t>(value));
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

std::string number(const SchemaView& schema, bool integer, std::size_t ordinal) {
  const auto low = schema.number("minimum");
  const auto high = schema.number("maximum");
  // A boolean here is draft 4: the bound itself is then excluded.
  const bool low_open = schema.get("exclusiveMinimum") == "true";
  const bool high_open = schema.get("exclusiveMaximum") == "true";
  const auto above = low_open ? low : schema.number("exclusiveMinimum");
  const auto below = high_open ? high : schema.number("exclusiveMaximum");
  double value = 1 + static_cast<double>(ordinal);
  if (high && value > *high) value = integer ? std::floor(*high) : *high;
  if (below && value >= *below) value = integer ? std::ceil(*below) - 1 : *below - 1;
  if (low && value < *low) value = integer ? std::ceil(*low) : *low;
  if (above && value <= *above) {
    value = std::floor(*above) + 1;
    const auto limit = below ? below : high;
    if (!integer && limit && value >= *limit) value = *above + (*limit - *above) / 2;
  }
  const auto step = schema.number("multipleOf");
  if (step && *step > 0) {
    const double multiple = std::ceil(value / *step) * *step;
    value = (high && multiple > *high) ? std::floor(value / *step) * *step : multiple;
  }
  return number_text(value, integer);
}

std::string Sampler::value(std::string_view schema, std::string_view name, std::size_t ordinal,
                           int depth) {
  if (depth > kMaxSampleDepth || ++values_ > kMaxValues) return "null";
  const SchemaView view(root_, schema);
  if (const auto given = given_value(view)) return std::string(*given);
  const std::vector<std::string_view> choices = elements(view.get("enum").value_or(""));
  if (!choices.empty()) return std::string(choices[ordinal % choices.size()]);
  const std::string type = view.type();
  if (type == "object") return object(view, depth);
  if (type == "array") return array(view, name, depth);
  if (type == "integer") return number(view, true, ordinal);
  if (type == "number") return number(view, false, ordinal);
  if (type == "boolean") return "true";
  if (type == "null") return "null";
  return string(view, name, ordinal);
}

std::string Sampler::object(const SchemaView& schema, int depth) {
  const std::vector<SchemaView::Property> properties = schema.properties();
  const std::vector<std::string> required = schema.required();
  const auto is_required = [&](const std::string& name) {
    return std::find(required.begin(), required.end(), name) != required.end();
  };
  std::string out;
  ObjectWriter writer(out);
  for (const SchemaView::Property& property : properties) {
    if (!is_required(property.name) && !given_value(SchemaView(root_, property.schema))) continue;
    std::string key;
    append_escaped(key, property.name);
    writer.raw(key, value(property.schema, property.name, 0, depth + 1));
  }
  for (const std::string& name : required) {
    const bool declared = std::any_of(properties.begin(), properties.end(),
                                      [&](const auto& property) { return property.name == name; });
    if (declared) continue;
    std::string key;
    append_escaped(key, name);
    writer.raw(key, value("{}", name, 0, depth + 1));
  }
  writer.close();
  return out;
}

std::string Sampler::array(const SchemaView& schema, std::string_view name, int depth) {
  const std::vector<std::string_view> leading = elements(schema.get("prefixItems").value_or(""));
  const std::string_view item = schema.get("items").value_or("{}");
  const double wanted = std::max(schema.number("minItems").value_or(0),
                                 std::max<double>(1, static_cast<double>(leading.size())));
  const double allowed = schema.number("maxItems").value_or(static_cast<double>(kMaxItems));
  const auto count = static_cast<std::size_t>(
      std::clamp(std::min(wanted, allowed), 0.0, static_cast<double>(kMaxItems)));
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) out.push_back(',');
    out += value(i < leading.size() ? leading[i] : item, name, i, depth + 1);
  }
  out.push_back(']');
  return out;
}

std::string fitted(std::string text, const SchemaView& schema) {
  const auto characters = [](std::string_view s) {
    return static_cast<double>(
        std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  };
  const double shortest =
      std::min(schema.number("minLength").value_or(0), static_cast<double>(kMaxLength));
  const double longest = schema.number("maxLength").value_or(static_cast<double>(kMaxLength));
  double length = characters(text);
  for (; length < shortest; ++length) text.push_back('x');
  while (length > longest && !text.empty()) {
    if ((text.back() & 0xC0) != 0x80) --length;
    text.pop_back();
  }
  return text;
}

std::string Sampler::string(const SchemaView& schema, std::string_view name, std::size_t ordinal) {
  const std::string format = string_value(schema.get("format").value_or("")).value_or("");
  const auto known = std::find_if(kFormats.begin(), kFormats.end(),
                                  [&](const auto& row) { return row.first == format; });
  std::string text;
  if (known != kFormats.end()) {
    text = known->second;
  } else if (next_word_ < words_.size()) {
    text = fitted(std::string(words_[next_word_++]), schema);
  } else {
    text =
        fitted(std::string(name) + (ordinal == 0 ? "" : " " + std::to_string(ordinal + 1)), schema);
  }
  std::string out;
  append_string(out, text);
  return out;
}

}  // namespace

std::string sample_arguments(std::string_view schema, std::string_view text,
                             std::size_t first_word) {
  return Sampler(schema, text, first_word).object(SchemaView(schema, schema), 0);
}

std::string sample_value(std::string_view root, std::string_view schema, std::string_view name) {
  return Sampler(root, {}, 0).value(schema, name, 0, 0);
}

}  // namespace callgate::json
