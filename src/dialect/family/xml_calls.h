// Calls as XML elements, the way coding agents ask for them in the prompt: the tag is the tool, its children are the
// arguments, values are raw.
//
//   I'll read the file.
//
//   <read>
//   <filePath>/home/user/package.json</filePath>
//   </read>
//
// A call may be written as JSON instead, in the element, bare on a line of its own, or in a code fence:
//
//   {"name": "read", "arguments": {"filePath": "/home/user/package.json"}}
//
// Only a declared tool opens a call. All of it is held back until its own close tag, since only then is it known where
// its values end: the last close tag of a child counts. White space before a call is structure.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/dialect.h"
#include "dialect/call_reader.h"
#include "dialect/family/nested_tags.h"
#include "dialect/family/schema_types.h"
#include "dialect/family/tag_attributes.h"
#include "dialect/turn_parser.h"

namespace callgate::dialect {

// Reads one element behind `<tag`.
class XmlCalls final : public CallReader {
 public:
  enum class NameIn : std::uint8_t {
    tag,  // <read>...</read>
    body,  // <use_tool><name>read</name>...</use_tool>, the name first, an attribute `name`, or a JSON object
  };
  // An opener is `<` and a tag's name. REQUIRES: the openers and the tools outlive the reader.
  XmlCalls(NameIn name_in, std::span<const Opener> openers, const DialectOptions& options)
      : name_in_(name_in), openers_(openers), schemas_(options.tools) {}

  void open(std::size_t opener, Output& out) override;
  Step push(std::string_view bytes, Output& out) override;
  void finish(Output& out) override;
  bool overflow(Output& out) override;

 private:
  enum class At : std::uint8_t { attributes, body };

  std::size_t read_attribute_byte(char c, Output& out);
  std::size_t read_lead(char c, Output& out);
  std::size_t read_body(std::string_view bytes, Output& out);
  std::size_t read_doubtful(char c, Output& out);
  void take_body(char c, Output& out);
  bool self_closing() const;
  std::string_view attributes() const;
  void expected_body(std::string_view body, Output& out) const;
  void hand_over(Output& out);
  bool take_name(std::string_view& body, std::string& name) const;
  int shown_calls(std::string_view body) const;
  void try_close(Output& out);
  bool emit(std::string_view body, Output& out);
  bool emit_json(std::string_view body, Output& out);
  bool unwrap(const std::vector<TagElement>& elements, const SchemaPlace& schema);
  bool append_attributes(const SchemaPlace& schema);
  void send(std::string_view name, Output& out);

  NameIn name_in_;
  std::span<const Opener> openers_;
  ToolSchemas schemas_;
  At at_ = At::attributes;
  Step step_;
  std::string close_;        // the element's own close tag
  std::size_t matched_ = 0;  // of close_, at the end of what was read
  std::string body_;
  bool lead_read_ = false;  // it is known to begin like the body of a call
  int attempts_ = 0;        // close tags that turned out to be data
  int shown_closes_ = 0;    // those of calls that the body shows
  std::string
      line_opener_;  // behind such a one: what may be the opener of the next call, not handed over yet
  AttributeScan attributes_;
  std::string json_;
};

std::unique_ptr<DialectParser> make_xml_parser(XmlCalls::NameIn name_in,
                                               const DialectOptions& options);

}  // namespace callgate::dialect
