#include "compress/content_decoder.h"

#include <algorithm>

#include "base/text.h"

namespace callgate::compress {
namespace {

constexpr std::size_t kLongestName = 40;

// Some servers write the charset, or that there is no coding, where the coding belongs.
bool is_no_coding(std::string_view name) {
  return name.empty() || name == "identity" || name == "none" || name == "utf-8" || name == "utf8";
}

std::unique_ptr<Coding> make_coding(std::string_view name) {
  if (name == "gzip" || name == "x-gzip") return make_gunzip();
  if (name == "deflate") return make_inflate();
  if (name == "br") return make_unbrotli();
  if (name == "zstd") return make_unzstd();
  return nullptr;
}

tl::unexpected<Error> unreadable(std::string message, std::string_view code = {}) {
  return tl::unexpected(Error{.code = ErrorCode::upstream_failed,
                              .message = std::move(message),
                              .upstream_code = std::string(code)});
}

}  // namespace

Result<ContentDecoder> ContentDecoder::make(std::string_view codings, std::string_view message) {
  ContentDecoder decoder;
  decoder.message_ = message;
  while (!codings.empty()) {
    const std::size_t comma = std::min(codings.find(','), codings.size());
    const std::string_view name = trimmed_value(codings.substr(0, comma));
    Stage stage{.name = to_lower(name.substr(0, kLongestName))};
    codings.remove_prefix(std::min(comma + 1, codings.size()));
    if (is_no_coding(stage.name)) continue;
    stage.coding = make_coding(stage.name);
    if (stage.coding == nullptr) {
      return unreadable(decoder.message_ + " has content-encoding \"" + stage.name +
                            "\", expected gzip, deflate, br, zstd or identity",
                        kUnsupportedCoding);
    }
    decoder.stages_.insert(decoder.stages_.begin(), std::move(stage));
  }
  if (decoder.stages_.size() > kMaxCodings) {
    return unreadable(decoder.message_ + " was encoded more than " + std::to_string(kMaxCodings) +
                          " times (content-encoding)",
                      kUnsupportedCoding);
  }
  if (!decoder.stages_.empty()) decoder.piece_.resize(kPieceSize);
  return decoder;
}

void ContentDecoder::push(std::string_view encoded) {
  Stage& first = stages_.front();
  received_ += encoded.size();
  first.held.assign(encoded);
  first.input = first.held;
}

Result<std::string_view> ContentDecoder::next() {
  const Result<std::size_t> size = fill(stages_.size() - 1, {piece_.data(), piece_.size()});
  if (!size) return tl::unexpected(size.error());
  return std::string_view(piece_.data(), *size);
}

Result<std::size_t> ContentDecoder::fill(std::size_t at, std::span<char> out) {
  Stage& stage = stages_[at];
  while (true) {
    const std::optional<std::size_t> size = stage.coding->step(stage.input, out);
    if (!size) {
      return unreadable(message_ + "'s content (content-encoding: " + stage.name + ") is damaged");
    }
    stage.written += *size;
    // Of every stage: content that grows in one and vanishes in the next costs time as well.
    if (stage.written > kFreeOutput && stage.written / kMaxRatio > received_) {
      return unreadable(message_ + "'s content grows to more than " + std::to_string(kMaxRatio) +
                            " times its size (content-encoding: " + stage.name + ")",
                        kTooDense);
    }
    if (*size > 0 || at == 0) return *size;
    stage.held.resize(kPieceSize);
    const Result<std::size_t> more = fill(at - 1, {stage.held.data(), stage.held.size()});
    if (!more || *more == 0) return more;
    stage.input = std::string_view(stage.held.data(), *more);
  }
}

Result<void> ContentDecoder::finish() const {
  for (const Stage& stage : stages_) {
    if (!stage.coding->is_whole()) {
      return unreadable(message_ + "'s content (content-encoding: " + stage.name +
                        ") is cut short");
    }
  }
  return {};
}

}  // namespace callgate::compress
