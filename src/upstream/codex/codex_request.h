// Parts of a request as codex takes them: items of the Responses API for history, input items for a prompt.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "upstream/request_parts.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

// Where the parts of a conversation are. Indices into the messages.
struct ConversationParts {
  std::size_t lead = 0;    // messages before it are the system prompt
  std::size_t prompt = 0;  // messages from here on are the prompt: user messages at the end
  std::size_t since_call =
      0;  // messages from here on answer calls; the number of messages when they do not
};
ConversationParts parts_of_conversation(const Request& request);

// `messages[2].content[0]`
std::string place_of_part(std::size_t message, std::size_t part);
// The address of an image, a data: URL where the image is here.
std::string image_url_of(const ContentPart& part);

// The texts of the system prompt, a blank line between them.
std::string instructions_of(const Request& request, std::size_t lead);

// Messages as Responses items, each followed by a comma but the last. What cannot be carried goes into `dropped`.
void append_items(std::string& out, const Request& request, std::size_t begin, std::size_t end,
                  std::vector<DroppedField>& dropped);

// User messages as input items: {"type":"text","text":"hi"} and images, whose address is under `image_key`.
void append_input(std::string& out, const Request& request, std::size_t begin,
                  std::string_view image_key, std::vector<DroppedField>& dropped);

// JSON from clients may have line breaks, which a protocol of lines has not. Strings never hold any.
void put_on_one_line(std::string& json);

// Messages as one text that a model reads as a conversation.
std::string transcript_of(const Request& request, std::size_t begin, std::size_t end);

}  // namespace callgate::upstream
