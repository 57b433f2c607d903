// Two ways of writing calls behind the same opener; the first byte that is neither white space nor a bracket decides:
//
//   <tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>
//   <tool_call>\n<function=f>\n</function>\n</tool_call>
#pragma once

#include <memory>
#include <string>

#include "dialect/call_reader.h"

namespace callgate::dialect {

class EitherCalls final : public CallReader {
 public:
  // `json` reads what begins with `{`, `other` everything else.
  EitherCalls(std::unique_ptr<CallReader> json, std::unique_ptr<CallReader> other)
      : json_(std::move(json)), other_(std::move(other)) {}

  void open(std::size_t opener, Output& out) override;
  Step push(std::string_view bytes, Output& out) override;
  void finish(Output& out) override;
  bool overflow(Output& out) override;

 private:
  void choose(CallReader& reader, Output& out);

  std::unique_ptr<CallReader> json_;
  std::unique_ptr<CallReader> other_;
  CallReader* chosen_ = nullptr;
  std::size_t opener_ = 0;
  std::string lead_;  // white space and brackets, not handed to the output yet
};

}  // namespace callgate::dialect
