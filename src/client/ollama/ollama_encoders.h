#pragma once

#include <memory>

#include "client/ollama/ollama.h"

namespace callgate::client {

std::unique_ptr<ResponseEncoder> make_ollama_stream(const Request& request,
                                                    const ResponseIdentity& identity);
std::unique_ptr<ResponseEncoder> make_ollama_whole(const Request& request,
                                                   const ResponseIdentity& identity);

}  // namespace callgate::client
