// The contracts of OpenAI's Responses and Anthropic's Messages, whose frames are events with a type.
#pragma once

#include <memory>
#include <span>

#include "contract/object_contract.h"

namespace callgate::contract {

// In the order of their verdicts: the rules that both have, then the protocol's own.
std::span<const ObjectRule> event_rules();
std::span<const ObjectRule> responses_rules();
std::span<const ObjectRule> messages_rules();

std::unique_ptr<StreamContract> make_responses_contract(const ContractTerms& terms);
std::unique_ptr<StreamContract> make_messages_contract(const ContractTerms& terms);

}  // namespace callgate::contract
