// The contract of one call: its deltas in order, and what they join to.
//   {"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":""}}
//   {"index":0,"function":{"arguments":"{\"city\":\"Paris\"}"}}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "contract/chat_contract_sheet.h"
#include "json/scanner.h"

namespace callgate::contract {

// One delta of a call, as raw JSON.
struct CallDelta {
  std::string_view index;
  std::string_view id;
  std::string_view type;
  std::string_view name;
  std::string_view arguments;
};
CallDelta read_call_delta(std::string_view raw);

// The first thing about `arguments` that the schema forbids; empty: it fits. Looks at the top level alone.
std::string misfit(std::string_view arguments, std::string_view schema);

class ContractCall {
 public:
  explicit ContractCall(std::string label) : label_(std::move(label)) {}

  // The fragment that the delta brought. `where` names the frame.
  std::string accept(const CallDelta& delta, const std::string& where, VerdictSheet& sheet);
  // Takes keys out of the arguments.
  void mask(const ContractTerms& terms) { arguments_ = mask_secrets(arguments_, terms.secrets); }
  void finish(const ContractTerms& terms, VerdictSheet& sheet) const;

  const std::string& id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& arguments() const { return arguments_; }
  bool is_whole() const { return scanner_.state() == json::Scanner::State::closed; }

 private:
  struct Field;
  void accept_field(const Field& field, std::string_view raw, std::uint32_t& seen,
                    const std::string& where, VerdictSheet& sheet) const;
  std::string accept_arguments(std::string_view raw, const std::string& where, VerdictSheet& sheet);
  void check_tool(const ContractTerms& terms, bool is_object, VerdictSheet& sheet) const;

  std::string label_;  // `call 0`
  std::string id_;
  std::string name_;
  std::string arguments_;
  json::Scanner scanner_;
  std::uint32_t deltas_ = 0;
  std::uint32_t ids_ = 0;
  std::uint32_t names_ = 0;
  std::uint32_t types_ = 0;
  bool repeats_ = false;  // a fragment began with all that came before it
};

}  // namespace callgate::contract
