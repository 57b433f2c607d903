// The files of an SQLite database, as an operator may touch them: PATH, PATH-wal, PATH-shm.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "store/fault.h"

namespace callgate::store {

// Before SQLite opens it. A file that is not there is made, for its owner alone whatever the umask says, and a log of one
// that was deleted is moved away: it belongs to other pages. `must_exist`: a missing or empty file is a fault.
Attempt<void> prepare_file(const std::string& path, bool must_exist);

// Takes from everybody but the owner what SQLite or an older version gave them.
void make_private(const std::string& path);

// Renames the database and what belongs to it to PATH.WORD-TIME; gives the new path. Missing parts do not matter.
Attempt<std::string> move_aside(const std::string& path, const char* word);

// Whether a path still leads to the file that it led to when this was made.
class FileMark {
 public:
  explicit FileMark(std::string path);
  // Nothing, or what happened to it: `was deleted`, `was replaced`.
  std::optional<std::string> change() const;
  // A file that was not there yet may come.
  void look_again();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool known_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace callgate::store
