#include "store/log/entry_text.h"

#include <utility>
#include <variant>

#include "base/utf8.h"

namespace callgate::store {
namespace {

void clean_text(std::string& text) {
  if (text.find('\0') != std::string::npos) std::erase(text, '\0');
  if (utf8::is_valid(text)) return;
  std::string clean;
  utf8::append_sanitized(clean, text);
  text = std::move(clean);
}

template <class Each>
void each_text(RequestRecord& record, Each each) {
  for (std::string* text :
       {&record.id, &record.key_name, &record.protocol, &record.model, &record.upstream,
        &record.dialect, &record.client_address, &record.session, &record.trace_id}) {
    each(*text);
  }
}

template <class Each>
void each_text(RequestOutcome& outcome, Each each) {
  for (std::string* text :
       {&outcome.id, &outcome.key_name, &outcome.error_code, &outcome.error_message,
        &outcome.upstream, &outcome.dialect, &outcome.session, &outcome.cut, &outcome.repair_names,
        &outcome.missed_call, &outcome.search}) {
    each(*text);
  }
  for (CallRow& call : outcome.call_rows) {
    each(call.id);
    each(call.name);
    if (call.result) each(call.result->text);
  }
}

}  // namespace

void limit_text(std::string& text) {
  if (text.size() <= kLongestText) return;
  text.resize(kLongestText);
  text.resize(text.size() - utf8::incomplete_tail(text));
}

void limit_texts(RequestRecord& record) { each_text(record, limit_text); }

void limit_texts(RequestOutcome& outcome) { each_text(outcome, limit_text); }

void clean_texts(Entry& entry) {
  std::visit([](auto& each) { each_text(each, clean_text); }, entry);
}

}  // namespace callgate::store
