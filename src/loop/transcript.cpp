#include "loop/transcript.h"

#include <algorithm>
#include <string_view>

#include "chat/content.h"
#include "loop/evicted_results.h"

namespace callgate::loop {
namespace {

constexpr std::size_t kMarkBytes = 40;
constexpr std::size_t kLeastShare = 60;

std::string_view speaker_of(Role role) {
  switch (role) {
    case Role::system:
    case Role::developer:
      return "System";
    case Role::user:
      return "User";
    case Role::assistant:
      return "Assistant";
    case Role::tool:
      return "Result";
  }
  return "";
}

void add_pieces(const Message& message, std::vector<std::string>& pieces) {
  if (const std::string text = text_of(message.content); !text.empty()) {
    pieces.push_back(std::string(speaker_of(message.role)) + ": " + text);
  }
  for (const CallRecord& call : message.calls) {
    pieces.push_back("Call: " + call.name + " " + call.arguments);
  }
}

// What each piece may have, so that all of them have `room` together: short ones leave theirs to the others.
std::size_t share_of(const std::vector<std::string>& pieces, std::size_t room) {
  std::vector<std::size_t> sizes;
  for (const std::string& piece : pieces) sizes.push_back(piece.size() + 1);
  std::sort(sizes.begin(), sizes.end());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t share = room / (sizes.size() - i);
    if (sizes[i] > share) return share;
    room -= sizes[i];
  }
  return sizes.empty() ? 0 : sizes.back();
}

void append_cut(std::string& out, std::string_view piece, std::size_t share) {
  if (piece.size() <= share) {
    out.append(piece);
  } else if (share < 2 * kMarkBytes) {
    out.append(head_of(piece, share));
  } else {
    const std::size_t kept = share - kMarkBytes;
    const std::string_view tail = tail_of(piece, kept / 3);
    const std::string_view head = head_of(piece, kept - kept / 3);
    out.append(head).append(" [").append(std::to_string(piece.size() - head.size() - tail.size()));
    out.append(" bytes left out] ").append(tail);
  }
  out.push_back('\n');
}

// A few bytes of each say nothing: then only the first and the last are told.
void leave_out_middle(std::vector<std::string>& pieces, std::size_t room) {
  const std::size_t most = std::max<std::size_t>(3, room / kLeastShare);
  if (pieces.size() <= most) return;
  const std::size_t gone = pieces.size() - most + 1;
  pieces[1] = "[" + std::to_string(gone) + " messages left out]";
  pieces.erase(pieces.begin() + 2, pieces.begin() + 1 + static_cast<std::ptrdiff_t>(gone));
}

}  // namespace

std::string print_transcript(const std::vector<const Message*>& messages, std::size_t room) {
  std::vector<std::string> pieces;
  for (const Message* message : messages) add_pieces(*message, pieces);
  std::size_t bytes = 0;
  for (const std::string& piece : pieces) bytes += piece.size() + 1;
  if (bytes > room) leave_out_middle(pieces, room);
  const std::size_t share = share_of(pieces, room);
  std::string text;
  for (const std::string& piece : pieces) append_cut(text, piece, share == 0 ? 0 : share - 1);
  return text;
}

}  // namespace callgate::loop
