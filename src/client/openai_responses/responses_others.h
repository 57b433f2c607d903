// What an upstream of the same format says in kinds that callgate does not know: items of the output, and events. They reach the client as
// they are, but for the numbers and ids that are callgate's own.
//
//   {"type":"response.web_search_call.searching","sequence_number":7,"item_id":"ws_1","output_index":0}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/function_ref.h"

namespace callgate::client {

class ResponsesOthers {
 public:
  struct Item {
    std::size_t index = 0;  // in the output
    std::string json;       // as it began
  };

  // `upstream_id` is what the upstream calls the item with the id `id`, at `index` of the output.
  void add_place(std::string upstream_id, std::string id, std::size_t index);

  // An item of an unknown kind began; it stays open until it is taken.
  void open(std::string_view id, Item item);
  std::optional<Item> take(std::string_view id);
  std::vector<Item> take_all();

  // The frame of an event, with the number `sequence`.
  void append_frame(std::string& out, std::string_view event, std::int64_t sequence) const;

  // Keeps what must not come between the deltas of a call. At most 1 MiB: what is more is lost.
  void defer(std::string_view name, std::string_view json);
  void replay(FunctionRef<void(std::string_view name, std::string_view json)> visit);

 private:
  struct Place {
    std::string upstream_id;
    std::string id;
    std::size_t index = 0;
  };
  const Place* find(std::string_view upstream_id) const;

  std::vector<Place> places_;
  std::vector<std::pair<std::string, Item>> open_;  // by id
  std::vector<std::pair<std::string, std::string>> deferred_;
  std::size_t deferred_bytes_ = 0;
};

}  // namespace callgate::client
