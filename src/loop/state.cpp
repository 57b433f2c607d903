// A loop's state as JSON:
//   {"legs":[{"messages":[{"role":"assistant","content":null,"calls":[{"id":"a","name":"f","arguments":"{}"}]}],
//    "results":[]}],"rounds":1,"calls":2,"tool_calls":{"f":2}, ...}
#include <optional>
#include <utility>

#include "callgate/loop.h"
#include "chat/content.h"
#include "chat/message_json.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::loop {
namespace {

template <class T, class Write>
void write_array(std::string& out, const std::vector<T>& items, const Write& write) {
  append_list(out, items, [&](const T& item) { write(out, item); });
}

void write_extra(json::ObjectWriter& object, const std::vector<ExtraField>& extra) {
  if (extra.empty()) return;
  std::string& out = object.key("extra");
  json::ObjectWriter fields(out);
  append_extra(fields, extra);
  fields.close();
}

void write_call(std::string& out, const CallRecord& call) {
  json::ObjectWriter object(out);
  object.string("id", call.id);
  object.string("name", call.name);
  object.string("arguments", call.arguments);
  write_extra(object, call.extra);
  object.close();
}

void write_message(std::string& out, const Message& message) {
  json::ObjectWriter object(out);
  object.string("role", role_name(message.role));
  if (!message.content.empty()) object.raw("content", message.content.text);
  if (!message.name.empty()) object.string("name", message.name);
  if (!message.tool_call_id.empty()) object.string("tool_call_id", message.tool_call_id);
  if (!message.calls.empty()) write_array(object.key("calls"), message.calls, write_call);
  write_extra(object, message.extra);
  object.close();
}

void write_leg(std::string& out, const State::Leg& leg) {
  json::ObjectWriter object(out);
  write_array(object.key("messages"), leg.messages, write_message);
  write_array(object.key("results"), leg.results, write_message);
  object.close();
}

void write_counts(std::string& out, const std::vector<State::Count>& counts) {
  json::ObjectWriter object(out);
  for (const State::Count& count : counts) {
    object.raw_escaped(count.name, std::to_string(count.count));
  }
  object.close();
}

void write_evicted(std::string& out, const EvictedResult& kept) {
  json::ObjectWriter object(out);
  object.string("id", kept.id);
  object.string("text", kept.text);
  object.close();
}

std::uint32_t read_count(json::Reader& in) {
  const std::int64_t value = in.integer().value_or(-1);
  if (value < 0 || value > 0xFFFFFFFF) in.fail("expected a count");
  return static_cast<std::uint32_t>(value);
}

std::vector<ExtraField> read_extra(json::Reader& in) {
  std::vector<ExtraField> extra;
  for (std::string_view key; in.next_member(key);) {
    std::string name(key);
    extra.push_back({std::move(name), {std::string(in.raw())}});
  }
  return extra;
}

CallRecord read_call(json::Reader& in) {
  CallRecord call;
  for (std::string_view key; in.next_member(key);) {
    if (key == "id") {
      call.id = in.string();
    } else if (key == "name") {
      call.name = in.string();
    } else if (key == "arguments") {
      call.arguments = in.string();
    } else if (key == "extra") {
      call.extra = read_extra(in);
    } else {
      in.skip();
    }
  }
  return call;
}

void read_role(json::Reader& in, Role& into) {
  const std::optional<Role> role = find_role(in.string());
  if (!role) return in.fail("expected a role");
  into = *role;
}

Message read_message(json::Reader& in) {
  Message message;
  for (std::string_view key; in.next_member(key);) {
    if (key == "role") {
      read_role(in, message.role);
    } else if (key == "content") {
      message.content.text = in.raw();
    } else if (key == "name") {
      message.name = in.string();
    } else if (key == "tool_call_id") {
      message.tool_call_id = in.string();
    } else if (key == "calls") {
      while (in.next_element()) message.calls.push_back(read_call(in));
    } else if (key == "extra") {
      message.extra = read_extra(in);
    } else {
      in.skip();
    }
  }
  return message;
}

std::vector<Message> read_messages(json::Reader& in) {
  std::vector<Message> messages;
  while (in.next_element()) messages.push_back(read_message(in));
  return messages;
}

State::Leg read_leg(json::Reader& in) {
  State::Leg leg;
  for (std::string_view key; in.next_member(key);) {
    if (key == "messages") {
      leg.messages = read_messages(in);
    } else if (key == "results") {
      leg.results = read_messages(in);
    } else {
      in.skip();
    }
  }
  return leg;
}

std::vector<State::Count> read_counts(json::Reader& in) {
  std::vector<State::Count> counts;
  for (std::string_view key; in.next_member(key);) {
    std::string name(key);
    counts.push_back({std::move(name), read_count(in)});
  }
  return counts;
}

EvictedResult read_evicted(json::Reader& in) {
  EvictedResult kept;
  for (std::string_view key; in.next_member(key);) {
    if (key == "id") {
      kept.id = in.string();
    } else if (key == "text") {
      kept.text = in.string();
    } else {
      in.skip();
    }
  }
  return kept;
}

void read_member(State& state, std::string_view key, json::Reader& in) {
  if (key == "legs") {
    while (in.next_element()) state.legs.push_back(read_leg(in));
  } else if (key == "injected") {
    state.injected = read_messages(in);
  } else if (key == "rounds") {
    state.rounds = read_count(in);
  } else if (key == "calls") {
    state.calls = read_count(in);
  } else if (key == "advisories") {
    state.advisories = read_count(in);
  } else if (key == "tool_calls") {
    state.tool_calls = read_counts(in);
  } else if (key == "repeated_calls") {
    state.repeated_calls = read_counts(in);
  } else if (key == "repeated_results") {
    state.repeated_results = read_counts(in);
  } else if (key == "evictions") {
    state.evictions = read_count(in);
  } else if (key == "evicted") {
    while (in.next_element()) state.evicted.push_back(read_evicted(in));
  } else if (key == "found_tools") {
    while (in.next_element()) state.found_tools.emplace_back(in.string());
  } else {
    in.skip();
  }
}

}  // namespace

std::string encode_state(const State& state) {
  std::string out;
  json::ObjectWriter object(out);
  write_array(object.key("legs"), state.legs, write_leg);
  write_array(object.key("injected"), state.injected, write_message);
  object.integer("rounds", state.rounds);
  object.integer("calls", state.calls);
  object.integer("advisories", state.advisories);
  write_counts(object.key("tool_calls"), state.tool_calls);
  write_counts(object.key("repeated_calls"), state.repeated_calls);
  write_counts(object.key("repeated_results"), state.repeated_results);
  object.integer("evictions", state.evictions);
  write_array(object.key("evicted"), state.evicted, write_evicted);
  write_array(object.key("found_tools"), state.found_tools,
              [](std::string& text, const std::string& name) { json::append_string(text, name); });
  object.close();
  return out;
}

Result<State> decode_state(std::string_view json) {
  State state;
  json::Reader in(json);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    read_member(state, name, in);
  }
  if (in.finish()) return state;
  return fail(ErrorCode::invalid_request, "loop state, byte " + std::to_string(in.error().offset) +
                                              ": " + std::string(in.error().message));
}

}  // namespace callgate::loop
