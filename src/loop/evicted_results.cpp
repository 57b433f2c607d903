#include "loop/evicted_results.h"

#include <algorithm>
#include <optional>

#include "json/reader.h"

namespace callgate::loop {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Cut where a line ends, if that loses less than half.
std::string_view head_lines(std::string_view text, std::size_t size) {
  const std::string_view head = head_of(text, size);
  const std::size_t line = head.rfind('\n');
  return line != head.npos && line >= head.size() / 2 ? head.substr(0, line + 1) : head;
}

std::string_view tail_lines(std::string_view text, std::size_t size) {
  const std::string_view tail = tail_of(text, size);
  const std::size_t line = tail.find('\n');
  return line != tail.npos && line < tail.size() / 2 ? tail.substr(line + 1) : tail;
}

std::string hint(std::string_view id, std::size_t offset) {
  std::string text(kReadResult);
  text.append(" {\"id\":\"").append(id).append("\",\"offset\":");
  return text.append(std::to_string(offset)).append("}");
}

struct Page {
  std::string id;
  std::int64_t offset = 0;
  std::optional<std::int64_t> limit;
};

std::optional<Page> read_page(std::string_view arguments) {
  Page page;
  json::Reader in(arguments);
  for (std::string_view key; in.next_member(key);) {
    if (key == "id" && in.peek() == json::Kind::string) {
      page.id = in.string();
    } else if (key == "offset" && in.peek() == json::Kind::number) {
      page.offset = in.integer().value_or(-1);
    } else if (key == "limit" && in.peek() == json::Kind::number) {
      page.limit = in.integer();
    } else {
      in.skip();
    }
  }
  if (!in.finish()) return std::nullopt;
  return page;
}

}  // namespace

std::string_view tail_of(std::string_view text, std::size_t size) {
  std::size_t from = text.size() - std::min(size, text.size());
  while (from < text.size() && continues_character(text[from])) ++from;
  return text.substr(from);
}

std::string_view head_of(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && continues_character(text[size])) --size;
  return text.substr(0, size);
}

EvictedResults::EvictedResults(const Options& options)
    : threshold_(options.evict_bytes),
      preview_(std::min(options.evict_preview_bytes, options.evict_bytes)),
      max_results_(std::max<std::size_t>(options.evicted_results, 1)),
      max_bytes_(options.evicted_bytes) {}

bool EvictedResults::evict(std::string& text) {
  if (threshold_ == 0 || text.size() <= threshold_) return false;
  const std::string_view head = head_lines(text, preview_ / 2);
  const std::string_view tail = tail_lines(text, preview_ / 2);
  const std::string id = "r" + std::to_string(++evictions_);
  std::string shown(head);
  if (!shown.empty() && shown.back() != '\n') shown += '\n';
  shown += "[" + std::to_string(text.size() - head.size() - tail.size()) + " of " +
           std::to_string(text.size()) + " bytes left out. ";
  const bool fits = text.size() <= max_bytes_;
  shown += fits ? "Read more: " + hint(id, head.size()) : "They are too many to be kept.";
  shown += "]\n";
  shown += tail;
  if (fits) {
    bytes_ += text.size();
    kept_.push_back({id, std::move(text)});
    while (kept_.size() > max_results_ || bytes_ > max_bytes_) {
      bytes_ -= kept_.front().text.size();
      kept_.erase(kept_.begin());
    }
  }
  text = std::move(shown);
  return true;
}

ToolResult EvictedResults::read(std::string_view arguments) const {
  const std::optional<Page> page = read_page(arguments);
  if (!page) return {.text = "the arguments are not a JSON object", .is_error = true};
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const EvictedResult& kept) { return kept.id == page->id; });
  if (found == kept_.end()) {
    std::string known;
    for (const EvictedResult& kept : kept_) known += (known.empty() ? "" : ", ") + kept.id;
    return {.text = "no result is kept as \"" + page->id + "\"; kept are: " + known,
            .is_error = true};
  }
  const std::string_view text = found->text;
  if (page->offset < 0 || static_cast<std::size_t>(page->offset) >= text.size()) {
    return {.text = "offset: expected 0 to " + std::to_string(text.size() - 1), .is_error = true};
  }
  std::size_t from = static_cast<std::size_t>(page->offset);
  while (from > 0 && continues_character(text[from])) --from;
  // Room for the line above it: a page must not be evicted itself.
  constexpr std::size_t kRoom = 200;
  const std::size_t most = threshold_ > 2 * kRoom ? threshold_ - kRoom : threshold_ / 2;
  const std::int64_t wanted = page->limit.value_or(static_cast<std::int64_t>(most));
  const std::size_t size = std::min(static_cast<std::size_t>(std::max<std::int64_t>(wanted, 4)),
                                    std::max<std::size_t>(most, 4));
  const std::string_view part = head_of(text.substr(from), size);
  const std::size_t end = from + part.size();
  std::string out = "[bytes " + std::to_string(from) + " to " + std::to_string(end) + " of " +
                    std::to_string(text.size());
  out += end < text.size() ? "; next: " + hint(found->id, end) + "]\n" : "; the end]\n";
  return {.text = out.append(part)};
}

ToolSpec EvictedResults::spec() {
  return {
      .name = std::string(kReadResult),
      .description = "Reads a part of a long tool result that was shown in part only.",
      .parameters = {
          R"({"type":"object","properties":{"id":{"type":"string","description":"as given with the result"},)"
          R"("offset":{"type":"integer","description":"first byte, from 0"},)"
          R"("limit":{"type":"integer","description":"bytes to read"}},"required":["id"]})"}};
}

void EvictedResults::load(const State& state) {
  evictions_ = state.evictions;
  kept_ = state.evicted;
  bytes_ = 0;
  for (const EvictedResult& kept : kept_) bytes_ += kept.text.size();
}

void EvictedResults::save(State& state) const {
  state.evictions = evictions_;
  state.evicted = kept_;
}

}  // namespace callgate::loop
