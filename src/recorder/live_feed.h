// LiveFeed: what turns do right now, for those who watch. Turns put rows into one bounded, numbered history; viewers read it at
// their own pace. A row is all that is known of its turn so far, so that of several rows of one turn only the last matters:
// a slow viewer gets fewer rows, and no turn waits for it.
//
//   if (feed.is_watched()) feed.add(LiveRow{.record = record, .progress = {...}});      // a turn, on any thread
//   LiveFeed::News news = feed.read(after, filter);                                     // a viewer
//
// While nobody watches, turns pay for one relaxed load.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/loop.h"
#include "recorder/capture_writer.h"
#include "store/request_log.h"

namespace callgate::server {

// How far a turn has come.
struct LiveProgress {
  std::string_view phase;  // asking, waiting, streaming; static text, empty: it is over
  std::string upstream;    // that is asked
  std::uint32_t attempts = 0;
  std::optional<std::uint64_t> first_token_ms;
  std::uint64_t elapsed_ms = 0;
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;  // of text, reasoning and arguments
  std::uint32_t calls = 0;
};

struct LiveRow {
  std::uint64_t number = 0;
  std::shared_ptr<const store::RequestRecord> record;
  std::shared_ptr<const store::RequestOutcome> outcome;  // nullptr: it runs
  LiveProgress progress;
};

// What a viewer wants; empty: all. Exactly so.
struct LiveFilter {
  std::string model;
  std::string key;
  std::string upstream;
  bool admits(const LiveRow& row) const;
};

class LiveFeed {
 public:
  static constexpr std::size_t kHistory = 4096;       // rows
  static constexpr std::int64_t kViewers = 16;        // at a time
  static constexpr std::uint64_t kLingerMs = 60'000;  // a viewer who left may come back
  static constexpr std::uint64_t kWindowMs = 100;     // progress is limited in each of these
  static constexpr std::uint32_t kProgressPerWindow = 20;

  LiveFeed();
  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;

  // Any thread. Somebody watches, or left a minute ago at most.
  bool is_watched() const {
    return watched_until_.load(std::memory_order_relaxed) != 0 && is_watched_now();
  }
  // Whether another row of progress may be added now: their number per second is limited, however many turns run.
  bool may_progress(std::uint64_t now_ms);
  void add(LiveRow row);

  // The numbers of a feed are of one life of the gateway; this says which one.
  const std::string& epoch() const { return epoch_; }

  struct News {
    std::vector<LiveRow> rows;  // one for each turn, in order
    std::uint64_t last = 0;     // read on from here
    bool has_gap = false;       // rows after the number asked for are forgotten
  };
  News read(std::uint64_t after, const LiveFilter& filter) const;
  std::uint64_t last() const { return last_.load(std::memory_order_relaxed); }

  // Stands for a viewer. While there is one, turns tell what they do.
  class Viewer {
   public:
    // False: there are too many already.
    explicit Viewer(LiveFeed& feed);
    ~Viewer();
    Viewer(const Viewer&) = delete;
    Viewer& operator=(const Viewer&) = delete;
    explicit operator bool() const { return admitted_; }
    // To be called every now and then while it watches.
    void stay();

   private:
    LiveFeed& feed_;
    bool admitted_;
  };
  std::int64_t viewers() const { return viewers_.load(std::memory_order_relaxed); }

  // What of a running turn can be looked at. On the event loop of the turn.
  using Look = std::function<std::optional<CaptureJob>()>;
  // Stands for a running turn that may be looked into. Its owner's thread only.
  class Entry {
   public:
    Entry(LiveFeed& feed, net::Loop& loop, std::string request, Look look);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    LiveFeed& feed_;
    std::string request_;
    std::shared_ptr<Look> look_;
  };
  // Asks a running turn, on its event loop, and gives the answer on `loop`: nothing when none of that id runs, or it has ended
  // meanwhile. From the thread of `loop`.
  void look(std::string_view request, net::Loop& loop,
            std::function<void(std::optional<CaptureJob>)> answer) const;

 private:
  bool is_watched_now() const;
  void stay_until(std::uint64_t ms);

  struct Running {
    net::Loop* loop = nullptr;
    std::weak_ptr<Look> look;
  };

  const std::string epoch_;
  mutable std::atomic<std::uint64_t> watched_until_{0};  // of a steady clock; 0: nobody does
  std::atomic<std::int64_t> viewers_{0};
  std::atomic<std::uint64_t> window_{0};  // which one, and how many rows it had
  std::atomic<std::uint64_t> last_{0};
  mutable std::mutex mutex_;
  std::deque<LiveRow> rows_;                             // the oldest first
  std::map<std::string, Running, std::less<>> running_;  // of several with one id the last
};

}  // namespace callgate::server
