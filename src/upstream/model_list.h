// The list of models that a server gives, in the form of its wire format.
//
//   {"object":"list","data":[{"id":"qwen3","object":"model","created":1718000000,"owned_by":"vllm"}]}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callgate::upstream {

struct ServedModel {
  std::string id;            // as requests name it
  std::int64_t created = 0;  // Unix seconds; 0: the server does not say
  bool operator==(const ServedModel&) const = default;
};

// More are left out.
inline constexpr std::size_t kMostModels = 10'000;

// Where the list is, below the upstream's URL. Empty: servers of this wire format give none.
std::string_view model_list_path(std::string_view wire);

// Nothing when it is not such a list. Entries without a name are left out.
std::optional<std::vector<ServedModel>> read_model_list(std::string_view wire,
                                                        std::string_view body);

}  // namespace callgate::upstream
