#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/smoke_report.h"
#include "net/digest.h"

namespace callgate::cli {
namespace {

constexpr std::size_t kHashSize = 64;

Result<void> write_file(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) return fail(ErrorCode::unavailable, "cannot write " + path);
  return {};
}

// Empty if the file does not exist.
std::string read_hash(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string hash(std::istreambuf_iterator<char>(in), {});
  hash.resize(std::min(hash.find_first_of(" \r\n"), std::min(hash.size(), kHashSize)));
  return hash;
}

contract::RuleVerdict verdict(contract::Verdict verdict, std::string seen) {
  return {kSameAsLastRun, verdict, std::move(seen)};
}

Result<void> write_record(const SmokeRecord& record, std::string_view bytes,
                          const std::string& hash) {
  if (auto written = write_file(record.path(".sse"), bytes); !written) return written;
  std::error_code ignored;
  std::filesystem::remove(record.path(".new.sse"), ignored);
  return write_file(record.path(".sha256"),
                    hash + "  " + record.name + " (without ids and times)\n" +
                        net::sha256_hex(bytes) + "  " + record.name + ".sse\n");
}

contract::RuleVerdict judge(const SmokeRecord& record, const std::string& last,
                            const std::vector<std::string>& hashes, bool passed) {
  using contract::Verdict;
  const auto differs = [&](const std::string& hash) {
    return hash != (last.empty() || record.update ? hashes.front() : last);
  };
  const auto other = std::find_if(hashes.begin(), hashes.end(), differs);
  if (record.update && !passed) {
    return verdict(Verdict::not_applicable, "not accepted, in spite of --update: a rule failed");
  }
  if (record.update) return verdict(Verdict::pass, "accepted, as --update says");
  if (other != hashes.end()) {
    const std::string run = hashes.size() > 1
                                ? "answer " + std::to_string(other - hashes.begin() + 1)
                                : std::string("the answer");
    const std::string than =
        last.empty() ? " differs from the first" : " differs from " + record.path(".sse");
    return verdict(Verdict::fail, run + than + "; accept it with --update");
  }
  if (!last.empty()) return verdict(Verdict::pass, last.substr(0, 16) + "...");
  return verdict(Verdict::not_applicable, passed ? "no earlier run; this one is kept"
                                                 : "no earlier run; this one failed and is not "
                                                   "kept as one");
}

}  // namespace

std::string SmokeRecord::path(std::string_view extension) const {
  return (std::filesystem::path(folder) / (name + std::string(extension))).string();
}

std::string to_file_name(std::string_view model) {
  std::string name;
  for (const char c : model) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '_' || (c == '.' && !name.empty());
    name += plain ? c : '_';
  }
  return name.empty() ? "answer" : name;
}

Result<SmokeKept> keep_record(const SmokeRecord& record, std::string_view bytes,
                              const std::vector<std::string>& hashes, bool passed) {
  using contract::Verdict;
  if (record.folder.empty()) {
    return SmokeKept{verdict(Verdict::not_applicable, "--out FOLDER would compare"), ""};
  }
  std::error_code error;
  std::filesystem::create_directories(record.folder, error);
  if (error) return fail(ErrorCode::unavailable, "cannot make the folder " + record.folder);
  const std::string last = read_hash(record.path(".sha256"));
  SmokeKept kept{judge(record, last, hashes, passed), record.path(".sse")};
  const bool accepted = passed && kept.verdict.verdict != Verdict::fail;
  if (!accepted) kept.file = record.path(".new.sse");
  Result<void> written =
      accepted ? write_record(record, bytes, hashes.front()) : write_file(kept.file, bytes);
  if (!written) return tl::unexpected(std::move(written.error()));
  return kept;
}

}  // namespace callgate::cli
