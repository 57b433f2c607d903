#include "net/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "net/net_testing.h"
#include "net/owned_fd.h"
#include "net/stream.h"

namespace callgate::net::descriptor_test {
namespace {

struct Pair {
  OwnedFd ours;
  OwnedFd theirs;
};

Pair make_pair(int buffer = 0) {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  for (const int fd : fds) {
    if (buffer > 0) ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
  }
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

void send_to(const OwnedFd& fd, std::string_view bytes) {
  EXPECT_EQ(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
}

// What the process's epolls report of `fd`, as the kernel says; empty when none knows it.
std::optional<std::uint32_t> interest_in(int fd) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string tfd, events;
      int number = -1;
      std::uint32_t mask = 0;
      if (words >> tfd >> number >> events >> std::hex >> mask && tfd == "tfd:" && number == fd) {
        return mask;
      }
    }
  }
  return std::nullopt;
}

Task<> write_all(Stream& stream, std::string_view bytes, std::vector<Ready>& waits) {
  Gather out;
  out.add(bytes);
  while (true) {
    const IoStatus status = stream.write(out);
    if (status == IoStatus::done) co_return;
    EXPECT_EQ(status, IoStatus::want_write);
    waits.push_back(co_await stream.wait(status, Millis(10'000)));
  }
}

Task<> read_until_end(Loop& loop, Stream& stream, std::string& into, std::size_t& waits) {
  while (true) {
    const IoResult got = stream.read(loop.read_buffer());
    if (got.status == IoStatus::end || got.status == IoStatus::failed) co_return;
    if (got.status == IoStatus::done) {
      into.append(loop.read_buffer().data(), got.bytes);
      continue;
    }
    ++waits;
    const Ready ready = co_await stream.wait(got.status, Millis(10'000));
    EXPECT_EQ(ready, Ready::yes);
    if (ready != Ready::yes) co_return;
  }
}

TEST(Descriptor, is_observed_for_writing_only_while_a_write_waits) {
  Loop loop;
  Pair pair = make_pair(4096);
  const int fd = pair.ours.get();
  Stream stream(loop, pair.ours.release());
  const std::string bytes(1 << 20, 'x');
  std::vector<Ready> waits;
  std::size_t received = 0;
  run_to_end(loop,
             [](Loop& on, Stream& writer, std::string_view all, std::vector<Ready>& out,
                OwnedFd& peer, std::size_t& count, int observed) -> Task<> {
               on.spawn(write_all(writer, all, out));
               EXPECT_EQ(interest_in(observed).value_or(0) & EPOLLOUT, EPOLLOUT) << "it waits";
               std::array<char, 4096> buffer;
               while (count < all.size()) {
                 const ssize_t got = ::recv(peer.get(), buffer.data(), buffer.size(), 0);
                 if (got > 0) {
                   count += static_cast<std::size_t>(got);
                 } else {
                   co_await on.sleep(Millis(0));
                 }
               }
             }(loop, stream, bytes, waits, pair.theirs, received, fd));
  EXPECT_EQ(received, bytes.size());
  EXPECT_GT(waits.size(), 10u) << "each partial write waited again";
  const std::uint32_t after = interest_in(fd).value_or(0);
  EXPECT_EQ(after & EPOLLOUT, 0u);
  EXPECT_EQ(after & (EPOLLIN | EPOLLET), EPOLLIN | EPOLLET);
}

TEST(Descriptor, hears_of_bytes_that_came_before_it_waited_and_of_later_ones) {
  Loop loop;
  Pair pair = make_pair();
  Stream stream(loop, pair.ours.release());
  send_to(pair.theirs, "first ");
  std::string received;
  std::size_t waits = 0;
  run_to_end(
      loop,
      [](Loop& on, Stream& reader, OwnedFd& peer, std::string& into, std::size_t& count) -> Task<> {
        on.spawn([](OwnedFd& to, Loop& pause) -> Task<> {
          co_await pause.sleep(Millis(5));
          send_to(to, "second ");
          co_await pause.sleep(Millis(5));
          send_to(to, "third");
          ::shutdown(to.get(), SHUT_WR);
        }(peer, on));
        co_await read_until_end(on, reader, into, count);
      }(loop, stream, pair.theirs, received, waits));
  EXPECT_EQ(received, "first second third");
  EXPECT_EQ(waits, 3u) << "one wait for each edge: the end came with the last bytes";
}

// The short read leaves the end unread, and no other edge would come.
TEST(Descriptor, does_not_miss_an_end_that_came_with_the_last_bytes) {
  Loop loop;
  Pair pair = make_pair();
  Stream stream(loop, pair.ours.release());
  send_to(pair.theirs, "all there is");
  pair.theirs = OwnedFd();
  std::string received;
  std::size_t waits = 0;
  run_to_end(loop, read_until_end(loop, stream, received, waits));
  EXPECT_EQ(received, "all there is");
  EXPECT_EQ(waits, 1u);
}

TEST(Descriptor, watches_for_what_was_reported_and_not_read) {
  Loop loop;
  Pair pair = make_pair();
  Descriptor descriptor(loop, pair.ours.release());
  send_to(pair.theirs, "unread");
  struct Calls {
    Descriptor& on;
    Loop& loop;
    int count = 0;
    static void count_one(void* self) {
      auto& calls = *static_cast<Calls*>(self);
      if (++calls.count == 3) return calls.loop.stop();
      calls.on.watch(count_one, self);
    }
  } calls{descriptor, loop};
  descriptor.watch(Calls::count_one, &calls);
  loop.run();
  EXPECT_EQ(calls.count, 3);
}

TEST(Descriptor, ends_waits_when_it_is_closed_or_destroyed) {
  Loop loop;
  Pair first = make_pair();
  Pair second = make_pair();
  auto closed = std::make_unique<Descriptor>(loop, first.ours.release());
  auto destroyed = std::make_unique<Descriptor>(loop, second.ours.release());
  std::vector<Ready> results;
  const auto wait = [](Descriptor& on, Loop& stop, std::vector<Ready>& out) -> Task<> {
    const Ready ready = co_await on.wait(Direction::read, kNever);
    out.push_back(ready);
    if (out.size() == 2) stop.stop();
  };
  loop.spawn(wait(*closed, loop, results));
  loop.spawn(wait(*destroyed, loop, results));
  loop.post([&] {
    closed->close();
    destroyed.reset();
    EXPECT_TRUE(results.empty()) << "never inside close()";
  });
  loop.run();
  EXPECT_EQ(results, (std::vector<Ready>{Ready::closed, Ready::closed}));
  EXPECT_EQ(closed->fd(), -1);
}

// Both have an event in the same batch. The first to be called destroys the other, whose number and memory are used again.
TEST(Descriptor, gets_no_event_of_one_that_was_closed_in_the_same_batch) {
  Loop loop;
  struct Slot {
    Pair pair = make_pair();
    std::optional<Descriptor> descriptor;
    int fd = pair.ours.get();
    int calls = 0;
  };
  struct Both {
    Loop& loop;
    std::array<Slot, 2> slots;
    bool replaced = false;

    void watch(Slot& slot) {
      slot.descriptor->watch([](void* self) { static_cast<Slot*>(self)->calls++; }, &slot);
    }
    // Called by whichever comes first.
    void replace(Slot& other) {
      if (std::exchange(replaced, true)) return;
      other.descriptor.reset();
      Pair fresh = make_pair();
      EXPECT_EQ(fresh.ours.get(), other.fd) << "the number is used again";
      other.pair = std::move(fresh);
      other.descriptor.emplace(loop, other.pair.ours.release());
      watch(other);
    }
  } both{loop, {}, false};
  for (Slot& slot : both.slots) slot.descriptor.emplace(loop, slot.pair.ours.release());
  both.slots[0].descriptor->watch(
      [](void* self) {
        auto& all = *static_cast<Both*>(self);
        all.replace(all.slots[1]);
      },
      &both);
  both.slots[1].descriptor->watch(
      [](void* self) {
        auto& all = *static_cast<Both*>(self);
        all.replace(all.slots[0]);
      },
      &both);
  for (Slot& slot : both.slots) send_to(slot.pair.theirs, "x");
  run_to_end(loop, [](Both& all, Loop& on) -> Task<> {
    co_await on.sleep(Millis(20));
    EXPECT_TRUE(all.replaced);
    for (Slot& slot : all.slots) {
      EXPECT_EQ(slot.calls, 0) << "of another's bytes";
      all.watch(slot);
      send_to(slot.pair.theirs, "y");
    }
    for (int i = 0; i < 1000 && (all.slots[0].calls == 0 || all.slots[1].calls == 0); ++i) {
      co_await on.sleep(Millis(1));
    }
    for (Slot& slot : all.slots) EXPECT_EQ(slot.calls, 1);
  }(both, loop));
}

TEST(Descriptor, is_gone_from_the_kernels_list_though_another_process_shares_the_socket) {
  Loop loop;
  Pair pair = make_pair();
  const OwnedFd shared(::fcntl(pair.ours.get(), F_DUPFD_CLOEXEC, 0));
  int calls = 0;
  const int fd = pair.ours.get();
  {
    Descriptor descriptor(loop, pair.ours.release());
    descriptor.watch([](void* count) { ++*static_cast<int*>(count); }, &calls);
    EXPECT_TRUE(interest_in(fd));
  }
  EXPECT_FALSE(interest_in(fd));
  send_to(pair.theirs, "for nobody");
  run_to_end(loop, [](Loop& on) -> Task<> { co_await on.sleep(Millis(5)); }(loop));
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace callgate::net::descriptor_test
