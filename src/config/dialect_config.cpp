#include "config/dialect_config.h"

#include <algorithm>
#include <set>

#include "base/quoted.h"
#include "config/mistakes.h"
#include "config/small_file.h"
#include "dialect/custom/golden_case.h"

namespace callgate::server {
namespace {

constexpr std::size_t kMaxGoldenBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxGoldenText = std::size_t{8}
                                       << 10;  // of one case, which is cut at every byte
constexpr std::size_t kMaxGoldenCases = 1000;

// The cases' text; a `golden` with more than one line is that itself.
Result<std::string> golden_text(const std::string& golden) {
  if (golden.find('\n') != std::string::npos && golden.size() > kMaxGoldenBytes) {
    return fail(ErrorCode::invalid_request,
                "it has more than " + std::to_string(kMaxGoldenBytes) + " bytes");
  }
  if (golden.find('\n') != std::string::npos) return golden;
  return read_small_file(golden, kMaxGoldenBytes);
}

// What is wrong with the cases, each with its line.
std::vector<std::string> failures(const Dialect& dialect, const std::string& text) {
  const auto cases = dialect::golden::read_cases(text);
  if (!cases) return {cases.error().message};
  if (cases->empty()) return {"there is no case; one begins with `=== name`"};
  if (cases->size() > kMaxGoldenCases) {
    return {"expected at most " + std::to_string(kMaxGoldenCases) + " cases, got " +
            std::to_string(cases->size())};
  }
  std::vector<std::string> found;
  for (const dialect::golden::Case& each : *cases) {
    if (!each.reason.empty()) continue;
    const std::string failure = each.in.size() > kMaxGoldenText
                                    ? "case " + in_quotes(each.name) + " has more than " +
                                          std::to_string(kMaxGoldenText) + " bytes"
                                    : dialect::golden::check_case(dialect, each);
    if (!failure.empty()) found.push_back("line " + std::to_string(each.line) + ": " + failure);
  }
  return found;
}

}  // namespace

dialect::Catalog make_catalog(const Config& config) {
  std::vector<dialect::Definition> good;
  std::set<std::string_view> names;
  for (const dialect::Definition& definition : config.dialects) {
    const bool fits = good.size() < dialect::kMaxDefinitions && !definition.name.empty() &&
                      names.insert(definition.name).second;
    if (fits && dialect::find_flaws(definition).empty()) good.push_back(definition);
  }
  return dialect::Catalog(good);
}

std::vector<Mistake> find_golden_failures(const Config& config) {
  std::vector<Mistake> found;
  const dialect::Catalog dialects = make_catalog(config);
  for (std::size_t i = 0; i < config.dialects.size(); ++i) {
    const dialect::Definition& definition = config.dialects[i];
    const auto own = dialects.own();
    const auto dialect = std::find_if(
        own.begin(), own.end(), [&](const Dialect* each) { return each->name == definition.name; });
    if (definition.golden.empty() || dialect == own.end()) continue;
    const bool in_file = definition.golden.find('\n') == std::string::npos;
    const std::string who = "dialect " + in_quotes(definition.name) + ": golden" +
                            (in_file ? " " + definition.golden : "") + ": ";
    const auto add = [&](const std::string& message) {
      found.push_back(
          {.path = "dialect[" + std::to_string(i) + "].golden", .message = who + message});
    };
    const Result<std::string> text = golden_text(definition.golden);
    if (!text) {
      add(text.error().message);
      continue;
    }
    for (const std::string& failure : failures(**dialect, *text)) add(failure);
  }
  return found;
}

}  // namespace callgate::server
