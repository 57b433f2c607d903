// The files of the page, as they are in the binary. They are made by web/build.mjs, or by cmake/web.cmake where Node.js is
// missing.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace callgate::server {

struct PageAsset {
  std::string_view path;  // of the request
  std::string_view type;  // its content-type
  bool gzipped = false;
  std::string_view bytes;
};

std::span<const PageAsset> page_assets();
// nullptr if it does not exist.
const PageAsset* find_page_asset(std::string_view path);
// Of the bytes as they are sent; strong, with its quotes.
std::string entity_tag(const PageAsset& asset, bool gzipped);
// Undoes the compression, for clients that do not take it.
std::string plain_bytes(const PageAsset& asset);

// Whether a list such as `text/html, */*;q=0.8` names the word, and not with q=0.
bool takes(std::string_view list, std::string_view word);

}  // namespace callgate::server
