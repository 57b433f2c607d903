#include "room/room_book.h"

#include <utility>

namespace callgate::server {
namespace {

constexpr std::uint64_t kPatienceMs = 30'000;
constexpr net::Millis kBeforeRetry{100};

}  // namespace

RoomBook::RoomBook(store::Sessions& store, std::string room, std::string holder, std::int64_t keep)
    : store_(store), room_(std::move(room)), holder_(std::move(holder)), keep_(keep) {}

template <class Query>
net::Task<bool> RoomBook::write(net::Loop& loop, Query query) {
  const std::uint64_t deadline = loop.now() + kPatienceMs;
  for (;;) {
    auto asking = store_.ask(loop, room_, query);  // g++ 12 destroys temporaries twice
    const Result<bool> written = co_await asking;
    if (written && !*written) lose();
    if (written) co_return *written;
    if (lost() || loop.now() >= deadline) co_return !lost();
    co_await loop.sleep(kBeforeRetry);
  }
}

net::Task<bool> RoomBook::add(net::Loop& loop, store::RoomMessage message) {
  const auto query = [room = room_, holder = holder_,
                      message = std::move(message)](store::Sessions::Tables& tables) {
    return tables.rooms.add(room, holder, message);
  };
  auto writing = write(loop, query);
  const bool written = co_await writing;
  co_return written;
}

net::Task<bool> RoomBook::begin(net::Loop& loop, std::string message, std::string stream) {
  const auto query = [room = room_, holder = holder_, message,
                      stream](store::Sessions::Tables& tables) {
    return tables.rooms.begin(room, holder, message, stream);
  };
  auto writing = write(loop, query);
  const bool written = co_await writing;
  co_return written;
}

net::Task<bool> RoomBook::end(net::Loop& loop, std::string message, std::uint64_t seq,
                              std::string answer) {
  store::RoomMessage ended;
  ended.id = std::move(message);
  ended.end_seq = static_cast<std::int64_t>(seq);
  ended.answer = std::move(answer);
  const auto query = [room = room_, holder = holder_, keep = keep_,
                      ended = std::move(ended)](store::Sessions::Tables& tables) {
    return tables.rooms.end(room, holder, ended, keep);
  };
  auto writing = write(loop, query);
  const bool written = co_await writing;
  co_return written;
}

void RoomBook::forget() {
  store::Sessions::Job job;
  job.run = [room = room_, holder = holder_](store::Sessions::Tables& tables) {
    return tables.rooms.forget(room, holder);
  };
  job.patient = true;
  store_.submit(room_, std::move(job));
}

}  // namespace callgate::server
