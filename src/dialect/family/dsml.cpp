#include "dialect/family/dsml.h"

#include <algorithm>
#include <array>

namespace callgate::dialect {
namespace {

// The texts one after another, at compile time.
template <const std::string_view&... kParts>
struct Join {
  static constexpr auto kText = [] {
    std::array<char, (kParts.size() + ...)> text{};
    std::size_t at = 0;
    for (const std::string_view part : {kParts...}) {
      at = static_cast<std::size_t>(std::copy(part.begin(), part.end(), text.begin() + at) -
                                    text.begin());
    }
    return text;
  }();
  static constexpr std::string_view kValue{kText.data(), kText.size()};
};

constexpr std::string_view kOpenTag = "<";
constexpr std::string_view kCloseTag = "</";
constexpr std::string_view kFunctionCalls = "function_calls>";
constexpr std::string_view kToolCalls = "tool_calls>";
constexpr std::string_view kCalls = "calls>";
constexpr std::string_view kDsmlInvoke = "invoke";
constexpr std::string_view kInvokeEnd = "invoke>";
constexpr std::string_view kParameter = "parameter";
constexpr std::string_view kParameterEnd = "parameter>";
constexpr std::string_view kDsmlTail[] = {"<｜end▁of▁sentence｜>"};

template <const std::string_view& kBars>
struct Spelling {
  static constexpr std::string_view kOpener = Join<kOpenTag, kBars>::kValue;
  static constexpr std::string_view kSection[] = {Join<kOpenTag, kBars, kFunctionCalls>::kValue,
                                                  Join<kOpenTag, kBars, kToolCalls>::kValue,
                                                  Join<kOpenTag, kBars, kCalls>::kValue};
  static constexpr std::string_view kSectionClose[] = {
      Join<kCloseTag, kBars, kFunctionCalls>::kValue, Join<kCloseTag, kBars, kToolCalls>::kValue,
      Join<kCloseTag, kBars, kCalls>::kValue};
  static constexpr TaggedGrammar kGrammar{
      .lead = kSection,
      .call = {.open = Join<kOpenTag, kBars, kDsmlInvoke>::kValue,
               .style = NameTag::Style::attribute},
      .call_close = Join<kCloseTag, kBars, kInvokeEnd>::kValue,
      .parameter = {.open = Join<kOpenTag, kBars, kParameter>::kValue,
                    .style = NameTag::Style::attribute},
      .value_close = Join<kCloseTag, kBars, kParameterEnd>::kValue,
      .type_attribute = "string",
      .section_close = kSectionClose,
      .tail = kDsmlTail};
};

constexpr std::string_view kPlainBars = "｜DSML｜";
constexpr std::string_view kSpacedBars = "｜DSML｜ ";
constexpr std::string_view kNormBars = "‖DSML‖";
constexpr std::string_view kDoubledBars = "｜｜DSML｜｜";
constexpr std::string_view kAsciiBars = "|DSML|";
constexpr std::string_view kAsciiDoubledBars = "||DSML||";
using Plain = Spelling<kPlainBars>;
using Spaced = Spelling<kSpacedBars>;
using Norm = Spelling<kNormBars>;
using Doubled = Spelling<kDoubledBars>;
using Ascii = Spelling<kAsciiBars>;
using AsciiDoubled = Spelling<kAsciiDoubledBars>;

template <class... Spellings>
struct All {
  static constexpr Opener kOpen[] = {{Spellings::kOpener}...};
  static constexpr TaggedGrammar kGrammars[] = {Spellings::kGrammar...};
  static constexpr std::string_view kClose[] = {Spellings::kSectionClose[0]...,
                                                Spellings::kSectionClose[1]...,
                                                Spellings::kSectionClose[2]...};
  static constexpr std::string_view kSpecial[] = {Spellings::kOpener...,
                                                  Spellings::kSectionClose[0]...,
                                                  Spellings::kSectionClose[1]...,
                                                  Spellings::kSectionClose[2]...,
                                                  Spellings::kGrammar.call_close...,
                                                  Spellings::kGrammar.value_close...};
};
using Every = All<Plain, Spaced, Norm, Doubled, Ascii, AsciiDoubled>;

}  // namespace

constinit const Prose kDsmlProse{.reasoning = kThink,
                                 .call_open = Every::kOpen,
                                 .call_close = Every::kClose,
                                 .tail = kDsmlTail,
                                 .special = Every::kSpecial,
                                 .after_call = Prose::AfterCall::text};

std::span<const TaggedGrammar> dsml_grammars() { return Every::kGrammars; }

}  // namespace callgate::dialect
