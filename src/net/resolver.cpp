#include "net/resolver.h"

#include <algorithm>
#include <mutex>
#include <thread>

namespace callgate::net {

namespace {

constexpr std::uint64_t kKeptMillis = 10'000;

}  // namespace

struct Resolver::Question {
  std::mutex mutex;
  Resolver* asker;  // empty once nobody wants the answer
};

Resolver::~Resolver() {
  for (const auto& entry : entries_) {
    const std::lock_guard lock(entry->question->mutex);
    entry->question->asker = nullptr;
  }
}

std::shared_ptr<Resolver::Entry> Resolver::find_or_ask(const std::string& host,
                                                       std::uint16_t port) {
  entries_.remove_if([now = loop_.now()](const std::shared_ptr<Entry>& entry) {
    return entry->answer && entry->kept_until <= now;
  });
  for (const auto& entry : entries_) {
    if (entry->host == host && entry->port == port) return entry;
  }
  auto question = std::make_shared<Question>();
  question->asker = this;
  entries_.push_back(std::make_shared<Entry>(Entry{host, port, question, {}, 0, {}}));
  // The thread owns copies only and is never waited for: the system may take half a minute.
  std::thread([question, host, port] {
    Result<std::vector<Address>> answer = resolve_blocking(host, port);
    const std::lock_guard lock(question->mutex);
    if (question->asker == nullptr) return;
    question->asker->loop_.post([question, answer = std::move(answer)]() mutable {
      Resolver* asker = nullptr;
      {
        const std::lock_guard inner(question->mutex);
        asker = question->asker;
      }
      if (asker != nullptr) asker->answered(*question, std::move(answer));
    });
  }).detach();
  return entries_.back();
}

void Resolver::answered(const Question& question, Result<std::vector<Address>> answer) {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    Entry& found = **entry;
    if (found.question.get() != &question) continue;
    const bool kept = answer.has_value();
    found.answer = std::move(answer);
    found.kept_until = loop_.now() + kKeptMillis;
    for (Signal* waiting : found.waiting) waiting->notify();
    if (!kept) entries_.erase(entry);  // a failure is asked again
    return;
  }
}

Task<Result<std::vector<Address>>> Resolver::resolve(const std::string& host, std::uint16_t port,
                                                     Millis timeout, Signal& wake) {
  const std::shared_ptr<Entry> entry = find_or_ask(host, port);
  if (!entry->answer) {
    struct Waiting {
      Entry& on;
      Signal* signal;
      Waiting(Entry& waited, Signal& own) : on(waited), signal(&own) {
        on.waiting.push_back(signal);
      }
      ~Waiting() { std::erase(on.waiting, signal); }
    } waiting(*entry, wake);
    (void)co_await wake.wait(timeout);
  }
  if (!entry->answer) {
    co_return fail(ErrorCode::timed_out, "resolve " + host + ": no answer in time");
  }
  co_return *entry->answer;
}

}  // namespace callgate::net
