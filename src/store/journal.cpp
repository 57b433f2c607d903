#include "store/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

namespace callgate::store {
namespace {

constexpr std::string_view kHead = "callgate journal 1 ";
constexpr std::size_t kIdDigits = 16;
constexpr std::size_t kHeadSize = kHead.size() + kIdDigits + 1;
constexpr std::size_t kFrame = 8;
constexpr std::uint32_t kLargestRecord = 1u << 30;

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? 0xEDB88320u ^ (value >> 1) : value >> 1;
    table[i] = value;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes) {
    crc = kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (crc >> 8);
  }
  return ~crc;
}

void append_u32(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xFF);
}

std::uint32_t read_u32(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Fields of a payload in a fixed order, the same functions for both ways.
class PayloadWriter {
 public:
  explicit PayloadWriter(std::string& out) : out_(out) {}
  void number(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    append_u32(out_, static_cast<std::uint32_t>(bits));
    append_u32(out_, static_cast<std::uint32_t>(bits >> 32));
  }
  void text(const std::string& value) {
    append_u32(out_, static_cast<std::uint32_t>(value.size()));
    out_ += value;
  }
  void optional(const std::optional<std::int64_t>& value) {
    number(value ? 1 : 0);
    number(value.value_or(0));
  }
  std::string& out() { return out_; }

 private:
  std::string& out_;
};

// After the first fault everything is zero and empty.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view bytes) : bytes_(bytes) {}
  void number(std::int64_t& value) { value = next(); }
  template <class Integer>
  Integer as() {
    return static_cast<Integer>(next());
  }
  void text(std::string& value) {
    const char* size = take(4);
    const std::uint32_t length = size ? read_u32(size) : 0;
    const char* bytes = take(length);
    value = bytes ? std::string(bytes, length) : std::string();
  }
  void optional(std::optional<std::int64_t>& value) {
    const bool there = next() != 0;
    const std::int64_t number = next();
    if (there) value = number;
  }
  bool done() const { return !failed_ && bytes_.empty(); }
  bool failed() const { return failed_; }

 private:
  std::int64_t next() {
    const char* bytes = take(8);
    if (!bytes) return 0;
    return static_cast<std::int64_t>(std::uint64_t{read_u32(bytes)} |
                                     std::uint64_t{read_u32(bytes + 4)} << 32);
  }
  const char* take(std::size_t size) {
    failed_ = failed_ || size > bytes_.size();
    if (failed_) return nullptr;
    const char* bytes = bytes_.data();
    bytes_.remove_prefix(size);
    return bytes;
  }
  std::string_view bytes_;
  bool failed_ = false;
};

// `Record` and `Outcome` are const for the writer.
template <class Fields, class Record>
void visit_texts(Fields& fields, Record& record) {
  for (auto* text :
       {&record.id, &record.key_name, &record.protocol, &record.model, &record.upstream,
        &record.dialect, &record.client_address, &record.session, &record.trace_id}) {
    fields.text(*text);
  }
}

template <class Fields, class Outcome>
void visit_outcome(Fields& fields, Outcome& outcome) {
  for (auto* text : {&outcome.id, &outcome.error_code, &outcome.error_message, &outcome.upstream,
                     &outcome.dialect, &outcome.session, &outcome.cut}) {
    fields.text(*text);
  }
  for (auto* number : {&outcome.calls, &outcome.bytes_in, &outcome.bytes_out, &outcome.frames,
                       &outcome.repairs, &outcome.attempts, &outcome.total_ms}) {
    fields.number(*number);
  }
  fields.optional(outcome.first_byte_ms);
  fields.optional(outcome.first_token_ms);
}

constexpr std::array kCounts = {&Usage::prompt_tokens,      &Usage::completion_tokens,
                                &Usage::total_tokens,       &Usage::cached_tokens,
                                &Usage::cache_write_tokens, &Usage::reasoning_tokens};

// The number of what is not a call's result but the outcome's own texts that older versions did not know.
constexpr std::int64_t kNotes = -1;
// ...and of whose request it was.
constexpr std::int64_t kWhose = -2;
// ...and of what it cost.
constexpr std::int64_t kCost = -3;

void write_notes(PayloadWriter& out, const RequestOutcome& outcome) {
  if (!outcome.key_name.empty()) {
    out.number(kWhose);
    out.text(outcome.key_name);
  }
  if (outcome.cost) {
    out.number(kCost);
    out.number(*outcome.cost);
  }
  if (outcome.repair_names.empty() && outcome.missed_call.empty()) return;
  out.number(kNotes);
  out.text(outcome.repair_names);
  out.text(outcome.missed_call);
}

// The results of calls, by the call's number. They come last: journals of older versions end before them.
void write_results(PayloadWriter& out, const RequestOutcome& outcome, bool with_bodies) {
  for (std::size_t i = 0; i < outcome.call_rows.size(); ++i) {
    const std::optional<CallResult>& result = outcome.call_rows[i].result;
    if (!result) continue;
    out.number(static_cast<std::int64_t>(i));
    out.number(result->round);
    out.number(result->is_error ? 1 : 0);
    out.number(result->duration_ms);
    out.number(result->bytes);
    out.text(with_bodies ? result->text : std::string());
  }
}

void read_results(PayloadReader& in, RequestOutcome& outcome) {
  while (!in.done() && !in.failed()) {
    const auto number = in.as<std::uint64_t>();
    if (number == static_cast<std::uint64_t>(kNotes)) {
      in.text(outcome.repair_names);
      in.text(outcome.missed_call);
      continue;
    }
    if (number == static_cast<std::uint64_t>(kWhose)) {
      in.text(outcome.key_name);
      continue;
    }
    if (number == static_cast<std::uint64_t>(kCost)) {
      in.number(outcome.cost.emplace());
      continue;
    }
    CallResult result;
    in.number(result.round);
    result.is_error = in.as<std::int64_t>() != 0;
    in.number(result.duration_ms);
    in.number(result.bytes);
    in.text(result.text);
    if (number < outcome.call_rows.size()) outcome.call_rows[number].result = std::move(result);
  }
}

void write_outcome(PayloadWriter& out, const RequestOutcome& outcome, bool with_bodies) {
  visit_outcome(out, outcome);
  out.number(static_cast<std::int64_t>(outcome.state));
  out.number(outcome.http_status);
  out.number(outcome.finish_reason ? static_cast<std::int64_t>(*outcome.finish_reason) : -1);
  out.number(outcome.usage ? 1 : 0);
  const Usage usage = outcome.usage.value_or(Usage{});
  for (const auto count : kCounts) out.number(usage.*count);
  out.number(static_cast<std::int64_t>(outcome.call_rows.size()));
  for (const CallRow& call : outcome.call_rows) {
    out.text(call.id);
    out.text(call.name);
    out.number(static_cast<std::int64_t>(call.outcome));
  }
  for (const std::string* body :
       {&outcome.sent, &outcome.response, &outcome.events, &outcome.search}) {
    out.text(with_bodies ? *body : std::string());
  }
  write_notes(out, outcome);
  write_results(out, outcome, with_bodies);
}

RequestOutcome read_outcome(PayloadReader& in) {
  RequestOutcome outcome;
  visit_outcome(in, outcome);
  outcome.state = in.as<RequestState>();
  outcome.http_status = in.as<int>();
  if (const auto reason = in.as<std::int64_t>(); reason >= 0) {
    outcome.finish_reason = static_cast<FinishReason>(reason);
  }
  const bool has_usage = in.as<std::int64_t>() != 0;
  Usage usage;
  for (const auto count : kCounts) in.number(usage.*count);
  if (has_usage) outcome.usage = usage;
  for (auto left = in.as<std::int64_t>(); left > 0 && !in.failed(); --left) {
    CallRow& call = outcome.call_rows.emplace_back();
    in.text(call.id);
    in.text(call.name);
    call.outcome = in.as<CallOutcome>();
  }
  for (std::string* body : {&outcome.sent, &outcome.response, &outcome.events, &outcome.search}) {
    in.text(*body);
  }
  read_results(in, outcome);
  return outcome;
}

tl::unexpected<Fault> failed(const std::string& what) {
  const FaultKind kind =
      errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? FaultKind::full : FaultKind::other;
  return fault(kind, "journal: cannot " + what + ": " + std::strerror(errno));
}

// False when not all of them could be written.
bool write_at(int file, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

// Shorter at the end of the file.
std::string read_at(int file, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, 0);
  std::size_t read = 0;
  while (read < size) {
    const ssize_t count =
        pread(file, bytes.data() + read, size - read, static_cast<off_t>(offset + read));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    read += static_cast<std::size_t>(count);
  }
  bytes.resize(read);
  return bytes;
}

}  // namespace

std::string encode_write(const Write& write, bool with_bodies) {
  std::string payload;
  PayloadWriter out(payload);
  out.number((write.record ? 1 : 0) + (write.outcome ? 2 : 0));
  out.number(write.key.run);
  out.number(write.key.number);
  out.number(write.key.received_at);
  if (write.record) {
    visit_texts(out, *write.record);
    out.number(write.record->received_at);
    out.number(write.record->stream ? 1 : 0);
    out.text(with_bodies ? write.record->received : std::string());
  }
  if (write.outcome) write_outcome(out, *write.outcome, with_bodies);
  return payload;
}

std::optional<SpooledWrite> decode_write(std::string_view payload) {
  PayloadReader in(payload);
  SpooledWrite write;
  const auto kind = in.as<std::int64_t>();
  in.number(write.key.run);
  in.number(write.key.number);
  in.number(write.key.received_at);
  if (kind & 1) {
    RequestRecord& record = write.record.emplace();
    visit_texts(in, record);
    in.number(record.received_at);
    record.stream = in.as<std::int64_t>() != 0;
    in.text(record.received);
  }
  if (kind & 2) write.outcome = read_outcome(in);
  if (!in.done() || kind < 1 || kind > 3) return std::nullopt;
  return write;
}

Attempt<Journal> Journal::open(const std::string& path, std::uint64_t limit) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return failed("open " + path);
  ::fchmod(file, 0600);
  Journal journal(file, limit);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    return fault(FaultKind::busy, "journal: another process uses " + path);
  }
  struct stat status {};
  if (fstat(file, &status) != 0) return failed("read " + path);
  journal.end_ = static_cast<std::uint64_t>(status.st_size);
  const std::string head = read_at(file, 0, kHeadSize);
  if (head.size() < kHeadSize) {
    const Attempt<void> begun = journal.begin_anew();
    if (!begun) return tl::unexpected(begun.error());
    return journal;
  }
  if (!head.starts_with(kHead)) {
    return fault(FaultKind::not_ours, "journal: " + path + " is not a journal: move it away");
  }
  journal.id_ = head.substr(kHead.size(), kIdDigits);
  if (const Attempt<void> whole = journal.cut_damage(); !whole) {
    return tl::unexpected(whole.error());
  }
  return journal;
}

Attempt<void> Journal::cut_damage() {
  std::uint64_t whole = begin();
  while (whole < end_) {
    const std::optional<std::string> payload = payload_at(whole);
    if (!payload || !decode_write(*payload)) break;
    whole += kFrame + payload->size();
  }
  if (whole >= end_) return {};
  if (ftruncate(file_, static_cast<off_t>(whole)) != 0) return failed("cut it");
  cut_ = end_ - whole;
  end_ = whole;
  return {};
}

Journal::Journal(Journal&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      limit_(other.limit_),
      end_(other.end_),
      cut_(other.cut_),
      id_(std::move(other.id_)) {}

Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(file_, other.file_);
  limit_ = other.limit_;
  end_ = other.end_;
  cut_ = other.cut_;
  id_ = std::move(other.id_);
  return *this;
}

Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

std::uint64_t Journal::begin() const { return kHeadSize; }

Attempt<void> Journal::begin_anew() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  id_.clear();
  for (std::size_t i = 0; i < kIdDigits; ++i) id_ += kDigits[random() % kDigits.size()];
  if (ftruncate(file_, 0) != 0) return failed("empty it");
  if (!write_at(file_, std::string(kHead) + id_ + "\n", 0)) return failed("write");
  end_ = kHeadSize;
  return {};
}

Attempt<void> Journal::restore(const std::string& path) {
  struct stat ours {};
  struct stat there {};
  if (fstat(file_, &ours) != 0) return failed("read " + path);
  if (static_cast<std::uint64_t>(ours.st_size) < end_) {
    const Attempt<void> begun = begin_anew();
    if (!begun) return begun;
    return fault(FaultKind::truncated, "journal: " + path + " was truncated: what it held is lost");
  }
  const bool is_there = stat(path.c_str(), &there) == 0;
  if (is_there && there.st_ino == ours.st_ino && there.st_dev == ours.st_dev) return {};
  Attempt<Journal> fresh = open(path, limit_);
  if (!fresh) return tl::unexpected(fresh.error());
  if (!fresh->empty()) {
    return fault(FaultKind::gone,
                 "journal: " + path + " was replaced by another that is not empty");
  }
  constexpr std::size_t kBlock = 1u << 20;
  for (std::uint64_t at = 0; at < end_; at += kBlock) {
    if (!write_at(fresh->file_, read_at(file_, at, std::min<std::uint64_t>(kBlock, end_ - at)),
                  at)) {
      return failed("write");
    }
  }
  std::swap(file_, fresh->file_);
  return {};
}

Attempt<void> Journal::clear() { return begin_anew(); }

Attempt<std::size_t> Journal::append(std::span<const Write> writes) {
  std::string bytes;
  std::size_t count = 0;
  for (const Write& write : writes) {
    const bool with_bodies = end_ + bytes.size() < limit_ / 4 * 3;
    std::string payload = encode_write(write, with_bodies);
    if (with_bodies && end_ + bytes.size() + payload.size() + kFrame > limit_) {
      payload = encode_write(write, false);
    }
    if (end_ + bytes.size() + payload.size() + kFrame > limit_) break;
    append_u32(bytes, static_cast<std::uint32_t>(payload.size()));
    append_u32(bytes, crc32(payload));
    bytes += payload;
    ++count;
  }
  if (!write_at(file_, bytes, end_)) {
    const tl::unexpected<Fault> why = failed("write");
    // Half a record must not stand before later ones.
    if (ftruncate(file_, static_cast<off_t>(end_)) != 0) return failed("cut it");
    return why;
  }
  end_ += bytes.size();
  return count;
}

std::optional<std::string> Journal::payload_at(std::uint64_t offset) const {
  const std::string frame = read_at(file_, offset, kFrame);
  if (frame.size() < kFrame) return std::nullopt;
  const std::uint32_t size = read_u32(frame.data());
  if (size >= kLargestRecord || offset + kFrame + size > end_) return std::nullopt;
  std::string payload = read_at(file_, offset + kFrame, size);
  if (payload.size() != size || crc32(payload) != read_u32(frame.data() + 4)) return std::nullopt;
  return payload;
}

Attempt<Journal::Page> Journal::read(std::uint64_t offset, std::size_t most) const {
  Page page{.next = offset};
  while (page.writes.size() < most && page.next < end_) {
    const std::optional<std::string> payload = payload_at(page.next);
    std::optional<SpooledWrite> write = payload ? decode_write(*payload) : std::nullopt;
    page.damaged = !write;
    if (page.damaged) break;
    page.writes.push_back(std::move(*write));
    page.next += kFrame + payload->size();
  }
  return page;
}

}  // namespace callgate::store
