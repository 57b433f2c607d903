#include "gateway/form_field.h"

#include <string>

#include "base/text.h"

namespace callgate::server {
namespace {

constexpr std::string_view kForm = "multipart/form-data";

// Of `; name="value"` or `; name=value`.
std::string_view parameter_of(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(';'); at != std::string_view::npos; at = line.find(';', at + 1)) {
    std::string_view rest = trimmed(line.substr(at + 1));
    if (to_lower(rest.substr(0, name.size())) != name) continue;
    rest = trimmed(rest.substr(name.size()));
    if (!rest.starts_with('=')) continue;
    rest = trimmed(rest.substr(1));
    if (rest.starts_with('"')) return rest.substr(1, rest.find('"', 1) - 1);
    return trimmed(rest.substr(0, rest.find(';')));
  }
  return {};
}

// Of the part's head.
std::string_view name_of_part(std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    if (to_lower(line.substr(0, 20)) == "content-disposition:") return parameter_of(line, "name");
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 2);
  }
  return {};
}

tl::unexpected<Error> bad_form(std::string_view why) {
  return fail(ErrorCode::invalid_request, "the form " + std::string(why));
}

}  // namespace

bool is_form(std::string_view content_type) {
  return to_lower(content_type.substr(0, kForm.size())) == kForm;
}

Result<std::optional<std::string_view>> find_form_field(std::string_view content_type,
                                                        std::string_view body,
                                                        std::string_view name) {
  const std::string_view boundary = parameter_of(content_type, "boundary");
  if (boundary.empty()) return bad_form("has no boundary in its content-type");
  const std::string line = "\r\n--" + std::string(boundary);
  std::optional<std::string_view> found;
  if (!body.starts_with(std::string_view(line).substr(2)))
    return bad_form("does not begin with its boundary");
  body.remove_prefix(line.size() - 2);
  while (!body.starts_with("--")) {
    const std::size_t end = body.find(line);
    if (end == std::string_view::npos) return bad_form("does not end with its boundary");
    const std::string_view part = body.substr(0, end);
    const std::size_t blank = part.find("\r\n\r\n");
    if (blank != std::string_view::npos && name_of_part(part.substr(0, blank)) == name) {
      if (found) return bad_form("has " + std::string(name) + " twice");
      found = part.substr(blank + 4);
    }
    body.remove_prefix(end + line.size());
  }
  return found;
}

}  // namespace callgate::server
