#include "script/fault.h"

#include <algorithm>
#include <array>

namespace callgate::script {
namespace {

constexpr std::array<std::string_view, kFaultCount> kNames{
    "no_role",
    "null_role",
    "repeat_role",
    "no_index",
    "null_index",
    "string_index",
    "index_from_one",
    "reuse_index",
    "reverse_index",
    "no_id",
    "empty_id",
    "repeat_id",
    "change_id",
    "late_id",
    "same_id",
    "repeat_name",
    "split_name",
    "no_name",
    "no_type",
    "empty_type",
    "object_arguments",
    "bad_arguments",
    "empty_arguments",
    "trailing_arguments",
    "late_arguments",
    "whole_calls",
    "calls_in_one_frame",
    "interleave",
    "empty_calls",
    "legacy_function_call",
    "finish_with_call",
    "finish_twice",
    "empty_finish",
    "finish_null",
    "no_finish_key",
    "no_done",
    "text_after_done",
    "no_usage",
    "usage_unasked",
    "usage_no_choices",
    "usage_null_choices",
    "usage_after_done",
    "usage_strings",
    "usage_anthropic_names",
    "usage_every_frame",
    "usage_null",
    "usage_on_finish",
    "no_frame_id",
    "change_frame_id",
    "minimal_frame",
    "no_choice_index",
    "choice_index_one",
    "no_delta",
    "null_delta",
    "message_for_delta",
    "empty_choices_first",
    "content_array",
    "null_content",
    "reasoning_field",
    "both_reasoning_fields",
    "error_mid",
    "error_mid_done",
    "error_event",
    "error_string",
    "error_in_choice",
    "bad_json_frame",
    "empty_frame",
    "non_object_frame",
    "crlf",
    "cr",
    "no_space",
    "multi_line",
    "bom",
    "comments",
    "no_last_blank",
    "gzip",
    "deflate",
    "bare_deflate",
    "br",
    "zstd",
};

}  // namespace

std::span<const std::string_view, kFaultCount> fault_names() { return kNames; }

std::optional<Fault> find_fault(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Fault>(found - kNames.begin());
}

}  // namespace callgate::script
