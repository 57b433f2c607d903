#include "callgate/pipeline.h"

namespace callgate {

std::string_view to_string(Repair repair) {
  switch (repair) {
    case Repair::finish_reason_wrong:
      return "finish_reason_wrong";
    case Repair::finish_reason_missing:
      return "finish_reason_missing";
    case Repair::index_missing:
      return "index_missing";
    case Repair::index_reused:
      return "index_reused";
    case Repair::id_repeated:
      return "id_repeated";
    case Repair::id_missing:
      return "id_missing";
    case Repair::arguments_object:
      return "arguments_object";
    case Repair::markup_in_text:
      return "markup_in_text";
    case Repair::frame_invalid:
      return "frame_invalid";
    case Repair::utf8_invalid:
      return "utf8_invalid";
    case Repair::control_unescaped:
      return "control_unescaped";
    case Repair::name_broken:
      return "name_broken";
    case Repair::arguments_misplaced:
      return "arguments_misplaced";
    case Repair::arguments_prefilled:
      return "arguments_prefilled";
    case Repair::arguments_surplus:
      return "arguments_surplus";
    case Repair::arguments_encoded:
      return "arguments_encoded";
    case Repair::call_repeated:
      return "call_repeated";
  }
  return {};
}

}  // namespace callgate
