#include "net/pool.h"

#include <algorithm>

namespace callgate::net {

namespace {

bool same_server(const Target& a, const Target& b) {
  return a.port == b.port && a.tls == b.tls && a.host == b.host && a.unix_path == b.unix_path;
}

}  // namespace

ClientConnection::ClientConnection(Loop& loop, int fd, Pool& pool) : stream(loop, fd), pool_(pool) {
  ++pool_.open_;
}

ClientConnection::~ClientConnection() {
  --pool_.open_;
  pool_.wake_first();
}

void Pool::wake_first() {
  if (!line_.empty()) line_.front()->notify();
}

// Whoever leaves may have been woken and not have used it.
void Pool::leave_line(Signal& signal) {
  if (std::erase(line_, &signal) > 0 && (!is_full() || idle() > 0)) wake_first();
}

Result<const TlsContext*> Pool::tls() {
  if (!tls_) {
    Result<TlsContext> made = make_client_tls(options_.ca_file, options_.insecure);
    if (!made) return tl::unexpected(made.error());
    tls_ = std::move(*made);
  }
  return &*tls_;
}

Pool::Slot* Pool::find(const Target& target) {
  for (Slot& slot : slots_) {
    if (same_server(slot.target, target)) return &slot;
  }
  return nullptr;
}

Pool::Slot& Pool::find_or_add(const Target& target) {
  Slot* const slot = find(target);
  return slot != nullptr ? *slot : slots_.emplace_back(Slot{target, {}, {}});
}

const TlsTicket& Pool::ticket(const Target& target) { return find_or_add(target).ticket; }

void Pool::keep_ticket(const Target& target, TlsTicket ticket) {
  if (ticket) find_or_add(target).ticket = std::move(ticket);
}

std::unique_ptr<ClientConnection> Pool::take(const Target& target) {
  Slot* slot = find(target);
  if (slot == nullptr || slot->idle.empty()) return nullptr;
  std::unique_ptr<ClientConnection> connection = std::move(slot->idle.back());
  slot->idle.pop_back();
  connection->stream.unwatch();
  connection->idle_.disarm();
  connection->reused = true;
  return connection;
}

void Pool::give(const Target& target, std::unique_ptr<ClientConnection> connection) {
  Slot& slot = find_or_add(target);
  if (slot.idle.size() >= options_.idle_per_target) return;
  ClientConnection& kept = *connection;
  slot.idle.push_back(std::move(connection));
  // Whatever arrives unasked, most often the end, makes the connection useless.
  const auto drop_kept = [](void* self) {
    auto& useless = *static_cast<ClientConnection*>(self);
    useless.pool_.drop(useless);
  };
  kept.stream.watch(drop_kept, &kept);
  kept.idle_.on_expiry(drop_kept, &kept);
  if (options_.idle_timeout != kNever) loop_.arm(kept.idle_, options_.idle_timeout);
  wake_first();
}

void Pool::drop(ClientConnection& connection) {
  for (Slot& slot : slots_) {
    std::erase_if(slot.idle, [&](const auto& kept) { return kept.get() == &connection; });
  }
}

std::size_t Pool::idle() const {
  std::size_t count = 0;
  for (const Slot& slot : slots_) count += slot.idle.size();
  return count;
}

}  // namespace callgate::net
