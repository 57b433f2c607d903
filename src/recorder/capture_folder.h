// The folder that captures are written to: each file appears whole, readable for its owner alone, and the oldest ones
// make room for new ones.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "callgate/result.h"

namespace callgate::server {

class CaptureFolder {
 public:
  // Makes the folder if it is not there, and looks which captures it has.
  static Result<CaptureFolder> open(const std::string& path);

  const std::string& path() const { return path_; }

  // Writes NAME.capture.jsonl; NAME-2 and so on when there is one already. Then removes the oldest captures until no
  // more than `max_files` are left; 0 means no limit.
  Result<void> write(std::string_view name, std::string_view text, std::size_t max_files);

 private:
  explicit CaptureFolder(std::string path) : path_(std::move(path)) {}
  void look();

  std::string path_;
  std::deque<std::string> files_;  // names, the oldest first
};

}  // namespace callgate::server
