// Log probabilities of the Gemini API in the form of Chat Completions.
//
//   {"chosenCandidates":[{"token":"Hi","tokenId":2151,"logProbability":-0.25}],"topCandidates":[{"candidates":[...]}]}
//   {"content":[{"token":"Hi","logprob":-0.25,"bytes":null,"top_logprobs":[...]}],"refusal":null}
#pragma once

#include <string>
#include <string_view>

namespace callgate::upstream {

// Empty when no token was chosen.
std::string convert_gemini_logprobs(std::string_view result);

}  // namespace callgate::upstream
