#include "cli/store_place.h"

#include <filesystem>
#include <iostream>

#include "cli/config_place.h"

namespace callgate::cli {

void add_store_place(CLI::App& command, StorePlace& place) {
  command.add_option("--url", place.url, "sqlite:PATH or postgresql://USER:PASSWORD@HOST/DATABASE");
  command.add_option("--config", place.source.file,
                     "TOML file whose store.url is used; found as `serve` finds it when absent");
}

Result<server::Config> load_place_config(const StorePlace& place) {
  server::ConfigSource source = place.source;
  if (source.file.empty()) source.file = find_config_file();
  return server::load_config(source);
}

std::string find_store_url(const StorePlace& place) {
  if (!place.url.empty()) return place.url;
  const auto config = load_place_config(place);
  if (config) return config->store.url;
  std::cerr << config.error().message << '\n';
  return {};
}

bool is_missing_store(std::string_view url) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (!url.starts_with(kSqlite)) return false;
  const std::string path(url.substr(kSqlite.size()));
  std::error_code fault;
  return path != ":memory:" && !std::filesystem::exists(path, fault);
}

}  // namespace callgate::cli
