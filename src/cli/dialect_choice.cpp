#include "cli/dialect_choice.h"

#include "json/writer.h"

namespace callgate::cli {
namespace {

std::string_view chosen_name(const dialect::ModelChoice& choice) {
  return choice.dialect == nullptr ? std::string_view("auto") : choice.dialect->name;
}

std::string_view reason(const dialect::ModelChoice& choice) {
  if (choice.matches.empty()) return "no pattern matches the name";
  return choice.dialect == nullptr ? "several dialects have equally long patterns"
                                   : "the longest pattern that matches the name";
}

// Why a match is or is not the choice.
std::string_view verdict(const dialect::ModelChoice& choice, const dialect::ModelMatch& match) {
  const std::string_view best = choice.matches.front().pattern;
  if (choice.dialect == nullptr) {
    return match.pattern.size() == best.size() ? "equally long" : "shorter pattern";
  }
  if (match.pattern == best) return "chosen: longest pattern";
  return match.dialect == choice.dialect ? "same dialect" : "shorter pattern";
}

}  // namespace

std::string print_choice(std::string_view model, const dialect::ModelChoice& choice) {
  std::string out(model);
  out.append(": ").append(chosen_name(choice)).append(" (").append(reason(choice)).append(")\n");
  for (const dialect::ModelMatch& match : choice.matches) {
    out.append("  ").append(match.pattern).append("  ").append(match.dialect->name);
    out.append("  ").append(verdict(choice, match)).append("\n");
  }
  return out;
}

std::string print_choice_json(std::string_view model, const dialect::ModelChoice& choice) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("model", model);
  object.string("dialect", chosen_name(choice));
  object.string("reason", reason(choice));
  object.key("matches") += '[';
  for (const dialect::ModelMatch& match : choice.matches) {
    if (out.back() == '}') out += ',';
    json::ObjectWriter row(out);
    row.string("pattern", match.pattern);
    row.string("dialect", match.dialect->name);
    row.string("verdict", verdict(choice, match));
    row.close();
  }
  out += ']';
  object.close();
  return out;
}

}  // namespace callgate::cli
