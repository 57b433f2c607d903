// DeepSeek V4:
//
//   <｜DSML｜tool_calls>
//   <｜DSML｜invoke name="get_weather">
//   <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
//   </｜DSML｜invoke>
//   </｜DSML｜tool_calls>
#include "dialect/family/dsml.h"

namespace callgate::dialect::deepseek_v4 {
namespace {

constexpr std::string_view kModels[] = {"*deepseek-v4*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_tagged_parser(kDsmlProse, dsml_grammars(), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "deepseek_v4",
    .spec =
        R"(<｜DSML｜tool_calls><｜DSML｜invoke name="f"><｜DSML｜parameter name="k" string="true">)"
        "v</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::deepseek_v4
