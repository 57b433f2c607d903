// ContentEncoder: what a server with compression does to its answers. Everything that was pushed is flushed, so that it can
// be read at once. For the scripted model and for tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace callgate::compress {

enum class Format : std::uint8_t { gzip, deflate, bare_deflate, br, zstd };

// As in content-encoding.
std::string_view coding_name(Format format);

class ContentEncoder {
 public:
  static std::unique_ptr<ContentEncoder> make(Format format);
  virtual ~ContentEncoder() = default;

  // Appends to `out`.
  void push(std::string_view bytes, std::string& out) { run(bytes, false, out); }
  void finish(std::string& out) { run({}, true, out); }

 private:
  virtual void run(std::string_view bytes, bool last, std::string& out) = 0;
};

// All of it at once.
std::string encode(Format format, std::string_view bytes);

}  // namespace callgate::compress
