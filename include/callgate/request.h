// The canonical request: what a caller asked for, whatever protocol it spoke. Plain values that own their bytes and may be
// copied and read from any thread. JSON in it is that of Chat Completions, extended (ADR 21); it travels as text, so that
// numbers, key order and unknown fields reach the upstream as the caller wrote them. src/chat/content.h looks into messages,
// src/chat/message_json.h writes and reads them.
//
//   Request request{.model = "demo", .stream = true};
//   request.messages.push_back({.role = Role::user, .content = {R"("What is the weather in Paris?")"}});
//   request.tools.push_back({.name = "get_weather", .parameters = {R"({"type":"object"})"}});
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callgate {

// A complete JSON value as text, already checked to be well-formed. Empty text means "not given".
struct RawJson {
  std::string text;

  bool empty() const { return text.empty(); }
  bool operator==(const RawJson&) const = default;
};

// An object member that callgate passes on without knowing it.
struct ExtraField {
  std::string name;
  RawJson value;

  bool operator==(const ExtraField&) const = default;
};

// A field that only an upstream of the request's own protocol understands.
struct NativeField {
  // What becomes of a request for an upstream of another format.
  enum class Elsewhere : std::uint8_t {
    unsaid,   // it goes without
    named,    // it goes without, and the client learns so
    refused,  // it does not go
  };
  std::string name;
  RawJson value;  // empty: it stands in the body alone
  Elsewhere elsewhere = Elsewhere::named;
};

// Where something stands in Request::body. Size 0: it is not there.
struct BodySpan {
  std::size_t at = 0;
  std::size_t size = 0;

  bool operator==(const BodySpan&) const = default;
};

enum class Role : std::uint8_t { system, developer, user, assistant, tool };

// A call the assistant made earlier in the conversation.
struct CallRecord {
  std::string id;
  std::string name;
  std::string arguments;  // JSON text as the model wrote it
  std::vector<ExtraField> extra;
};

struct Message {
  Role role = Role::user;
  RawJson content;                // a JSON string, an array of parts, null, or not given
  std::string name;               // optional participant name
  std::string tool_call_id;       // role tool: the call that this answers
  std::vector<CallRecord> calls;  // role assistant
  std::vector<ExtraField> extra;
  // What it was made from, alone or with its neighbours. Whoever changes the message clears it.
  BodySpan source = {};
};

struct ToolSpec {
  std::string name;
  std::string description;
  RawJson parameters;                   // a JSON schema object; not given means no parameters
  std::vector<ExtraField> extra;        // of the function object, such as `strict`
  std::vector<ExtraField> outer_extra;  // beside the function object, such as `cache_control`
  BodySpan source = {};                 // as Message::source
};

struct ToolChoice {
  enum class Mode : std::uint8_t { unset, automatic, none, required, named };
  Mode mode = Mode::unset;
  std::string name;  // mode named
};

// A tool that the client knows by another name, or as another kind, than the function that stands for it in `tools`.
struct ToolAlias {
  enum class Kind : std::uint8_t {
    function,
    freeform,  // its input is text: the function has one string parameter, `input`
    search,    // the client looks for more tools itself
  };
  Kind kind = Kind::function;
  std::string function;                // its name in `tools`
  std::string name;                    // as the client declared it
  std::string space;                   // the namespace that it is in; empty: none
  bool has_grammar = false;            // its input has to follow one
  std::optional<std::string> pattern;  // the grammar as a regular expression that can be checked
};

// What a client's protocol wants to know again when it writes the answer, and what its format alone can say. Nothing of it goes
// upstream.
struct ClientSide {
  struct OwnField {
    std::string name;              // such as `truncation` or `input[2]`
    bool changes_meaning = false;  // the answer may be another than the one asked for
  };
  std::vector<ToolAlias> aliases;
  std::vector<OwnField> own_fields;  // an upstream of another format cannot be told: it is reported
  bool compacts = false;             // the answer is a summary that the client keeps sealed
  // What of `body` the members of the request still say as it does: src/chat/body_mark.h.
  std::size_t messages = 0;
  std::uint64_t messages_digest = 0;
  std::size_t tools = 0;
  std::uint64_t tools_digest = 0;
};

struct Request {
  std::string model;
  std::vector<Message> messages;
  std::vector<ToolSpec> tools;
  std::vector<RawJson> other_tools;  // tools other than functions, passed on as they are
  ToolChoice tool_choice;
  std::optional<bool> parallel_tool_calls;
  std::uint32_t choices = 1;  // OpenAI's `n`
  bool stream = false;
  bool include_usage = false;              // stream_options.include_usage
  std::vector<ExtraField> stream_options;  // its other members
  bool legacy_functions =
      false;  // the caller used `functions`; it is answered with `function_call`
  std::vector<ExtraField>
      extra;  // every other top-level field, such as temperature or response_format
  // The protocol that it came in, static text, and its body as the client sent it. An upstream that speaks the same gets from
  // there what callgate does not know, and an answer repeats what its protocol wants repeated. Empty: for Chat Completions, where
  // the members above hold all there is, and for requests that callgate makes.
  std::string_view origin;
  RawJson body;
  std::vector<NativeField> native;  // what other members cannot say of it
  ClientSide client;
  // Which of its protocol's forms the answer has, static text of the protocol's own; empty: the usual one.
  std::string_view form;
};

}  // namespace callgate
