// What `callgate smoke` reports: a verdict per rule, how long answers took, and whether they are what they were.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "cli/smoke_run.h"

namespace callgate::cli {

inline constexpr std::string_view kSameAsLastRun = "same_as_last_run";

// The rules that look at more than one answer.
struct SmokeRuleText {
  std::string_view name;
  std::string_view asks;
};
inline constexpr SmokeRuleText kSmokeRules[] = {
    {kSurvivesDisconnect,
     "With `--disconnect-after-first-tool`: the next request is answered, nothing hangs."},
    {kSameAsLastRun, "With `--out`: the answer is the one of the last accepted run."},
};

// Where the answer is kept for the next run: FOLDER/NAME.sse and FOLDER/NAME.sha256.
struct SmokeRecord {
  std::string folder;  // empty: nothing is kept, and nothing compared
  std::string name;
  bool update = false;  // a different answer is accepted

  std::string path(std::string_view extension) const;
};
// A file name made of a model's name.
std::string to_file_name(std::string_view model);

struct SmokeKept {
  contract::RuleVerdict verdict;  // of `same_as_last_run`
  std::string file;               // with the answer; empty: none was written
};
// Compares with the last accepted run. This one becomes it if there was none or --update says so; but never a run that
// failed: `passed` says whether all other rules held. An answer that is not accepted goes to NAME.new.sse.
// `hashes` has one per answer. Fails when a file cannot be written.
Result<SmokeKept> keep_record(const SmokeRecord& record, std::string_view bytes,
                              const std::vector<std::string>& hashes, bool passed);

struct Spread {
  double min = 0;
  double median = 0;
  double p95 = 0;
};
// REQUIRES: not empty.
Spread spread_of(std::vector<double> values);

struct SmokeReport {
  std::string url;
  std::string model;
  std::string hash;
  std::string raw_hash = {};               // of the bytes as they came
  std::string file;                        // empty: nothing was kept
  std::vector<std::string_view> dialects;  // that read a call in the text, the likeliest first
  std::string advice;                      // what to do; may be empty
  std::vector<contract::RuleVerdict> verdicts;
  std::vector<SmokeTimes> times;

  bool passed() const;
};

// One verdict per rule over all answers: the worst.
std::vector<contract::RuleVerdict> merge_verdicts(const std::vector<SmokeAnswer>& answers);

std::string print_text(const SmokeReport& report);
std::string print_json(const SmokeReport& report);

}  // namespace callgate::cli
