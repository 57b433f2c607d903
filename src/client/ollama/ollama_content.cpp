#include "client/ollama/ollama_content.h"

#include <array>

#include "chat/content.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

struct ImageSign {
  std::string_view start;  // in base64
  std::string_view type;
};
constexpr auto kImageSigns = std::to_array<ImageSign>({
    {"iVBORw0KGgo", "image/png"},
    {"/9j/", "image/jpeg"},
    {"R0lGOD", "image/gif"},
    {"UklGR", "image/webp"},
    {"Qk", "image/bmp"},
});

// Without the quotation marks, and without what some clients put before the data.
std::string_view image_data(std::string_view json) {
  std::string_view data = json.substr(1, json.size() - 2);
  constexpr std::string_view kMark = ";base64,";
  if (data.starts_with("data:")) data.remove_prefix(data.find(kMark) + kMark.size());
  return data;
}

std::string_view image_type(std::string_view data) {
  for (const ImageSign& sign : kImageSigns) {
    if (data.starts_with(sign.start)) return sign.type;
  }
  return "image/png";
}

}  // namespace

bool is_ollama_image(std::string_view json) {
  const std::string_view text = json.substr(1, json.size() - 2);
  if (text.starts_with("data:") && text.find(";base64,") == std::string_view::npos) return false;
  // A slash may be escaped in JSON; nothing else in base64 may.
  const std::string_view data = image_data(json);
  return data.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_\\") ==
         std::string_view::npos;
}

RawJson ollama_content(std::string_view text, const std::vector<std::string_view>& images) {
  if (images.empty()) return text_content(text);
  RawJson content{"["};
  if (!text.empty()) {
    json::ObjectWriter part(content.text);
    part.string("type", "text");
    part.string("text", text);
    part.close();
  }
  for (const std::string_view image : images) {
    const std::string_view data = image_data(image);
    if (content.text.size() > 1) content.text.push_back(',');
    content.text.append(R"({"type":"image_url","image_url":{"url":"data:)");
    content.text.append(image_type(data)).append(";base64,").append(data).append("\"}}");
  }
  content.text.push_back(']');
  return content;
}

}  // namespace callgate::client
