#include "script/reply/openai_chat_call.h"

#include "json/reader.h"
#include "json/writer.h"
#include "script/reply/json_bytes.h"

namespace callgate::script {
namespace {

using json::ObjectWriter;

bool is_whole_json(std::string_view text) {
  json::Reader in(text);
  in.skip();
  return in.finish();
}

void append_index(ObjectWriter& object, const CallDelta& delta, const Faults& faults) {
  if (!delta.streamed || faults.has(Fault::no_index)) return;
  const CallIndex index = faults.has(Fault::reuse_index) ? 0 : delta.call;
  if (faults.has(Fault::null_index)) {
    object.null("index");
  } else if (faults.has(Fault::string_index)) {
    object.string("index", std::to_string(index));
  } else {
    object.integer("index", faults.has(Fault::index_from_one) ? index + 1 : index);
  }
}

void append_id(ObjectWriter& object, const CallDelta& delta, const Faults& faults) {
  const std::uint32_t first = faults.has(Fault::late_id) ? 1 : 0;
  const bool every = faults.has(Fault::repeat_id) || faults.has(Fault::change_id);
  if (faults.has(Fault::no_id) || (delta.number != first && !every)) return;
  std::string id(faults.has(Fault::empty_id) ? "" : delta.id);
  if (faults.has(Fault::change_id)) id += "_" + std::to_string(delta.number);
  object.string("id", id);
}

void append_type(ObjectWriter& object, const CallDelta& delta, const Faults& faults) {
  if (delta.number != 0 || faults.has(Fault::no_type)) return;
  object.string("type", faults.has(Fault::empty_type) ? "" : "function");
}

}  // namespace

void append_function(std::string& out, const CallDelta& delta, const Faults& faults) {
  ObjectWriter object(out);
  if (delta.name && !faults.has(Fault::no_name)) append_json_bytes(object.key("name"), *delta.name);
  if (delta.arguments) {
    std::string& value = object.key("arguments");
    if (faults.has(Fault::object_arguments) && is_whole_json(*delta.arguments)) {
      value += *delta.arguments;
    } else {
      append_json_bytes(value, *delta.arguments);
    }
  }
  object.close();
}

void append_call_delta(std::string& out, const CallDelta& delta, const Faults& faults) {
  ObjectWriter object(out);
  append_index(object, delta, faults);
  append_id(object, delta, faults);
  append_type(object, delta, faults);
  append_function(object.key("function"), delta, faults);
  object.close();
}

}  // namespace callgate::script
