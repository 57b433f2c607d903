#include "replay/dialect_survey.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "json/writer.h"
#include "replay/call_distance.h"

namespace callgate::replay {
namespace {

constexpr std::size_t kMostClose = 8;

struct Found {
  const Dialect* dialect;
  Reading reading;
  int distance = 0;  // of its first call

  // The smallest is the best. Of dialects that read the same, the one that more families of models write is the likelier.
  auto rank() const {
    return std::tuple(distance, SIZE_MAX - reading.calls.size(), reading.text_bytes,
                      SIZE_MAX - dialect->models.size());
  }
};

// Where it got furthest before it gave up. A rule that forbids a call at its place is as far as it gets.
const Explanation::Piece* furthest(const Explanation& explanation) {
  const Explanation::Piece* best = nullptr;
  for (const Explanation::Piece& piece : explanation.pieces()) {
    const auto reach = [](const Explanation::Piece& each) { return each.end - each.begin; };
    if (best == nullptr || reach(piece) > reach(*best)) best = &piece;
  }
  return best;
}

std::string joined(const std::vector<LoggedCall>& calls) {
  std::string text;
  for (const LoggedCall& call : calls) text.append(text.empty() ? "" : ", ").append(call.name);
  return text;
}

// The likeliest first.
Survey ranked(std::vector<Found> found, std::vector<Explanation::Piece> close) {
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.rank() < b.rank(); });
  std::stable_sort(close.begin(), close.end(),
                   [](const auto& a, const auto& b) { return a.end - a.begin > b.end - b.begin; });
  if (close.size() > kMostClose) close.resize(kMostClose);
  Survey survey{.found = {}, .close = std::move(close)};
  for (Found& one : found) {
    survey.found.push_back({one.dialect->name, std::move(one.reading.calls)});
  }
  return survey;
}

}  // namespace

Survey survey_dialects(std::string_view said,
                       const std::function<Reading(const Dialect&, Explainer&)>& read) {
  std::vector<Found> found;
  std::vector<Explanation::Piece> close;
  for (const Dialect* dialect : dialect::all()) {
    if (dialect->name == "auto" || dialect->name == "native") continue;
    Explanation explanation(dialect->name);
    Reading reading = read(*dialect, explanation);
    if (!reading.calls.empty()) {
      const int how_far = distance(*dialect, reading.calls.front(), said);
      found.push_back({dialect, std::move(reading), how_far});
    } else if (const Explanation::Piece* piece = furthest(explanation)) {
      close.push_back(*piece);
    }
  }
  return ranked(std::move(found), std::move(close));
}

std::string to_text(const Survey& survey) {
  std::string out = survey.found.empty() ? "no dialect finds a call\n" : "calls\n";
  for (const Survey::Calls& one : survey.found) {
    std::string name(one.dialect);
    name.resize(std::max<std::size_t>(name.size(), 20), ' ');
    out += "  " + name + " " + joined(one.calls) + "\n";
  }
  if (!survey.close.empty()) out += "close\n";
  for (const Explanation::Piece& piece : survey.close) out += "  " + line_of(piece) + "\n";
  return out;
}

std::string found_json(const Survey& survey) {
  std::string out = "[";
  for (const Survey::Calls& one : survey.found) {
    if (out.size() > 1) out += ',';
    json::ObjectWriter object(out);
    object.string("dialect", one.dialect);
    object.key("calls") += '[';
    for (const LoggedCall& call : one.calls) {
      if (out.back() != '[') out += ',';
      json::append_string(out, call.name);
    }
    out += ']';
    object.close();
  }
  return out + "]";
}

}  // namespace callgate::replay
