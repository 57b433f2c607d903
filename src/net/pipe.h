// Pipe: one end of a pipe on a loop, such as a child's standard output or our own.
#pragma once

#include <string_view>

#include "callgate/result.h"
#include "net/descriptor.h"
#include "net/task.h"

namespace callgate::net {

class Pipe {
 public:
  // Takes ownership of `fd`, a pipe, socket or terminal, and makes it non-blocking.
  Pipe(Loop& loop, int fd);

  // The next bytes, empty at the end. The view is into the loop's read buffer: lost when the caller next waits.
  Task<Result<std::string_view>> read(Millis timeout);
  // All of `bytes`. One writer at a time.
  Task<Result<void>> write(std::string_view bytes, Millis timeout);
  // What is there now, without waiting: the bytes read, 0 at the end, -1 when there is nothing yet.
  std::ptrdiff_t read_now(char* buffer, std::size_t size);

  // Ends waits; later reads and writes fail.
  void close() { descriptor_.close(); }
  bool closed() const { return descriptor_.closed(); }
  Descriptor& descriptor() { return descriptor_; }

 private:
  Loop& loop_;
  Descriptor descriptor_;
};

}  // namespace callgate::net
