// URLs and command lines as they may be shown: without what could be a password.
//   https://me:hunter2@host/v1?key=abc&page=2   ->  https://***@host/v1?key=***&page=2
//   prog --token hunter2 --fast                 ->  prog --token *** --fast
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace callgate {

// Total: a mistyped URL is masked as well.
std::string masked_url(std::string_view url);

// The program and the long options stay; every other argument may be a secret.
std::vector<std::string> masked_command(const std::vector<std::string>& command);

// What masked_url() leaves out: user names with their passwords, and values.
std::vector<std::string> secrets_in_url(std::string_view url);

}  // namespace callgate
