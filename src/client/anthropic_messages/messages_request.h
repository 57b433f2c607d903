// A Messages request -> Request. Reads the body twice: once for its JSON, once for its meaning, so that the second pass meets no
// syntax fault. Linear in the size of the body.
//
// What the canonical request has no place for is a NativeField. The body itself is kept, and messages and tools know where they
// stand in it: an upstream that speaks the same gets them as the client wrote them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "callgate/result.h"
#include "client/anthropic_messages/messages_block.h"
#include "client/protocol.h"
#include "json/reader.h"

namespace callgate::client {

class MessagesReader {
 public:
  // REQUIRES: the request outlives the reader.
  explicit MessagesReader(const ClientRequest& asked) : asked_(asked), body_(asked.body) {}

  // `counting`: only to count its tokens, so it needs no limit of them.
  Result<Request> read(bool counting);

 private:
  using Path = MessagesPath;

  // Every function returns false after the first fault, which is then in blocks_.error().
  bool read_body();
  bool read_field(const std::string& name, std::string_view json);
  bool read_number(const Path& path, std::string_view json, double least, double most, bool whole);
  bool read_stream(std::string_view json);
  bool read_stop(std::string_view json);
  bool read_output_config(std::string_view json);
  bool read_metadata(std::string_view json);
  bool read_service_tier(std::string_view json);
  void read_headers();

  bool read_system(std::string_view json);
  bool read_messages(std::string_view json);
  bool read_message(const Path& path, std::string_view json);
  bool read_user(const Path& path, std::string_view content, Role role);
  bool read_result(const Path& path, const MessagesBlock& block);
  bool read_assistant(const Path& path, std::string_view content);

  bool read_tools(std::string_view json);
  bool read_tool(const Path& path, std::string_view json);
  bool read_tool_choice(std::string_view json);
  void choose_tools();

  void add_native(std::string_view name, std::string_view json,
                  NativeField::Elsewhere elsewhere = NativeField::Elsewhere::named);
  void set_extra(std::string_view name, std::string_view json);
  bool missing(std::string_view name, std::string_view expected);
  BodySpan span_of(std::string_view json) const;

  const ClientRequest& asked_;
  std::string_view body_;
  MessagesBlocks blocks_;
  Request request_;
  struct Tool {
    ToolSpec spec;
    bool deferred = false;
  };
  std::vector<Tool> tools_;
  std::vector<std::string> server_tools_;  // names
  bool searches_ = false;                  // a server tool finds deferred ones
  bool has_system_ = false;
  bool has_messages_ = false;
  bool has_max_tokens_ = false;
  // Of the message that is being read: it goes upstream as it stands.
  bool verbatim_ = true;
};

}  // namespace callgate::client
