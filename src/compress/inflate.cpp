#include <zlib.h>

#include <algorithm>
#include <string>

#include "base/check.h"
#include "compress/coding.h"

namespace callgate::compress {
namespace {

constexpr int kGzipBits = MAX_WBITS + 16;

class Inflater {
 public:
  explicit Inflater(int window_bits) {
    CALLGATE_CHECK(inflateInit2(&stream_, window_bits) == Z_OK);
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::optional<std::size_t> step(std::string_view& in, std::span<char> out) {
    // zlib takes its input without const and leaves it alone.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int status = inflate(&stream_, Z_SYNC_FLUSH);
    in.remove_prefix(in.size() - stream_.avail_in);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) return std::nullopt;
    ended_ = status == Z_STREAM_END;
    return out.size() - stream_.avail_out;
  }
  bool ended() const { return ended_; }
  void reset() {
    CALLGATE_CHECK(inflateReset(&stream_) == Z_OK);
    ended_ = false;
  }

 private:
  z_stream stream_{};
  bool ended_ = false;
};

// Members one after the other. Their checksums were right, so that whatever else follows them is padding.
class Gunzip final : public Coding {
 public:
  std::optional<std::size_t> step(std::string_view& in, std::span<char> out) override {
    while (true) {
      if (state_ != State::inside && !begin_member(in)) return 0;
      const auto size = inflater_.step(in, out);
      if (!size) return std::nullopt;
      if (inflater_.ended()) state_ = State::between;
      if (*size > 0 || (in.empty() && state_ == State::inside)) return size;
    }
  }
  bool is_whole() const override { return state_ != State::inside; }

 private:
  enum class State : std::uint8_t { before, inside, between, over };

  bool begin_member(std::string_view& in) {
    if (state_ == State::between) {
      in.remove_prefix(std::min(in.find_first_not_of('\0'), in.size()));
      if (!in.empty() && in.front() != '\x1f') state_ = State::over;
    }
    if (state_ == State::over) in = {};
    if (in.empty()) return false;
    if (state_ == State::between) inflater_.reset();
    state_ = State::inside;
    return true;
  }

  Inflater inflater_{kGzipBits};
  State state_ = State::before;
};

// The first two bytes say which of the two it is:
//   78 9c   zlib: the low half of the first byte is 8, and both are a multiple of 31
//   4b cc   bare deflate
class Inflate final : public Coding {
 public:
  std::optional<std::size_t> step(std::string_view& in, std::span<char> out) override {
    while (head_.size() < 2 && !in.empty()) {
      head_.push_back(in.front());
      in.remove_prefix(1);
    }
    if (head_.size() < 2) return 0;
    if (!inflater_) {
      inflater_.emplace(is_zlib() ? MAX_WBITS : -MAX_WBITS);
      head_left_ = head_;
    }
    while (!inflater_->ended()) {
      std::string_view& from = head_left_.empty() ? in : head_left_;
      const auto size = inflater_->step(from, out);
      if (!size || *size > 0) return size;
      if (in.empty() && head_left_.empty()) break;
    }
    if (inflater_->ended()) in = {};
    return 0;
  }
  bool is_whole() const override { return inflater_ ? inflater_->ended() : head_.empty(); }

 private:
  bool is_zlib() const {
    const auto first = static_cast<unsigned char>(head_[0]);
    const auto second = static_cast<unsigned char>(head_[1]);
    return (first & 0x0f) == 8 && (first >> 4) <= 7 && (first * 256 + second) % 31 == 0;
  }

  std::string head_;
  std::string_view head_left_;
  std::optional<Inflater> inflater_;
};

}  // namespace

std::unique_ptr<Coding> make_gunzip() { return std::make_unique<Gunzip>(); }
std::unique_ptr<Coding> make_inflate() { return std::make_unique<Inflate>(); }

}  // namespace callgate::compress
