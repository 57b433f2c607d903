#include "engine/turn_keeper.h"

#include "json/reader.h"
#include "json/writer.h"

namespace callgate::engine {
namespace {

using Kind = LoggedEvent::Kind;

constexpr std::size_t kEventCost = sizeof(LoggedEvent);

// Writes objects of an array, each with its type, and with its choice where that is not the first.
class EventPrinter {
 public:
  EventPrinter(std::string& out, std::uint32_t choice) : out_(out), choice_(choice) {}

  void text(std::string_view type, std::string_view text) {
    json::ObjectWriter object = begin(type);
    object.string("text", text);
    object.close();
  }
  void call(CallIndex index, const LoggedCall& call) {
    json::ObjectWriter object = begin("call");
    object.integer("index", index);
    object.string("id", call.id);
    object.string("name", call.name);
    object.string("arguments", call.arguments);
    object.string("outcome", to_string(call.outcome));
    object.close();
  }
  void usage(const Usage& usage) {
    json::ObjectWriter object = begin("usage");
    object.integer("prompt_tokens", usage.prompt_tokens);
    object.integer("completion_tokens", usage.completion_tokens);
    object.integer("total_tokens", usage.total_tokens);
    object.integer("cached_tokens", usage.cached_tokens);
    object.integer("cache_write_tokens", usage.cache_write_tokens);
    object.integer("reasoning_tokens", usage.reasoning_tokens);
    object.close();
  }
  void finish(FinishReason reason) {
    json::ObjectWriter object = begin("finish");
    object.string("reason", to_string(reason));
    object.close();
  }

 private:
  json::ObjectWriter begin(std::string_view type) {
    if (out_.back() != '[') out_.push_back(',');
    json::ObjectWriter object(out_);
    object.string("type", type);
    if (choice_ != 0) object.integer("choice", choice_);
    return object;
  }

  std::string& out_;
  std::uint32_t choice_;
};

}  // namespace

std::size_t bytes_of(const Event& event) {
  return std::visit(
      Overloaded{
          [](const TextDelta& e) { return e.text.size(); },
          [](const ReasoningDelta& e) { return e.text.size(); },
          [](const RefusalDelta& e) { return e.text.size(); },
          [](const CallStarted& e) { return kEventCost + e.name.size() + e.native_id.size(); },
          [](const ArgumentsDelta& e) { return e.bytes.size(); },
          [](const CallFinished&) { return kEventCost; },
          [](const FieldReported& e) {
            const bool of_call = e.scope == FieldReported::Scope::call;
            return of_call ? kEventCost + e.name.size() + e.json.size() : 0;  // by add_field()
          },
          [](const UsageReported&) { return std::size_t{0}; },
          [](const TurnFinished&) { return std::size_t{0}; },
      },
      event);
}

TurnKeeper::TurnKeeper(std::uint32_t choices, std::size_t limit) : limit_(limit) {
  for (std::uint32_t i = 0; i < choices; ++i) choices_.push_back(std::make_unique<Choice>(*this));
}

bool TurnKeeper::take(std::size_t bytes) {
  const bool was_kept = !is_too_long();
  used_ += bytes;
  if (!is_too_long()) return true;
  if (was_kept) {
    for (const auto& choice : choices_) {
      choice->said = {};
      choice->turn_fields = {};
      choice->choice_fields = {};
      choice->message_fields = {};
      choice->usage_json = {};
    }
  }
  return false;
}

void TurnKeeper::Choice::accept(const Event& event) {
  if (!keeper_.take(bytes_of(event))) return;
  if (const auto* reported = std::get_if<UsageReported>(&event)) {
    usage = reported->usage;
    usage_json = reported->json;
  } else if (const auto* finished = std::get_if<TurnFinished>(&event)) {
    ended = true;
    if (finished->reason != FinishReason::upstream_error) ending = finished->reason;
  } else if (const auto* field = std::get_if<FieldReported>(&event);
             field != nullptr && field->scope != FieldReported::Scope::call) {
    add_field(*field);
  } else {
    said.accept(event);
  }
}

// A field of which the last report counts takes no more room for the others.
void TurnKeeper::Choice::add_field(const FieldReported& field) {
  const bool of_turn = field.scope == FieldReported::Scope::turn;
  const bool of_choice = field.scope == FieldReported::Scope::choice;
  FieldFold& fold = of_turn ? turn_fields : of_choice ? choice_fields : message_fields;
  const std::size_t before = fold.bytes();
  fold.add(field.scope, field.name, field.json);
  if (fold.bytes() > before) keeper_.take(fold.bytes() - before);
}

bool TurnKeeper::Choice::rests_on_call() const {
  if (said.events().empty()) return false;
  const LoggedEvent& last = said.events().back();
  if (last.kind == Kind::end) return last.outcome == CallOutcome::complete;
  if (last.kind != Kind::arguments) return false;
  json::Reader in(last.text);
  in.skip();
  return in.finish();
}

// A client often leaves as soon as it has its call: then the turn is one that ends with calls.
std::optional<FinishReason> TurnKeeper::Choice::reason() const {
  if (ended || !rests_on_call()) return ending;
  return FinishReason::tool_calls;
}

void TurnKeeper::Choice::replay(EventSink& sink) const {
  for (const LoggedEvent& event : said.events()) tell(event, sink);
  const auto tell_fields = [&](FieldReported::Scope scope, const FieldFold& fields) {
    fields.each([&](std::string_view name, std::string_view json) {
      sink.accept(FieldReported{scope, name, json});
    });
  };
  tell_fields(FieldReported::Scope::turn, turn_fields);
  tell_fields(FieldReported::Scope::choice, choice_fields);
  tell_fields(FieldReported::Scope::message, message_fields);
  if (usage) sink.accept(UsageReported{*usage, usage_json});
  if (const auto known = reason()) sink.accept(TurnFinished{*known});
}

void TurnKeeper::replay(ResponseEncoder& encoder) const {
  for (std::uint32_t i = 0; i < choices_.size(); ++i) choices_[i]->replay(encoder.choice(i));
}

void TurnKeeper::Choice::print(std::string& out, std::uint32_t index) const {
  EventPrinter printer(out, index);
  const auto& events = said.events();
  const CallOutcome unfinished =
      !ended && rests_on_call() ? CallOutcome::complete : CallOutcome::truncated;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const LoggedEvent& event = events[i];
    if (event.kind == Kind::text) printer.text("text", event.text);
    if (event.kind == Kind::reasoning) printer.text("reasoning", event.text);
    if (event.kind == Kind::refusal) printer.text("refusal", event.text);
    if (event.kind != Kind::call) continue;
    LoggedCall call{.id = event.id, .name = event.text, .outcome = unfinished};
    for (; i + 1 < events.size() && events[i + 1].call == event.call; ++i) {
      const LoggedEvent& part = events[i + 1];
      if (part.kind != Kind::arguments && part.kind != Kind::field) break;
      if (part.kind == Kind::arguments) call.arguments += part.text;
    }
    if (i + 1 < events.size() && events[i + 1].kind == Kind::end)
      call.outcome = events[++i].outcome;
    printer.call(event.call, call);
  }
  if (usage) printer.usage(*usage);
  if (const auto known = reason()) printer.finish(*known);
}

std::string TurnKeeper::print_events() const {
  std::string out = "[";
  if (is_too_long()) {
    json::ObjectWriter object(out);
    object.string("type", "too_long");
    object.integer("bytes", static_cast<std::int64_t>(used_));
    object.close();
  } else {
    for (std::uint32_t i = 0; i < choices_.size(); ++i) choices_[i]->print(out, i);
  }
  out.push_back(']');
  return out;
}

std::string TurnKeeper::search_text() const {
  std::string out;
  const auto add = [&out](std::string_view text) {
    if (text.empty()) return;
    if (!out.empty()) out.push_back('\n');
    out.append(text);
  };
  for (const auto& choice : choices_) {
    for (const LoggedCall& call : choice->said.calls()) add(call.name);
    add(choice->said.text());
  }
  return out;
}

}  // namespace callgate::engine
