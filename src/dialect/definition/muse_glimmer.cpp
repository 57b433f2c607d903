// Meta Muse Glimmer (ATEM): messages with recipients. The prompt ends with `<|start|>assistant`.
//
//    to=self<|message|>Need weather.<|eom|><|start|>assistant to=get_weather<|message|><atem:function_calls>
//   <atem:invoke name="get_weather">
//   <atem:parameter name="city">Paris</atem:parameter>
//   </atem:invoke>
//   </atem:function_calls><|eot|>
#include "dialect/family/addressed_calls.h"

namespace callgate::dialect::muse_glimmer {
namespace {

constexpr std::string_view kModels[] = {"*muse-glimmer*", "*muse_glimmer*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return std::make_unique<AddressedCalls>(options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "muse_glimmer",
    .spec = R"(<|start|>assistant to=f<|message|><atem:function_calls><atem:invoke name="f">)"
            R"(<atem:parameter name="k">v</atem:parameter></atem:invoke></atem:function_calls>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::muse_glimmer
