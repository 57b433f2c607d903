// What to do about a smoke run that failed: the server passed a call on as text, and some dialect knows the form; or it
// refused the tools.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace callgate::cli {

// What other servers call their parser of a dialect; empty where they have none.
struct ServerParsers {
  std::string_view dialect;
  std::string_view vllm;
  std::string_view sglang;
};
std::span<const ServerParsers> server_parsers();

// The dialects that find a call of the smoke tool in the text of an answer, the likeliest first. `bytes` is its body in a wire
// format; the name of the model helps where several read the same.
std::vector<std::string_view> recognise_calls(std::string_view bytes, std::string_view model,
                                              std::string_view wire = "openai_chat");

// A sentence about calls that stayed text; empty when no dialect reads them.
//   this is qwen3_coder: start vLLM with `--enable-auto-tool-choice --tool-call-parser qwen3_coder`, ...
std::string advice_on_text(const std::vector<std::string_view>& dialects);

// A sentence about a server that refuses tools; empty when it is not one whose words are known.
std::string advice_on_refusal(int status, std::string_view body, std::string_view model);

}  // namespace callgate::cli
