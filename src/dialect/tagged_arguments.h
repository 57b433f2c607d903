// The family of dialects that write each argument as a raw text between tags, typed by the tool's schema:
//
//   <function=get_weather>
//   <parameter=city>
//   Paris
//   </parameter>
//   </function>
//
// A value streams while it is written. A close marker inside a value ends it only when what follows is something that
// may stand behind a value; else it is data. Those few bytes are held back until that is known.
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
#include "dialect/schema_types.h"
#include "dialect/tag_attributes.h"
#include "dialect/tagged_value.h"
#include "dialect/turn_parser.h"
#include "json/scanner.h"

namespace callgate::dialect {

// A tag that carries a name.
struct NameTag {
  enum class Style : std::uint8_t {
    equals,     // <function=NAME>
    attribute,  // <invoke name="NAME">
    text,       // <tool_call>NAME or <arg_key>NAME</arg_key>
  };
  std::string_view open;
  Style style = Style::equals;
  std::string_view end = ">";     // style text: empty means up to the next marker or line
  std::string_view key = "name";  // style attribute
};

// Data only. Spans must have static storage. No marker is a prefix of another one that may stand at the same place.
struct TaggedGrammar {
  std::span<const std::string_view>
      lead;  // what may stand before the call's tag: section openers and the like
  NameTag call;
  std::string_view call_close;
  NameTag parameter;
  std::string_view value_open;  // behind a parameter's tag; empty: none
  std::string_view value_close;
  std::string_view value_newline;  // structure at both ends of a value
  std::string_view
      type_attribute;  // says the kind of a value: true or false for "is a string", or a type's name
  std::string_view raw_open;  // at the start of a value: all is data up to raw_close
  std::string_view raw_close;
  std::span<const std::string_view> filler;  // structure between parameters
  std::span<const std::string_view>
      section_close;                       // ends a call whose own close marker is missing, too
  std::span<const std::string_view> tail;  // the same, at the end of a turn
};

class TaggedCalls final : public CallReader {
 public:
  // `openers` are those of the Prose; opener i belongs to grammars[i] or, when there is only one grammar, to that.
  // REQUIRES: all spans outlive the reader.
  TaggedCalls(std::span<const TaggedGrammar> grammars, std::span<const Opener> openers,
              const DialectOptions& options);

  void open(std::size_t opener, Output& out) override;
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
    after_missing,  // in a value, behind a close marker of the call or section that may be data
    json,           // the arguments are one JSON object
    after_json,
  };
  enum class Kind : std::uint8_t {
    lead,
    call_open,
    call_close,
    parameter_open,
    value_open,
    value_close,
    raw_open,
    raw_close,
    filler,
    section_close,
    outside,  // stands behind the call: left to the turn
  };
  struct Token {
    std::string_view text;
    Kind kind;
  };
  enum class Match : std::uint8_t { none, partial, whole };

  void use_grammar(const TaggedGrammar& grammar);
  void add(std::vector<Token>& tokens, std::span<const std::string_view> texts, Kind kind);
  const std::vector<Token>& tokens() const;
  Match match(const Token*& found) const;
  std::string_view static_partial() const;  // partial_ in static storage

  // Each reads one byte; false: the call is over, see step_ and byte_used_.
  bool read(char c, Output& out);
  bool read_name(char c, Output& out);
  bool read_attributes(char c, Output& out);
  bool read_text_name(char c, Output& out);
  bool read_token(char c, Output& out);
  bool read_space(char c, Output& out);
  bool is_apart() const;
  bool ends_missing() const;
  bool no_token(char c, Output& out);
  bool back_to_value(std::string_view data, std::string_view again, char c, Output& out);
  bool take_token(const Token& token, Output& out);
  bool take_in_body(const Token& token, Output& out);
  bool take_in_value(const Token& token, Output& out);
  bool take_after_value(const Token& token, Output& out);

  std::size_t read_value(std::string_view bytes, Output& out);
  std::size_t read_json(std::string_view bytes, Output& out);
  void take_value(std::string_view bytes, Output& out);
  void begin_name(At at, const NameTag& tag);
  bool end_name(std::string_view name, bool self_closing, Output& out);
  bool bad_name(Output& out, std::string_view replay = {});
  void begin_call(std::string_view name, Output& out);
  void begin_json(Output& out);
  void begin_value();
  void end_value();
  bool end_call(CallOutcome outcome, Output& out, std::string_view replay = {});
  bool reject(std::string_view replay);
  bool is_prefix_of_parameter() const;
  void finish_lead(Output& out);

  std::span<const TaggedGrammar> grammars_;
  std::span<const Opener> openers_;
  ToolSchemas schemas_;
  std::size_t limit_;

  const TaggedGrammar* grammar_ = nullptr;
  std::vector<Token> lead_tokens_;
  std::vector<Token> body_tokens_;
  std::vector<Token> before_value_tokens_;
  std::vector<Token> value_tokens_;
  std::vector<Token> raw_tokens_;
  std::vector<Token> missing_tokens_;  // behind a close marker that came before the value's

  At at_ = At::lead;
  Step step_;
  bool byte_used_ = true;   // by the end of the call
  std::size_t handed_ = 0;  // bytes of partial_ that the output has already
  std::string_view last_lead_;
  std::string partial_;  // the beginning of a marker, not handed to the output yet
  std::string
      pending_;  // at after_value and after_missing: what is structure or data, partial_ not included
  std::string name_;
  std::string type_;  // of the value, from its tag
  const NameTag* tag_ = nullptr;
  std::size_t matched_ = 0;  // of the end of a name that is text
  AttributeScan attributes_;
  SchemaPlace schema_;
  SchemaPlace place_;  // of the parameter
  TaggedValue value_;
  json::Scanner scanner_;
  std::string json_;  // written, not sent yet
  std::size_t parameters_ = 0;
  char stop_ = '<';              // the first byte of every marker that may stand in a value
  bool section_closed_ = false;  // pending_ ends with a section's close marker
  bool broken_ = false;          // a value was no JSON and had left already
  bool whole_json_ = false;      // the arguments were written as one JSON object
  bool fresh_value_ = false;     // no byte of the value yet
  bool newline_ = false;         // the value's last byte is a newline that may be structure
};

std::unique_ptr<DialectParser> make_tagged_parser(const Prose& prose,
                                                  std::span<const TaggedGrammar> grammars,
                                                  const DialectOptions& options);

}  // namespace callgate::dialect
