// A field of a form with files, as clients send them to audio and image endpoints, without reading the rest:
//
//   content-type: multipart/form-data; boundary=x
//   --x\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--x\r\n ... --x--
#pragma once

#include <optional>
#include <string_view>

#include "callgate/result.h"

namespace callgate::server {

bool is_form(std::string_view content_type);

// The field's value, as it stands in the body; nothing: the form has no such field. Fails where the form is not one, or has
// the field twice, since nobody knows which of them the upstream takes.
Result<std::optional<std::string_view>> find_form_field(std::string_view content_type,
                                                        std::string_view body,
                                                        std::string_view name);

}  // namespace callgate::server
