// Events on their way to a C program, which reads them when it likes. Their bytes lie in one buffer that is reused once
// everything was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/callgate.h"
#include "callgate/event.h"

namespace callgate::c_api {

class EventQueue final : public EventSink {
 public:
  void accept(const Event& event) override;
  // The views in `event` are valid until the next call of accept() or next().
  bool next(callgate_event& event);
  // What was not read, in bytes; the events themselves count as well.
  std::size_t unread() const;

 private:
  struct Record {
    callgate_event event;  // without its pointers
    std::size_t text = 0;  // where in bytes_; its id follows
  };
  void add(callgate_kind kind, CallIndex call, std::uint32_t value, std::string_view text = {},
           std::string_view id = {});

  std::string bytes_;
  std::vector<Record> records_;
  std::size_t read_ = 0;  // records
  std::size_t read_bytes_ = 0;
};

}  // namespace callgate::c_api
