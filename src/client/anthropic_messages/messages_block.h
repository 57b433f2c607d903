// A content block of a Messages request, its members as they are written, and the canonical part that it becomes.
//
//   {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}
//     -> {"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/error.h"
#include "client/anthropic_messages/messages_path.h"

namespace callgate::client {

// Views of JSON, empty where a member is missing or null.
struct MessagesBlock {
  std::string type;
  std::string_view text;
  std::string_view source;
  std::string_view content;
  std::string_view title;
  std::string_view context;
  std::string_view id;
  std::string_view name;
  std::string_view input;
  std::string_view tool_use_id;
  std::string_view is_error;
  std::string_view thinking;
  std::string_view signature;
  std::string_view data;
  std::string_view tool_name;
};

// Reads blocks of a body that is well-formed JSON, and keeps the first fault.
class MessagesBlocks {
 public:
  // nullopt: see error().
  std::optional<MessagesBlock> read(const MessagesPath& path, std::string_view json);

  // Appends the canonical parts of a block that is neither a call nor a result nor reasoning. False after a fault. A block that
  // has no such form is named in lost().
  bool append_parts(const MessagesPath& path, const MessagesBlock& block,
                    std::vector<std::string>& parts);
  // The same for a member `content`: a string, or blocks.
  bool append_content(const MessagesPath& path, std::string_view content,
                      std::vector<std::string>& parts);

  // The member as text, which must be a string. False after a fault.
  bool take_text(const MessagesPath& path, std::string_view json, std::string& text);
  // False, with this as the fault.
  bool fault(const MessagesPath& path, std::string_view found, std::string_view expected);
  bool check_members(const MessagesPath& path, const MessagesBlock& block);
  bool expect(const MessagesPath& path, std::string_view json, bool good,
              std::string_view expected);

  Error& error() { return error_; }
  std::vector<std::string>& lost() { return lost_; }
  // Tools that a `tool_reference` named.
  std::vector<std::string>& referenced() { return referenced_; }

 private:
  bool append_image(const MessagesPath& path, const MessagesBlock& block,
                    std::vector<std::string>& parts);
  bool append_document(const MessagesPath& path, const MessagesBlock& block,
                       std::vector<std::string>& parts);
  bool append_search_result(const MessagesPath& path, const MessagesBlock& block,
                            std::vector<std::string>& parts);
  bool append_reference(const MessagesPath& path, const MessagesBlock& block,
                        std::vector<std::string>& parts);

  Error error_;
  std::vector<std::string> lost_;
  std::vector<std::string> referenced_;
};

// Parts as the content of a message: one text alone is a string.
std::string content_of(const std::vector<std::string>& parts);

// What kind of JSON this is, for an error: `missing`, `a number`.
std::string_view found_kind(std::string_view json);

}  // namespace callgate::client
