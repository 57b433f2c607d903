#include "net/task.h"

#include <array>
#include <new>

namespace callgate::net::detail {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kRecycle = false;  // lets the sanitizer see a frame used after its end
#else
constexpr bool kRecycle = true;
#endif

// Frames by size class, last in first out. A cache in front of the allocator, one per thread.
class FramePool {
 public:
  static constexpr std::size_t kStep = 64;
  static constexpr std::size_t kClasses = 64;
  static constexpr std::size_t kDepth = 64;

  ~FramePool() {
    for (Class& entry : classes_) {
      while (entry.count > 0) ::operator delete(entry.frames[--entry.count]);
    }
  }

  void* take(std::size_t index) {
    Class& entry = classes_[index];
    if (entry.count > 0) return entry.frames[--entry.count];
    return ::operator new((index + 1) * kStep);
  }

  void give(void* frame, std::size_t index) noexcept {
    Class& entry = classes_[index];
    if (entry.count < kDepth) {
      entry.frames[entry.count++] = frame;
    } else {
      ::operator delete(frame);
    }
  }

 private:
  struct Class {
    std::size_t count = 0;
    std::array<void*, kDepth> frames;
  };
  std::array<Class, kClasses> classes_;
};

thread_local FramePool pool;

std::size_t class_of(std::size_t size) { return (size - 1) / FramePool::kStep; }

}  // namespace

void* allocate_frame(std::size_t size) {
  const std::size_t index = class_of(size);
  if (!kRecycle || index >= FramePool::kClasses) return ::operator new(size);
  return pool.take(index);
}

void free_frame(void* frame, std::size_t size) noexcept {
  const std::size_t index = class_of(size);
  if (!kRecycle || index >= FramePool::kClasses) return ::operator delete(frame);
  pool.give(frame, index);
}

}  // namespace callgate::net::detail
