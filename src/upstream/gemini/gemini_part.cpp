#include "upstream/gemini/gemini_part.h"

#include <algorithm>
#include <array>

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/gemini/gemini.h"

namespace callgate::upstream {
namespace {

std::string inline_part(std::string_view type, std::string_view data) {
  std::string out = R"({"inlineData":)";
  json::ObjectWriter object(out);
  object.string("mimeType", type == "image/jpg" ? "image/jpeg" : type);
  object.string("data", data);
  object.close();
  return out + "}";
}

// data:application/pdf;base64,AA==
std::string inline_part(std::string_view url) {
  constexpr std::string_view kMark = ";base64,";
  const std::size_t mark = url.find(kMark);
  if (!url.starts_with("data:") || mark == std::string_view::npos) return {};
  return inline_part(url.substr(5, mark - 5), url.substr(mark + kMark.size()));
}

struct FileEnding {
  std::string_view ending;
  std::string_view type;
};
constexpr auto kEndings = std::to_array<FileEnding>({
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"},
    {".webp", "image/webp"},
    {".gif", "image/gif"},
    {".heic", "image/heic"},
    {".heif", "image/heif"},
    {".pdf", "application/pdf"},
    {".mp4", "video/mp4"},
});

// The type by the end of the path; the API finds it out by itself where there is none.
std::string file_part(std::string_view url) {
  const std::array<std::string_view, 3> schemes = {"https://", "http://", "gs://"};
  if (std::none_of(schemes.begin(), schemes.end(),
                   [&](std::string_view scheme) { return url.starts_with(scheme); })) {
    return {};
  }
  const std::string_view path = url.substr(0, url.find_first_of("?#"));
  std::string out = R"({"fileData":)";
  json::ObjectWriter object(out);
  object.string("fileUri", url);
  for (const FileEnding& each : kEndings) {
    if (path.ends_with(each.ending)) object.string("mimeType", each.type);
  }
  object.close();
  return out + "}";
}

std::string link_part(std::string_view url) {
  return url.starts_with("data:") ? inline_part(url) : file_part(url);
}

// {"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}
std::string audio_part(std::string_view audio) {
  const std::string data = json::member_text(audio, "data");
  const std::string format = json::member_text(audio, "format");
  if (data.empty() || format.empty()) return {};
  return inline_part("audio/" + format, data);
}

// Files, sound and video as Chat Completions has them; parts in the API's own form pass as they are.
std::string other_gemini_part(const ContentPart& part) {
  const std::string type = json::member_text(part.json, "type");
  if (type == "file")
    return inline_part(json::member_text(json::given_member(part.json, "file"), "file_data"));
  if (type == "input_audio") return audio_part(json::given_member(part.json, type));
  if (type == "video_url")
    return link_part(json::member_text(json::given_member(part.json, type), "url"));
  for (const std::string_view own : {"inlineData", "fileData"}) {
    const std::string_view value = json::given_member(part.json, own);
    if (!value.empty()) return "{\"" + std::string(own) + "\":" + std::string(value) + "}";
  }
  return {};
}

bool is_object(std::string_view text) {
  json::Reader in(text);
  if (in.peek() != json::Kind::object) return false;
  in.skip();
  return in.finish();
}

}  // namespace

std::string gemini_part(const ContentPart& part, bool& lost) {
  std::string made;
  switch (part.kind) {
    case ContentPart::Kind::text:
      lost = false;
      return part.text.empty() ? std::string() : gemini_text(part.text, {});
    case ContentPart::Kind::image:
      made = part.data.empty() ? file_part(part.url) : inline_part(part.media_type, part.data);
      break;
    case ContentPart::Kind::other:
      made = other_gemini_part(part);
      break;
  }
  lost = made.empty();
  return made;
}

std::string gemini_text(std::string_view text, std::string_view signature, bool thought) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("text", text);
  if (thought) object.boolean("thought", true);
  if (!signature.empty()) object.string("thoughtSignature", signature);
  object.close();
  return out;
}

std::string gemini_call(const CallRecord& call, std::string_view id, std::string_view signature) {
  std::string out;
  json::ObjectWriter object(out);
  json::ObjectWriter made(object.key("functionCall"));
  if (!id.empty()) made.string("id", id);
  made.string("name", call.name);
  append_arguments_object(made.key("args"), call.arguments);
  made.close();
  if (!signature.empty()) object.string("thoughtSignature", signature);
  object.close();
  return out;
}

std::string gemini_response(std::string_view text, bool failed) {
  const bool object = is_object(text);
  if (object && !failed) return std::string(text);
  std::string out = failed ? R"({"error":)" : R"({"output":)";
  if (object) {
    out.append(text);
  } else {
    json::append_string(out, text);
  }
  return out + "}";
}

std::vector<GeminiSignature> gemini_signatures(const Message& message) {
  std::vector<GeminiSignature> signatures;
  json::Reader in(find_field(message.extra, "reasoning_details"));
  if (in.peek() != json::Kind::array) return signatures;
  while (in.next_element()) {
    const std::string_view detail = in.raw();
    if (json::member_text(detail, "format") != kGeminiReasoning) continue;
    GeminiSignature made{.id = json::member_text(detail, "id"),
                         .call = std::nullopt,
                         .data = json::member_text(detail, "data")};
    json::Reader index(json::given_member(detail, "index"));
    if (index.peek() == json::Kind::number) made.call = index.integer();
    if (!made.data.empty()) signatures.push_back(std::move(made));
  }
  return signatures;
}

std::string_view gemini_call_id(std::string_view id) {
  constexpr std::string_view kMinted = "call_";
  constexpr std::size_t kMintedLength = 24;
  const bool minted =
      id.starts_with(kMinted) && id.size() == kMinted.size() + kMintedLength &&
      id.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
                           kMinted.size()) == std::string_view::npos;
  return minted ? std::string_view() : id;
}

}  // namespace callgate::upstream
