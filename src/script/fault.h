// Faults: the defects of real upstreams, each one a knob. docs/script.md lists them with their effect; a test holds
// that table and this one together.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace callgate::script {

enum class Fault : std::uint8_t {
  // role
  no_role,
  null_role,
  repeat_role,
  // the index of a call
  no_index,
  null_index,
  string_index,
  index_from_one,
  reuse_index,
  reverse_index,
  // the id of a call
  no_id,
  empty_id,
  repeat_id,
  change_id,
  late_id,
  same_id,
  // name and type of a call
  repeat_name,
  split_name,
  no_name,
  no_type,
  empty_type,
  // arguments
  object_arguments,
  bad_arguments,
  empty_arguments,
  trailing_arguments,
  late_arguments,
  // the shape of calls
  whole_calls,
  calls_in_one_frame,
  interleave,
  empty_calls,
  legacy_function_call,
  // finish
  finish_with_call,
  finish_twice,
  empty_finish,
  finish_null,
  no_finish_key,
  // the end of the stream
  no_done,
  text_after_done,
  // usage
  no_usage,
  usage_unasked,
  usage_no_choices,
  usage_null_choices,
  usage_after_done,
  usage_strings,
  usage_anthropic_names,
  usage_every_frame,
  usage_null,
  usage_on_finish,
  // the envelope of a frame
  no_frame_id,
  change_frame_id,
  minimal_frame,
  no_choice_index,
  choice_index_one,
  no_delta,
  null_delta,
  message_for_delta,
  empty_choices_first,
  // content
  content_array,
  null_content,
  reasoning_field,
  both_reasoning_fields,
  // failures inside the stream
  error_mid,
  error_mid_done,
  error_event,
  error_string,
  error_in_choice,
  bad_json_frame,
  empty_frame,
  non_object_frame,
  // framing
  crlf,
  cr,
  no_space,
  multi_line,
  bom,
  comments,
  no_last_blank,
  // content codings that nobody asked for
  gzip,
  deflate,
  bare_deflate,
  br,
  zstd,
};
inline constexpr std::size_t kFaultCount = static_cast<std::size_t>(Fault::zstd) + 1;
// Those that encode the whole answer: whoever sends it does that.
inline constexpr Fault kCodings[] = {Fault::gzip, Fault::deflate, Fault::bare_deflate, Fault::br,
                                     Fault::zstd};

// In the order of the enum.
std::span<const std::string_view, kFaultCount> fault_names();
std::optional<Fault> find_fault(std::string_view name);

// The faults in force.
class Faults {
 public:
  bool has(Fault fault) const { return on_[static_cast<std::size_t>(fault)]; }
  Faults& add(Fault fault) {
    on_.set(static_cast<std::size_t>(fault));
    return *this;
  }
  Faults& remove(Fault fault) {
    on_.reset(static_cast<std::size_t>(fault));
    return *this;
  }
  // `word` is written as the finish reason as it is; `none` leaves the finish frame out, `empty` writes "".
  void set_finish(std::string_view word) { finish_ = word; }
  const std::string& finish() const { return finish_; }

  // Both together; the other's finish word wins.
  void add(const Faults& other) {
    on_ |= other.on_;
    if (!other.finish_.empty()) finish_ = other.finish_;
  }
  bool none() const { return on_.none() && finish_.empty(); }
  const std::bitset<kFaultCount>& bits() const { return on_; }
  bool operator==(const Faults&) const = default;

 private:
  std::bitset<kFaultCount> on_;
  std::string finish_;
};

}  // namespace callgate::script
