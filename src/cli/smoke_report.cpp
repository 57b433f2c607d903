#include "cli/smoke_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "json/writer.h"

namespace callgate::cli {
namespace {

using contract::RuleVerdict;
using contract::Verdict;

struct TimeRow {
  std::string_view label;
  std::string_view key;
  std::vector<double> values;
};

// Answers that had no token or no call are left out of those rows.
std::vector<TimeRow> time_rows(const std::vector<SmokeTimes>& times) {
  std::vector<TimeRow> rows{{"first byte", "first_byte", {}},
                            {"first token", "first_token", {}},
                            {"first call", "first_call", {}},
                            {"total", "total", {}}};
  for (const SmokeTimes& time : times) {
    rows[0].values.push_back(time.first_byte);
    if (time.first_token) rows[1].values.push_back(*time.first_token);
    if (time.first_call) rows[2].values.push_back(*time.first_call);
    rows[3].values.push_back(time.total);
  }
  std::erase_if(rows, [](const TimeRow& row) { return row.values.empty(); });
  return rows;
}

std::string decimals(double value, int width = 0) {
  char text[40];
  std::snprintf(text, sizeof(text), "%*.2f", width, value);
  return text;
}

std::string padded(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(width - std::min(width, text.size()), ' ');
}

std::string_view short_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::fail:
      return "FAIL";
    case Verdict::not_applicable:
      return "n/a ";
  }
  return {};
}

std::ptrdiff_t count(const SmokeReport& report, Verdict verdict) {
  return std::count_if(report.verdicts.begin(), report.verdicts.end(),
                       [verdict](const RuleVerdict& rule) { return rule.verdict == verdict; });
}

void print_times(std::string& out, const SmokeReport& report) {
  out += "\n" + padded("milliseconds", 14) + "     min    median       p95\n";
  for (const TimeRow& row : time_rows(report.times)) {
    const Spread spread = spread_of(row.values);
    out += padded(row.label, 12) + decimals(spread.min, 10) + decimals(spread.median, 10) +
           decimals(spread.p95, 10) + "\n";
  }
}

void write_times(std::string& out, const SmokeReport& report) {
  json::ObjectWriter times(out);
  times.integer("answers", static_cast<std::int64_t>(report.times.size()));
  for (const TimeRow& row : time_rows(report.times)) {
    const Spread spread = spread_of(row.values);
    json::ObjectWriter object(times.key(row.key));
    object.raw("min", decimals(spread.min));
    object.raw("median", decimals(spread.median));
    object.raw("p95", decimals(spread.p95));
    object.close();
  }
  times.close();
}

void write_names(std::string& out, const std::vector<std::string_view>& names) {
  out += '[';
  for (const std::string_view name : names) {
    if (out.back() != '[') out += ',';
    json::append_string(out, name);
  }
  out += ']';
}

}  // namespace

bool SmokeReport::passed() const { return count(*this, Verdict::fail) == 0; }

// The nearest rank: always a value that was measured.
Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto rank = [&values](double share) {
    const double place = std::ceil(share * static_cast<double>(values.size()));
    return values[static_cast<std::size_t>(std::max(place, 1.0)) - 1];
  };
  return {values.front(), rank(0.5), rank(0.95)};
}

std::vector<RuleVerdict> merge_verdicts(const std::vector<SmokeAnswer>& answers) {
  std::vector<RuleVerdict> merged = answers.front().verdicts;
  for (std::size_t i = 0; i < merged.size(); ++i) {
    for (std::size_t run = 0; run < answers.size(); ++run) {
      const RuleVerdict& verdict = answers[run].verdicts[i];
      if (verdict.verdict != Verdict::fail) continue;
      merged[i] = verdict;
      if (answers.size() > 1) {
        merged[i].seen = "answer " + std::to_string(run + 1) + ": " + verdict.seen;
      }
      break;
    }
  }
  return merged;
}

std::string print_text(const SmokeReport& report) {
  std::size_t width = 0;
  for (const RuleVerdict& rule : report.verdicts) width = std::max(width, rule.rule.size());
  std::string out;
  for (const RuleVerdict& rule : report.verdicts) {
    out += std::string(short_word(rule.verdict)) + "  " + padded(rule.rule, width + 2) + rule.seen +
           "\n";
  }
  if (report.times.size() > 1) print_times(out, report);
  out += "\n" + std::to_string(count(report, Verdict::pass)) + " rules passed, " +
         std::to_string(count(report, Verdict::fail)) + " failed, " +
         std::to_string(count(report, Verdict::not_applicable)) + " did not apply\n";
  if (!report.advice.empty()) out += "\n" + report.advice + "\n";
  out += (report.file.empty() ? "sha256" : report.file) + "  " + report.hash + "\n";
  if (!report.raw_hash.empty()) out += "as it came  " + report.raw_hash + "\n";
  return out;
}

std::string print_json(const SmokeReport& report) {
  std::string out;
  json::ObjectWriter object(out);
  object.boolean("passed", report.passed());
  object.string("url", report.url);
  object.string("model", report.model);
  object.string("sha256", report.hash);
  object.string("sha256_raw", report.raw_hash);
  object.string("file", report.file);
  object.string("advice", report.advice);
  write_names(object.key("dialects"), report.dialects);
  std::string& rules = object.key("rules");
  rules += '[';
  for (const RuleVerdict& rule : report.verdicts) {
    if (rules.back() != '[') rules += ',';
    json::ObjectWriter row(rules);
    row.string("rule", rule.rule);
    row.string("verdict", to_string(rule.verdict));
    row.string("seen", rule.seen);
    row.close();
  }
  rules += ']';
  write_times(object.key("milliseconds"), report);
  object.close();
  return out + "\n";
}

}  // namespace callgate::cli
