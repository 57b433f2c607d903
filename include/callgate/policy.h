// What callgate lets pass of a turn, per model. Each policy is a stage of its own in src/policy; their order is in
// src/engine/pipeline.cpp, and docs/streaming.md explains to a client developer what to expect. Plain values.
//
//   PolicyOptions policy;
//   set_policy(policy, "stop_after_tools", "first");
//   policy.dedupe_calls = true;
//   auto pipeline = Pipeline::make(request, {.policy = policy});
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace callgate {

// Whether a turn is cut once the model has made its calls.
enum class StopAfterTools : std::uint8_t {
  off,
  first,  // at the first finished call
  burst,  // when no further call is finished within a grace period, which the owner of the pipeline measures
};

// Calls of tools that the request does not declare.
enum class UndeclaredTools : std::uint8_t {
  pass,
  text,            // the call leaves as text: {"name":"x","arguments":{...}}
  drop_with_note,  // the call is withheld, a sentence in the text says so
};

// Arguments that are not a whole JSON value.
enum class InvalidArguments : std::uint8_t {
  pass,
  repair,  // what a truncation left open is closed where that is certain
  raw,     // {"raw":"..."}; holds the arguments of every call back until it is finished
};

// Where the client finds the model's reasoning.
enum class ReasoningForm : std::uint8_t {
  reasoning_content,  // a field of that name, where the protocol leaves a choice
  reasoning,
  think_tags,  // in the text, as <think>...</think>
  hide,
};

// The ids of calls that the client gets.
enum class CallIdStyle : std::uint8_t {
  native,  // the upstream's or the model's own where it has one
  random,  // call_ and random characters
};

// How the client gets calls.
enum class CallOutput : std::uint8_t {
  tool_calls,
  json,      // as tool_calls, and no text after the last call
  xml,       // as tool_calls, and each call also as a <use_tool> block of text
  xml_only,  // the block of text alone
};

// An upstream that fails after the model finished a call.
enum class ErrorAfterTools : std::uint8_t {
  report,      // the client gets the error
  tool_calls,  // the turn ends with the calls that are complete, if no other was begun
};

// In what pieces streamed text leaves.
enum class TextSplit : std::uint8_t {
  none,       // as it comes
  sentences,  // whole sentences, one delta each, for voices
};

struct PolicyOptions {
  StopAfterTools stop_after_tools = StopAfterTools::off;
  bool suppress_tail_after_tools = false;  // text after the last call is withheld
  std::uint32_t tool_call_max = 16;        // calls of a turn that pass; 0 means no limit
  bool call_whitespace = true;             // white space directly before a call is dropped
  bool dedupe_calls = false;               // calls with the same name and arguments pass once
  UndeclaredTools undeclared_tools = UndeclaredTools::pass;
  InvalidArguments invalid_arguments = InvalidArguments::pass;
  ReasoningForm reasoning = ReasoningForm::reasoning_content;
  std::uint32_t reasoning_coalesce_bytes =
      0;  // reasoning leaves in pieces of at least this; 0 means as it comes
  CallIdStyle call_id_style = CallIdStyle::native;
  CallOutput output = CallOutput::tool_calls;
  ErrorAfterTools error_after_tools = ErrorAfterTools::report;
  bool estimate_usage = true;      // where the upstream has no token counts; marked as an estimate
  bool trailing_counters = false;  // a comment line at the end of a stream
  TextSplit split = TextSplit::none;
  std::uint32_t split_min_characters = 10;  // shorter sentences join the next
  std::string call_delimiter = {};          // xml: between blocks that follow each other

  bool operator==(const PolicyOptions&) const = default;
};

std::string_view to_string(StopAfterTools mode);

// Sets the option of that name from text: a word from the enums above, true or false, or a number. `stop_after_tools`
// also takes true for burst and false for off. Returns false and changes nothing if the name or the value is unknown.
bool set_policy(PolicyOptions& options, std::string_view name, std::string_view value);

}  // namespace callgate
