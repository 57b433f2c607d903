#include "store/log/readers.h"

namespace callgate::store {
namespace {

constexpr std::size_t kIdleReaders = 4;

DatabaseOptions without_making_it(DatabaseOptions options) {
  options.must_exist = true;
  return options;
}

}  // namespace

Readers::Readers(std::string url, DatabaseOptions options)
    : url_(std::move(url)), options_(without_making_it(std::move(options))) {}

void Readers::renew() {
  const std::lock_guard lock(mutex_);
  idle_.clear();
  ++openings_;
}

Attempt<Readers::Reader> Readers::take() {
  Reader reader;
  {
    const std::lock_guard lock(mutex_);
    reader.opening = openings_;
    if (!idle_.empty()) {
      reader.database = std::move(idle_.back());
      idle_.pop_back();
      return reader;
    }
  }
  Attempt<std::unique_ptr<Database>> fresh = open_database(url_, options_);
  if (!fresh) return tl::unexpected(fresh.error());
  reader.database = std::move(*fresh);
  return reader;
}

void Readers::give_back(Reader reader) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleReaders && reader.opening == openings_) {
    idle_.push_back(std::move(reader.database));
  }
}

}  // namespace callgate::store
