// What an upstream tells a client that speaks the same format beside events: fields of the message and of the turn whose names no
// other format has. Decoders report them only for requests of that origin.
#pragma once

#include <string_view>

namespace callgate {

// Responses. An item of the output begins, as the upstream wrote it: it gives the item that events open next its id, and members
// that callgate does not know.
inline constexpr std::string_view kItemAdded = "openai_responses.item_added";
// The same when it ends.
inline constexpr std::string_view kItemDone = "openai_responses.item_done";
// An item of a kind that callgate does not know begins, and ends. Either may come without the other.
inline constexpr std::string_view kOtherItemAdded = "openai_responses.other_item_added";
inline constexpr std::string_view kOtherItem = "openai_responses.item";
// An event of a kind that callgate does not know: its data.
inline constexpr std::string_view kOtherEvent = "openai_responses.event";
// Members of an event that callgate knows, which it does not know: {"type":"response.output_text.delta","note":"x"}. They
// belong to the next event of that type.
inline constexpr std::string_view kEventMembers = "openai_responses.members";
// A part of a message begins, and ends: members of it that callgate does not know.
inline constexpr std::string_view kPartAdded = "openai_responses.part_added";
inline constexpr std::string_view kPartDone = "openai_responses.part_done";
// The response object at the end.
inline constexpr std::string_view kWholeResponse = "openai_responses.response";

// Gemini. Members of a text's part that callgate does not know; they belong to the next text.
inline constexpr std::string_view kGeminiPart = "gemini.part";

}  // namespace callgate
