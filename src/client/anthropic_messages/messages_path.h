// Where a field of a Messages request is, as the API writes it: `messages.3.content.0.type`. Lives on the stack of whoever reads;
// becomes text only for a fault.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "json/writer.h"

namespace callgate::client {

class MessagesPath {
 public:
  explicit MessagesPath(std::string_view name) : name_(name) {}
  // `up` must outlive what is made from it.
  MessagesPath(const MessagesPath& up, std::string_view name) : up_(&up), name_(name) {}
  MessagesPath(const MessagesPath& up, std::size_t index) : up_(&up), index_(index) {}

  std::string text() const {
    std::string text = up_ == nullptr ? std::string() : up_->text() + ".";
    if (!name_.empty()) return text.append(name_);
    json::append_integer(text, static_cast<std::int64_t>(index_));
    return text;
  }

 private:
  const MessagesPath* up_ = nullptr;
  std::string_view name_ = {};
  std::size_t index_ = 0;
};

}  // namespace callgate::client
