// The family of gemma: `call:`, a name and arguments in gemma's own notation.
//
//   <|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:3}<tool_call|>
//
// A block may hold several calls.
#pragma once

#include <string>
#include <string_view>

#include "callgate/dialect.h"
#include "dialect/call_reader.h"
#include "dialect/family/gemma_value.h"
#include "dialect/turn_parser.h"

namespace callgate::dialect {

class GemmaCalls final : public CallReader {
 public:
  // REQUIRES: the markers have static storage.
  explicit GemmaCalls(const GemmaMarkers& markers) : markers_(markers) {}

  void open(std::size_t opener, Output& out) override;
  Step push(std::string_view bytes, Output& out) override;
  void finish(Output& out) override;

 private:
  enum class At : std::uint8_t {
    name,
    arguments,
    next,  // behind a call: another one may stand in the same block
  };

  bool read_name(char c, Output& out);
  bool read_next(char c, Output& out);
  std::size_t read_arguments(std::string_view bytes, Output& out);
  void end_call(CallOutcome outcome, Output& out);

  GemmaMarkers markers_;
  At at_ = At::name;
  Step step_;
  std::string name_;
  std::string json_;
  std::string lag_;  // read, but it may turn out to stand behind the call
  GemmaArguments arguments_;
};

}  // namespace callgate::dialect
