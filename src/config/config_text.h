// Small texts of the configuration: durations, sizes, the nearest valid key.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/config.h"

namespace callgate::server {

std::optional<Milliseconds> parse_duration(std::string_view text);  // 300ms, 5s, 2m, 1h
std::string print_duration(Milliseconds value);
std::optional<Bytes> parse_bytes(std::string_view text);  // 4096, 64KiB, 32MiB, 1GiB
std::string print_bytes(Bytes value);

// The candidate with the smallest edit distance; empty if the word or every candidate is too long to compare. The work is
// bounded, whatever the word: clients send it.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);
// `, did you mean "x"?`, or nothing where there is nothing near.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates,
                       char mark = '"');

}  // namespace callgate::server
