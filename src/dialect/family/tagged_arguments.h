// The family of dialects that write each argument as a raw text between tags, typed by the tool's schema:
//
//   <function=get_weather>
//   <parameter=city>
//   Paris
//   </parameter>
//   </function>
//
// A value streams while it is written. A close marker inside a value ends it only when what follows is something that
// may stand behind a value; else it is data. Those few bytes are held back until that is known. Markers that only
// blanks part may be words of a text: there a parameter has to be one of the tool's, and the line has to end with the call.
// A value whose close marker is missing also ends where the tag of another parameter of the tool begins.
//
// A call may be written as JSON instead, with its name or without:
//
//   <tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>
//   <tool_call>get_weather({"city": "Paris"})</tool_call>
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/dialect.h"
#include "dialect/call_reader.h"
#include "dialect/family/python_literal.h"
#include "dialect/family/schema_types.h"
#include "dialect/family/seen_keys.h"
#include "dialect/family/tag_name.h"
#include "dialect/family/tagged_grammar.h"
#include "dialect/family/tagged_value.h"
#include "dialect/shown_calls.h"
#include "dialect/turn_parser.h"
#include "json/scanner.h"

namespace callgate::dialect {

class TaggedCalls final : public CallReader {
 public:
  // `openers` are those of the Prose; opener i belongs to grammars[i] or, when there is only one grammar, to that.
  // REQUIRES: all spans outlive the reader.
  // With `objects`, the Prose of the openers, a call may be one JSON object.
  TaggedCalls(std::span<const TaggedGrammar> grammars, std::span<const Opener> openers,
              const DialectOptions& options, const Prose* objects = nullptr);

  void open(std::size_t opener, Output& out) override;
  // The tag that names the call has been read and is held. REQUIRES: the first opener is that tag's.
  void open_named(std::string_view name, Output& out);
  Step push(std::string_view bytes, Output& out) override;
  void finish(Output& out) override;
  bool overflow(Output& out) override;

 private:
  enum class At : std::uint8_t {
    lead,          // before the call's tag
    call_name,     // in it
    call_text,     // behind the name: what follows says whether it is a call
    body,          // between parameters
    key,           // in a parameter's tag
    before_value,  // between key and value_open
    value,
    raw_value,      // between raw_open and raw_close
    after_value,    // behind a close marker that may be data
    after_apart,    // the same, behind further markers that only blanks part
    apart_key,      // there, in a parameter's tag
    after_missing,  // in a value, behind a close marker of the call or section that may be data
    after_shown,    // behind the close markers of a call that the value may only show
    json,           // the arguments are one JSON object
    python,         // the arguments stand in parentheses, as Python writes them
    pair_key,       // the arguments are words: k=v
    pair_value,
    after_json,    // behind arguments that are whole
    maybe_key,     // behind the opener of a call where that of a parameter may be meant
    object_calls,  // objects_ reads
  };
  using Kind = TagToken::Kind;
  enum class LineEnd : std::uint8_t { none, lf, cr, crlf };

  TagPlace place() const;

  // Each reads one byte; false: the call is over, see step_ and byte_used_.
  bool read(char c, Output& out);
  bool read_name(char c, Output& out);
  bool read_token(char c, Output& out);
  bool read_space(char c, Output& out);
  bool waits() const;
  bool is_apart() const;
  bool ends_missing() const;
  bool no_token(char c, Output& out);
  bool back_to_value(std::string_view data, std::string_view again, char c, Output& out);
  bool take_token(const TagToken& token, Output& out);
  bool take_in_body(const TagToken& token, Output& out);
  bool take_in_value(const TagToken& token, Output& out);
  bool take_after_value(const TagToken& token, Output& out);
  bool take_after_shown(const TagToken& token, Output& out);
  bool take_behind_shown(const TagToken& token, Output& out);
  bool take_apart(const TagToken& token, Output& out);
  bool read_apart_key(char c, Output& out);
  bool may_begin_parameter() const;
  bool begins_parameter(std::string_view name) const;
  bool read_maybe_key(char c, Output& out);

  // Arguments that are not tagged: tagged_other.cpp.
  bool is_bare_name() const;
  bool read_objects(Output& out);
  bool read_bare(char c, Output& out);
  bool read_pair_key(char c, Output& out);
  bool read_pair_value(char c, Output& out);
  void end_pair();
  std::size_t read_python(std::string_view bytes, Output& out);

  std::size_t read_value(std::string_view bytes, Output& out);
  std::size_t read_json(std::string_view bytes, Output& out);
  void take_value(std::string_view bytes, Output& out);
  std::string_view without_lead(std::string_view bytes);
  static std::string_view text_of(LineEnd end);
  void push_line_end();
  void begin_name(At at, const NameTag& tag);
  bool end_name(Output& out);
  bool bad_name(Output& out);
  void begin_call(Output& out);
  void begin_json(Output& out);
  void begin_key(std::string_view name);
  void write_key();
  void begin_value();
  void begin_typed_value();
  void push_value(std::string_view bytes);
  void end_value(bool closed = true);
  bool unwrap();
  void leave_wrapper();
  bool end_call(CallOutcome outcome, Output& out, std::string_view replay = {});
  bool reject(std::string_view replay);
  std::string_view wanted() const;
  bool is_prefix_of_parameter() const;
  bool is_beginning_of_close() const;
  void finish_lead(Output& out);
  bool is_cut_tag() const;
  bool is_whole_without_close(const Output& out) const;

  std::span<const TaggedGrammar> grammars_;
  std::span<const Opener> openers_;
  ToolSchemas schemas_;
  std::size_t limit_;
  DialectOptions options_;
  const Prose* objects_prose_;
  std::unique_ptr<CallReader> objects_;  // made when the first one comes

  std::size_t opener_ = 0;
  const TaggedGrammar* grammar_ = nullptr;
  TagTokens tokens_;

  At at_ = At::lead;
  Step step_;
  bool byte_used_ = true;   // by the end of the call
  std::size_t handed_ = 0;  // bytes of partial_ that the output has already
  std::string_view last_lead_;
  std::string partial_;  // the beginning of a marker, not handed to the output yet
  std::string
      pending_;  // at after_value and after_missing: what is structure or data, partial_ not included
  TagName name_;
  std::string type_;  // of the value, from its tag
  SchemaPlace schema_;
  SchemaPlace place_;  // of the parameter
  TaggedValue value_;
  ShownCalls shown_;
  SeenKeys seen_;
  json::Scanner scanner_;
  PythonArguments python_;
  std::string word_;     // at pair_key and pair_value
  char quote_ = 0;       // at pair_value: the one that closes the value
  std::string wrapped_;  // a value that may be the arguments themselves
  std::string replay_;   // what was read behind the call, for step_
  std::string json_;     // written, not sent yet
  std::size_t parameters_ = 0;
  char last_ = 0;             // the value's last byte
  char stop_ = '<';           // the first byte of every marker that may stand in a value
  std::size_t tag_from_ = 0;  // at apart_key: where the tag begins in pending_
  bool section_closed_ =
      false;  // pending_ ends with a section's close marker; at after_apart: has one, or a call's
  bool broken_ = false;               // a value was not JSON and had left already
  bool whole_json_ = false;           // the arguments were not written as parameters
  bool wraps_ = false;                // the value is in wrapped_
  bool parenthesis_ = false;          // one is open behind the name
  bool stray_close_ = false;          // behind the name something was closed that had no content
  bool fresh_value_ = false;          // no byte of the value yet
  LineEnd line_end_ = LineEnd::none;  // that the value ends with so far: it may be structure
};

std::unique_ptr<DialectParser> make_tagged_parser(const Prose& prose,
                                                  std::span<const TaggedGrammar> grammars,
                                                  const DialectOptions& options);

}  // namespace callgate::dialect
