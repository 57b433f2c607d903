// Calls in one fixed tag, the tool's name inside:
//
//   <use_tool><name>read</name><filePath>/home/user/package.json</filePath></use_tool>
//   <use_tool name="read"><filePath>/home/user/package.json</filePath></use_tool>
//   <use_tool>{"name": "read", "arguments": {"filePath": "/home/user/package.json"}}</use_tool>
#include "dialect/family/xml_calls.h"

namespace callgate::dialect::use_tool {
namespace {

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_xml_parser(XmlCalls::NameIn::body, options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "use_tool",
                                 .spec = "<use_tool><name>f</name><k>v</k></use_tool>",
                                 .models = {},
                                 .commit = Commit::whole_call,
                                 .make = make};

}  // namespace callgate::dialect::use_tool
