// Finds what a relayed answer says of its tokens, without reading the rest: the member `usage` of the object, or of the objects
// of an event stream. It keeps nothing else, whatever the size of the answer.
//
//   {"object":"list","data":[...],"model":"bge-m3","usage":{"prompt_tokens":8,"total_tokens":8}}
//   data: {"type":"image_generation.completed", ..., "usage":{"input_tokens":12,"output_tokens":4160,"total_tokens":4172}}
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/event.h"

namespace callgate::server {

class RelayedUsage {
 public:
  // Of any content type: others than JSON and event streams have none.
  explicit RelayedUsage(std::string_view content_type);

  void push(std::string_view bytes);
  // The last that was said in tokens.
  const std::optional<Usage>& usage() const { return usage_; }

 private:
  static constexpr std::size_t kMostUsage = 4096;

  void begin_document();
  void step(char c);
  void in_string(char c);
  void end_value();

  bool wanted_ = false;
  bool events_ = false;
  std::size_t depth_ = 0;
  bool string_ = false;
  bool escaped_ = false;
  bool value_ = false;    // after the colon of a member of the object
  std::string name_;      // of that member, as far as it matters
  std::string captured_;  // the value of `usage`
  std::optional<Usage> usage_;
};

}  // namespace callgate::server
