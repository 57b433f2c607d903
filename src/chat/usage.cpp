#include "chat/usage.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "json/reader.h"
#include "json/writer.h"

namespace callgate {
namespace {

constexpr int kMaxDepth = 4;
constexpr std::size_t kMaxMembers = 256;

struct Member {
  std::string name;
  std::string_view json;
};

std::vector<Member> members_of(std::string_view json) {
  std::vector<Member> members;
  json::Reader in(json);
  if (json.empty() || in.peek() != json::Kind::object) return members;
  for (std::string_view key; in.next_member(key) && members.size() < kMaxMembers;) {
    std::string name(key);
    const std::string_view value = in.raw();
    if (value != "null") members.push_back({std::move(name), value});
  }
  return members;
}

json::Kind kind_of(std::string_view json) { return json::Reader(json).peek(); }

std::optional<std::int64_t> integer_of(std::string_view json) {
  return json::Reader(json).integer();
}

double number_of(std::string_view json) {
  double value = 0;
  std::from_chars(json.data(), json.data() + json.size(), value);
  return value;
}

void append_sum(std::string& out, std::string_view a, std::string_view b) {
  const std::optional<std::int64_t> whole_a = integer_of(a);
  const std::optional<std::int64_t> whole_b = integer_of(b);
  constexpr std::int64_t kHalf = std::numeric_limits<std::int64_t>::max() / 2;
  const auto fits = [](const std::optional<std::int64_t>& n) {
    return n && *n <= kHalf && *n >= -kHalf;
  };
  if (fits(whole_a) && fits(whole_b)) return json::append_integer(out, *whole_a + *whole_b);
  std::array<char, 40> digits{};
  const double sum = number_of(a) + number_of(b);
  const auto [end, fault] = std::to_chars(digits.data(), digits.data() + digits.size(), sum);
  const bool finite = sum - sum == 0;
  out.append(fault == std::errc() && finite ? std::string_view(digits.data(), end) : b);
}

void append_merged(std::string& out, std::string_view a, std::string_view b, int depth) {
  const json::Kind kind = kind_of(a);
  if (kind != kind_of(b)) {
    out.append(b);
  } else if (kind == json::Kind::number) {
    append_sum(out, a, b);
  } else if (kind == json::Kind::object && depth < kMaxDepth) {
    const std::vector<Member> first = members_of(a);
    const std::vector<Member> second = members_of(b);
    const auto find = [](const std::vector<Member>& members, std::string_view name) {
      return std::find_if(members.begin(), members.end(),
                          [&](const Member& member) { return member.name == name; });
    };
    json::ObjectWriter object(out);
    for (const Member& member : first) {
      const auto same = find(second, member.name);
      std::string value(member.json);
      if (same != second.end()) {
        value.clear();
        append_merged(value, member.json, same->json, depth + 1);
      }
      object.raw_escaped(member.name, value);
    }
    for (const Member& member : second) {
      if (find(first, member.name) == first.end()) object.raw_escaped(member.name, member.json);
    }
    object.close();
  } else {
    out.append(b);
  }
}

}  // namespace

void add_usage_json(std::string& all, std::string_view turn) {
  if (turn.empty() || kind_of(turn) != json::Kind::object) return;
  if (all.empty()) {
    all = turn;
    return;
  }
  std::string sum;
  append_merged(sum, all, turn, 0);
  all = std::move(sum);
}

}  // namespace callgate
