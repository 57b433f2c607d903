#include <array>
#include <charconv>
#include <type_traits>

#include "base/masked_url.h"
#include "config/config.h"
#include "config/config_fields.h"
#include "config/config_text.h"
#include "config/dialect_config.h"
#include "config/mistakes.h"
#include "dialect/custom/catalog.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

void print_value(std::string& out, const std::string& value) { json::append_string(out, value); }
void print_value(std::string& out, const Secret& value) { json::append_string(out, value.mask()); }
void print_value(std::string& out, bool value) { out += value ? "true" : "false"; }
void print_value(std::string& out, std::int64_t value) { json::append_integer(out, value); }
void print_value(std::string& out, double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}
void print_value(std::string& out, Milliseconds value) {
  json::append_string(out, print_duration(value));
}
void print_value(std::string& out, Bytes value) { json::append_string(out, print_bytes(value)); }
void print_value(std::string& out, const std::vector<std::string>& values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    json::append_string(out, values[i]);
  }
  out += ']';
}
void print_value(std::string& out, const std::vector<PoolPlace>& places) {
  out += '[';
  for (std::size_t i = 0; i < places.size(); ++i) {
    out += i > 0 ? ", { upstream = " : "{ upstream = ";
    json::append_string(out, places[i].upstream);
    out += ", priority = " + std::to_string(places[i].priority);
    out += ", weight = " + std::to_string(places[i].weight) + " }";
  }
  out += ']';
}
void print_value(std::string& out, const JsonMembers& value) {
  out += "{ ";
  for (std::size_t i = 0; i < value.members.size(); ++i) {
    if (i > 0) out += ", ";
    json::append_string(out, value.members[i].name);
    out += " = " + value.members[i].value.text;
  }
  out += " }";
}
// Header values may hold credentials: only names are shown.
void print_value(std::string& out, const std::vector<std::pair<std::string, std::string>>& values) {
  out += "{ ";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    json::append_string(out, values[i].first);
    out += " = \"***\"";
  }
  out += " }";
}

// Without what may be a secret.
template <class T>
T masked(T section) {
  if constexpr (requires { section.pool; }) {
    if (!section.pool.empty()) section.upstream.clear();
  }
  if constexpr (requires { section.url; }) section.url = masked_url(section.url);
  if constexpr (requires { section.endpoint; }) section.endpoint = masked_url(section.endpoint);
  if constexpr (requires { section.command; }) section.command = masked_command(section.command);
  if constexpr (requires { section.key_command; }) {
    section.key_command = masked_command(section.key_command);
    section.login_command = masked_command(section.login_command);
    if (section.key.reveal() == kKeyPlaceholder)
      section.key = Secret();  // a file or a program has it
  }
  return section;
}

enum class Shown : std::uint8_t { all, differences };

template <class T, class F>
void print_field(std::string& out, const T& section, const F& field, Shown shown) {
  std::string value;
  print_value(value, section.*(field.member));
  if (shown == Shown::differences) {
    std::string usual;
    print_value(usual, T{}.*(field.member));
    if (value == usual) return;
  }
  out.append(field.key).append(" = ").append(value) += '\n';
}

template <class T>
void print_section(std::string& out, const T& given, Shown shown) {
  const T section = masked(given);
  std::apply([&](const auto&... field) { (print_field(out, section, field, shown), ...); },
             Section<T>::fields);
}

template <class T>
void print_table(std::string& out, const T& section, Shown shown) {
  std::string rows;
  print_section(rows, section, shown);
  if (rows.empty()) return;
  out.append("\n[").append(Section<T>::name).append("]\n").append(rows);
}

// The dialect of the model's calls, if none is configured.
std::string dialect_note(const ModelConfig& model, const dialect::Catalog& dialects) {
  if (!model.dialect.empty()) return {};
  const Dialect* chosen = dialects.choose_for(model.id.empty() ? model.name : model.id).dialect;
  return "# dialect: " + std::string(chosen == nullptr ? "auto" : chosen->name) +
         (chosen == nullptr ? "\n" : ", by the name of the model\n");
}

template <class T>
void print_list(std::string& out, const std::vector<T>& list, Shown shown,
                const dialect::Catalog* dialects = nullptr) {
  for (const T& item : list) {
    if constexpr (requires { item.skill; }) {
      if (!item.skill.empty()) continue;  // it stands in another file
    }
    out.append("\n[[").append(Section<T>::name).append("]]\n");
    print_section(out, item, shown);
    if constexpr (std::is_same_v<T, ModelConfig>) out += dialect_note(item, *dialects);
  }
}

std::string print_all(const Config& config, Shown shown) {
  std::string out;
  print_section(out, config, shown);
  print_table(out, config.tls, shown);
  print_table(out, config.limits, shown);
  print_table(out, config.log, shown);
  print_table(out, config.cors, shown);
  print_table(out, config.store, shown);
  print_table(out, config.capture, shown);
  print_table(out, config.otlp, shown);
  print_table(out, config.loop, shown);
  print_table(out, config.rooms, shown);
  print_table(out, config.responses, shown);
  print_list(out, config.tools, shown);
  print_list(out, config.hooks, shown);
  print_list(out, config.keys, shown);
  print_list(out, config.prices, shown);
  print_list(out, config.dialects, shown);
  print_list(out, config.upstreams, shown);
  const dialect::Catalog dialects = make_catalog(config);
  print_list(out, config.models, shown, &dialects);
  if (out.starts_with('\n')) out.erase(0, 1);
  return out;
}

// Types of the schema.
std::string_view type_of(const std::string&) { return R"("type":"string")"; }
std::string_view type_of(const Secret&) { return R"("type":"string")"; }
std::string_view type_of(bool) { return R"("type":"boolean")"; }
std::string_view type_of(std::int64_t) { return R"("type":"integer","minimum":0)"; }
std::string_view type_of(double) { return R"("type":"number")"; }
std::string_view type_of(Milliseconds) {
  return R"("type":"string","pattern":"^[0-9]+(ms|s|m|h|d)$")";
}
std::string_view type_of(Bytes) { return R"("type":["integer","string"])"; }
std::string_view type_of(const std::vector<std::string>&) {
  return R"("type":["string","array"],"items":{"type":"string"})";
}
std::string_view type_of(const std::vector<std::pair<std::string, std::string>>&) {
  return R"("type":"object","additionalProperties":{"type":"string"})";
}
std::string_view type_of(const JsonMembers&) { return R"("type":["object","string"])"; }
std::string_view type_of(const std::vector<PoolPlace>&) {
  return R"("type":"array","items":{"type":["string","object"],"properties":{)"
         R"("upstream":{"type":"string"},"priority":{"type":"integer","minimum":0},)"
         R"("weight":{"type":"integer","minimum":1,"maximum":1000}}})";
}

template <class T, class F>
void print_property(std::string& out, const T& usual, const F& field) {
  out += out.ends_with('{') ? "" : ",";
  json::append_string(out, field.key);
  out.append(":{").append(type_of(usual.*(field.member))).append(",\"description\":");
  json::append_string(out, field.help);
  using Member = std::decay_t<decltype(usual.*(field.member))>;
  if constexpr (!std::is_same_v<Member, Secret>) {
    out += ",\"default\":";
    print_value(out, usual.*(field.member));
  }
  out += '}';
}

// The properties of a table, without the closing brace.
template <class T>
std::string print_properties() {
  std::string out = R"({"type":"object","additionalProperties":false,"properties":{)";
  const T usual{};
  std::apply([&](const auto&... field) { (print_property(out, usual, field), ...); },
             Section<T>::fields);
  return out;
}

template <class T>
void add_table(std::string& out) {
  out.append(",\"").append(Section<T>::name).append("\":").append(print_properties<T>() + "}}");
}
template <class T>
void add_list(std::string& out) {
  out.append(",\"").append(Section<T>::name).append("\":");
  out.append(R"({"type":"array","items":)").append(print_properties<T>() + "}}}");
}

}  // namespace

std::string print_config(const Config& config) { return print_all(config, Shown::all); }

std::string print_differences(const Config& config) {
  return print_all(config, Shown::differences);
}

std::string print_schema() {
  std::string out = print_properties<Config>();
  out.insert(
      1, R"("$schema":"https://json-schema.org/draft/2020-12/schema","title":"callgate.toml",)");
  add_table<TlsConfig>(out);
  add_table<LimitsConfig>(out);
  add_table<LogConfig>(out);
  add_table<CorsConfig>(out);
  add_table<StoreConfig>(out);
  add_table<CaptureConfig>(out);
  add_table<OtlpConfig>(out);
  add_table<LoopConfig>(out);
  add_table<RoomsConfig>(out);
  add_table<ResponsesConfig>(out);
  add_list<ToolTable>(out);
  add_list<HookTable>(out);
  add_list<KeyConfig>(out);
  add_list<PriceConfig>(out);
  add_list<dialect::Definition>(out);
  add_list<UpstreamConfig>(out);
  add_list<ModelConfig>(out);
  return out + "}}\n";
}

}  // namespace callgate::server
