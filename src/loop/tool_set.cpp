#include "loop/tool_set.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/glob.h"
#include "json/reader.h"

namespace callgate::loop {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || is_upper(c) || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

// "getWeather_by city" -> get weather by city. Letters outside ASCII count as they are. A plural s is dropped.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto close = [&] {
    if (word.size() > 3 && word.back() == 's') word.pop_back();
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_word_byte(text[i])) {
      close();
      continue;
    }
    const bool hump = is_upper(text[i]) && i > 0 && !is_upper(text[i - 1]);
    if (hump) close();
    word += is_upper(text[i]) ? static_cast<char>(text[i] | 0x20) : text[i];
  }
  close();
  return words;
}

struct Query {
  std::string text;
  std::size_t limit;
};

Query read_query(std::string_view arguments, std::size_t limit) {
  Query query{{}, limit};
  json::Reader in(arguments);
  for (std::string_view key; in.next_member(key);) {
    if (key == "query" && in.peek() == json::Kind::string) {
      query.text = in.string();
    } else if (key == "limit" && in.peek() == json::Kind::number) {
      const std::int64_t wanted = in.integer().value_or(0);
      if (wanted > 0) query.limit = std::min<std::size_t>(limit, static_cast<std::size_t>(wanted));
    } else {
      in.skip();
    }
  }
  return query;
}

ToolSpec find_tools_spec(std::size_t hidden) {
  return {
      .name = std::string(kFindTools),
      .description = "Finds tools by what they do. " + std::to_string(hidden) +
                     " more tools exist than you see; those found can be called afterwards.",
      .parameters = {
          R"({"type":"object","properties":{"query":{"type":"string","description":"what the tool should do"},)"
          R"("limit":{"type":"integer","description":"how many to show"}},"required":["query"]})"}};
}

}  // namespace

ToolSet::ToolSet(const Request& request, std::vector<Tool> tools, const Options& options)
    : find_limit_(std::max<std::uint32_t>(options.find_tools_limit, 1)) {
  for (const ToolSpec& spec : request.tools) client_.insert(spec.name);
  for (Tool& tool : tools) {
    const std::string name = tool.spec.name;
    if (client_.contains(name) || by_name_.contains(name)) continue;
    if (!allows(options, name)) {
      denied_.insert(name);
      continue;
    }
    by_name_.emplace(name, entries_.size());
    entries_.push_back({.tool = std::move(tool)});
  }
  searched_ = options.find_tools_above > 0 && entries_.size() > options.find_tools_above &&
              !client_.contains(std::string(kFindTools));
  for (Entry& entry : entries_) entry.shown = !searched_ || entry.tool.pinned;
  if (request.tool_choice.mode == ToolChoice::Mode::named) show(request.tool_choice.name);
  if (searched_) index();
}

bool ToolSet::allows(const Options& options, std::string_view name) const {
  bool some_allow = false;
  bool allowed = false;
  for (const ToolRule& rule : options.rules) {
    if (!glob_matches(rule.key, options.key)) continue;
    if (matches_any(rule.deny, name)) return false;
    some_allow = some_allow || !rule.allow.empty();
    allowed = allowed || matches_any(rule.allow, name);
  }
  return allowed || !some_allow;
}

// A word of the name weighs more than one of the description.
void ToolSet::index() {
  for (Entry& entry : entries_) {
    for (std::string& word : words_of(entry.tool.spec.description)) {
      entry.words.insert_or_assign(std::move(word), 1.0);
    }
    for (std::string& word : words_of(entry.tool.spec.name)) {
      entry.words.insert_or_assign(std::move(word), 3.0);
    }
    for (const auto& [word, weight] : entry.words) ++tools_with_[word];
  }
}

ToolOwner ToolSet::owner_of(std::string_view name, bool has_evicted) const {
  const std::string key(name);
  if (client_.contains(key)) return ToolOwner::client;
  if (has_evicted && name == kReadResult) return ToolOwner::read_result;
  if (searched_ && name == kFindTools) return ToolOwner::find_tools;
  if (by_name_.contains(key)) return ToolOwner::callgate;
  return denied_.contains(key) ? ToolOwner::denied : ToolOwner::unknown;
}

const Tool& ToolSet::tool(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  CALLGATE_CHECK(found != by_name_.end());
  return entries_[found->second].tool;
}

std::vector<ToolSpec> ToolSet::shown(bool has_evicted) const {
  std::vector<ToolSpec> specs;
  std::size_t hidden = 0;
  for (const Entry& entry : entries_) {
    if (entry.shown) {
      specs.push_back(entry.tool.spec);
    } else {
      ++hidden;
    }
  }
  if (searched_) specs.push_back(find_tools_spec(hidden));
  if (shows_read_result(has_evicted)) specs.push_back(EvictedResults::spec());
  return specs;
}

bool ToolSet::shows_read_result(bool has_evicted) const {
  return has_evicted && !client_.contains(std::string(kReadResult));
}

void ToolSet::show(std::string_view name) {
  const auto found = by_name_.find(std::string(name));
  if (found == by_name_.end()) return;
  Entry& entry = entries_[found->second];
  entry.found = entry.found || !entry.shown;
  entry.shown = true;
}

// The sum of the matching words, each worth more the fewer tools have it. Equal tools keep their order.
std::vector<std::size_t> ToolSet::search(std::string_view query, std::size_t limit) const {
  std::vector<std::pair<double, std::size_t>> scores;
  const std::vector<std::string> words = words_of(query);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    double score = 0;
    for (const std::string& word : words) {
      const auto found = entries_[i].words.find(word);
      if (found == entries_[i].words.end()) continue;
      const double share = static_cast<double>(entries_.size()) / tools_with_.at(word);
      score += found->second * std::log(1.0 + share);
    }
    if (score > 0) scores.emplace_back(score, i);
  }
  std::stable_sort(scores.begin(), scores.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (scores.size() > limit) scores.resize(limit);
  std::vector<std::size_t> best;
  for (const auto& [score, i] : scores) best.push_back(i);
  return best;
}

ToolResult ToolSet::find(std::string_view arguments) {
  const Query query = read_query(arguments, find_limit_);
  const std::vector<std::size_t> best = search(query.text, query.limit);
  if (best.empty()) {
    return {.text = "No tool matches. Describe in other words what the tool should do."};
  }
  std::string out = "You can call these now:\n";
  for (const std::size_t i : best) {
    const ToolSpec& spec = entries_[i].tool.spec;
    show(spec.name);
    out += "- " + spec.name;
    if (!spec.description.empty()) out += ": " + spec.description;
    out += '\n';
  }
  return {.text = out};
}

std::string ToolSet::names(bool has_evicted) const {
  constexpr std::size_t kMost = 50;
  std::string out;
  std::size_t count = 0;
  const auto add = [&](std::string_view name) {
    if (++count <= kMost) out.append(out.empty() ? "" : ", ").append(name);
  };
  for (const Entry& entry : entries_) {
    if (entry.shown) add(entry.tool.spec.name);
  }
  if (searched_) add(kFindTools);
  if (shows_read_result(has_evicted)) add(kReadResult);
  if (count > kMost) out += " and " + std::to_string(count - kMost) + " more";
  return out;
}

void ToolSet::load(const State& state) {
  for (const std::string& name : state.found_tools) show(name);
}

void ToolSet::save(State& state) const {
  for (const Entry& entry : entries_) {
    if (entry.found) state.found_tools.push_back(entry.tool.spec.name);
  }
}

}  // namespace callgate::loop
