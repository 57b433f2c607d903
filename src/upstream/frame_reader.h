// What the readers of the wire formats share: one JSON document after the other is read into the same plain fields.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/reader.h"
#include "upstream/dropped_members.h"
#include "upstream/openai_chat/openai_answer.h"
#include "upstream/read_text.h"
#include "upstream/repaired_read.h"

namespace callgate::upstream {

// Members of an answer that callgate does not know, for a client that speaks the same format. Views into the document.
using KeptMembers = std::vector<std::pair<std::string, std::string_view>>;

template <class Frame>
class FrameReader {
 public:
  // From now on the frames have what else the answer says; without, that is dropped by name.
  void keep_others() { keeps_others_ = true; }

  virtual ~FrameReader() = default;

  // False: not a JSON object; the frame is then empty. What can be mended is, and is read again.
  // REQUIRES: `document` lives as long as frame() is used.
  bool read(std::string_view document) {
    const auto read_text_of = [this](std::string_view text) {
      document_ = text;
      return read_document();
    };
    if (read_repaired(document, sanitized_, mended_, read_text_of)) return true;
    frame_.clear();
    return false;
  }
  const Frame& frame() const { return frame_; }
  // What was mended in the last document.
  const Mended& mended() const { return mended_; }
  // Of all documents so far.
  const DroppedMembers& dropped() const { return dropped_; }

 protected:
  virtual void read_member(std::string_view key) = 0;

  // Calls use(key) for every member of the object that comes next. Anything else is skipped.
  template <class Use>
  void each_member(Use use) {
    if (!enter_object(in_)) return;
    for (std::string_view key; in_.next_member(key);) use(key);
  }
  void read_text(Text& text) { upstream::read_text(in_, document_, text); }
  // True: the member is one of these, and is read.
  bool read_text_member(std::string_view key,
                        std::initializer_list<std::pair<std::string_view, Text*>> fields) {
    for (const auto& [name, text] : fields) {
      if (name != key) continue;
      read_text(*text);
      return true;
    }
    return false;
  }
  using Counts = std::initializer_list<std::pair<std::string_view, std::optional<std::int64_t>*>>;
  void read_counts(Counts counts) {
    each_member([&](std::string_view key) { read_count_member(key, counts); });
  }
  void read_count_member(std::string_view key, Counts counts) {
    for (const auto& [name, count] : counts) {
      if (name != key) continue;
      *count = read_count(in_);
      return;
    }
    in_.skip();
  }
  bool read_flag() {
    if (in_.peek() == json::Kind::boolean) return in_.boolean();
    in_.skip();
    return false;
  }

  // A member without a place of its own. `silent`: one that is no loss.
  void read_other(KeptMembers& others, std::string_view key, bool silent = false) {
    if (keeps_others_) {
      std::string name(key);
      others.emplace_back(std::move(name), in_.raw());
    } else if (silent) {
      in_.skip();
    } else {
      dropped_.skip(in_, key);
    }
  }
  bool keeps_others() const { return keeps_others_; }
  // The text that is being read, what was mended included.
  std::string_view document() const { return document_; }

  json::Reader in_;
  DroppedMembers dropped_;
  Frame frame_;

 private:
  bool read_document() {
    frame_.clear();
    in_.reset(document_);
    for (std::string_view key; in_.next_member(key);) read_member(key);
    return in_.finish();
  }

  bool keeps_others_ = false;
  std::string_view document_;
  std::string sanitized_;
  Mended mended_;
};

}  // namespace callgate::upstream
