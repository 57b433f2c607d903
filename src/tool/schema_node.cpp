#include "tool/schema_node.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "json/integer.h"
#include "json/writer.h"
#include "tool/bounded_text.h"

namespace callgate::tool {
namespace {

SchemaNode read_value(json::Reader& in, int depth) {
  SchemaNode node;
  if (depth > kMostNodeDepth) in.fail("nested too deeply");
  node.kind = in.peek();
  switch (node.kind) {
    case json::Kind::object: {
      std::unordered_map<std::string, std::size_t> places;
      for (std::string_view key; in.next_member(key);) {
        const auto [place, is_new] = places.emplace(key, node.members.size());
        if (is_new) node.members.emplace_back(place->first, SchemaNode());
        const std::size_t at = place->second;
        SchemaNode value = read_value(in, depth + 1);
        node.members[at].second = std::move(value);
      }
      break;
    }
    case json::Kind::array:
      while (in.next_element()) node.items.push_back(read_value(in, depth + 1));
      break;
    case json::Kind::string:
      node.text = in.string();
      break;
    case json::Kind::number:
      node.text = in.number();
      break;
    case json::Kind::boolean:
      node.truth = in.boolean();
      break;
    case json::Kind::null:
      in.null();
      break;
    case json::Kind::invalid:
      in.skip();
  }
  return node;
}

}  // namespace

const SchemaNode* SchemaNode::find(std::string_view name) const {
  for (const Member& member : members) {
    if (member.first == name) return &member.second;
  }
  return nullptr;
}

SchemaNode* SchemaNode::find(std::string_view name) {
  return const_cast<SchemaNode*>(std::as_const(*this).find(name));
}

Result<SchemaNode> read_node(std::string_view json) {
  json::Reader in(json);
  SchemaNode node = read_value(in, 0);
  if (in.finish()) return node;
  return fail(ErrorCode::invalid_request, "not JSON at byte " + std::to_string(in.error().offset) +
                                              ": " + std::string(in.error().message));
}

double to_double(std::string_view number) {
  double value = 0;
  const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (fault == std::errc::result_out_of_range) {
    const bool tiny = number.find("e-") < number.size() || number.find("E-") < number.size();
    value = tiny ? 0.0 : std::numeric_limits<double>::max();
    if (number.starts_with('-')) value = -value;
  }
  return value;
}

bool is_integral(std::string_view number) {
  if (json::to_integer(number)) return true;
  if (number.find_first_of(".eE") == std::string_view::npos) return true;
  // Above 2^53 every double is one; below, to_integer() has said no.
  return std::abs(to_double(number)) > 9007199254740992.0;
}

std::int64_t to_near_integer(std::string_view number) {
  if (const auto whole = json::to_integer(number)) return *whole;
  const double value = to_double(number);
  if (value >= 9.2e18) return std::numeric_limits<std::int64_t>::max();
  if (value <= -9.2e18) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

std::string describe(const SchemaNode& node) {
  switch (node.kind) {
    case json::Kind::object:
      return "an object";
    case json::Kind::array:
      return "an array of " + std::to_string(node.items.size());
    case json::Kind::string: {
      std::string out = "string ";
      json::append_string(out, whole_prefix(node.text, 80));
      return out;
    }
    case json::Kind::number:
      return "number " + std::string(whole_prefix(node.text, 40));
    case json::Kind::boolean:
      return node.truth ? "true" : "false";
    case json::Kind::null:
      return "null";
    case json::Kind::invalid:
      break;
  }
  return "nothing";
}

}  // namespace callgate::tool
