// Coding: one content coding, undone piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace callgate::compress {

class Coding {
 public:
  virtual ~Coding() = default;
  // Takes bytes off the front of `in` and writes at most out.size() bytes. Gives how many were written; 0 only when `in` is
  // used up and nothing waits inside. Gives nothing when the content is damaged.
  virtual std::optional<std::size_t> step(std::string_view& in, std::span<char> out) = 0;
  // The content may end here.
  virtual bool is_whole() const = 0;
};

std::unique_ptr<Coding> make_gunzip();
std::unique_ptr<Coding> make_inflate();  // the zlib format, or bare deflate
std::unique_ptr<Coding> make_unbrotli();
std::unique_ptr<Coding> make_unzstd();

}  // namespace callgate::compress
