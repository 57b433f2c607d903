// What was probably meant by a command line with an unknown word.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace callgate::cli {

// `unknown command "serv", did you mean "serve"?`; empty: the words are known, and something else is wrong.
std::string advise_on_words(const CLI::App& app, int argc, const char* const* argv);

}  // namespace callgate::cli
