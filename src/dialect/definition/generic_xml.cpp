// Cline, Roo Code, OpenCode and proxies that put tools into the prompt:
//
//   <read>
//   <filePath>/home/user/package.json</filePath>
//   </read>
#include "dialect/family/xml_calls.h"

namespace callgate::dialect::generic_xml {
namespace {

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_xml_parser(XmlCalls::NameIn::tag, options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "generic_xml",
                                 .spec = "<f><k>v</k></f> for each declared tool f",
                                 .models = {},
                                 .commit = Commit::whole_call,
                                 .make = make};

}  // namespace callgate::dialect::generic_xml
