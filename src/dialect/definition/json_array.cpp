// What guided decoding makes of a required or named tool choice, any model: a bare list of calls, or the bare arguments
// of the only declared tool.
//
//   [{"name": "get_weather", "parameters": {"city": "Paris"}}]
//   {"city": "Paris"}
#include <algorithm>

#include "dialect/family/choice_reader.h"
#include "dialect/family/marked_json.h"
#include "json/reader.h"

namespace callgate::dialect::json_array {
namespace {

constexpr Opener kOpen[] = {
    {"[", Opener::Where::anywhere, Opener::Names::declared, Opener::InCode::text},
    {"{", Opener::Where::first, Opener::Names::declared}};
constexpr Prose kProse{.reasoning = kThink, .call_open = kOpen};
constexpr CallKeys kKeys{};

std::vector<std::string> properties_of(const ToolSpec& tool) {
  std::vector<std::string> names;
  if (tool.parameters.empty()) return names;
  json::Reader in(tool.parameters.text);
  for (std::string_view key; in.next_member(key);) {
    if (key != "properties" || in.peek() != json::Kind::object) {
      in.skip();
      continue;
    }
    for (std::string_view name; in.next_member(name);) {
      names.emplace_back(name);
      in.skip();
    }
  }
  return names;
}

// An object: a call when it reads as one, else the arguments of the only tool, if their first key is one of its
// properties.
class ObjectReader final : public CallReader {
 public:
  explicit ObjectReader(const DialectOptions& options)
      : call_(make_marked_json(kProse, kKeys, options)), arguments_(kProse) {
    if (options.tools.size() != 1) return;
    tool_ = options.tools[0].name;
    properties_ = properties_of(options.tools[0]);
  }

  void open(std::size_t opener, Output& out) override {
    state_ = State::first_key;
    opener_ = opener;
    key_.clear();
    string_.begin();
    in_key_ = false;
    if (tool_.empty()) be_call(out);
  }

  Step push(std::string_view bytes, Output& out) override {
    switch (state_) {
      case State::first_key:
        return push_key(bytes, out);
      case State::call:
        return call_->push(bytes, out);
      case State::arguments:
        return push_arguments(bytes, out);
    }
    return {};
  }

  void finish(Output& out) override {
    if (state_ == State::call) call_->finish(out);
    if (state_ == State::arguments) out.finish_call(arguments_.finish(out));
  }

  bool overflow(Output& out) override { return state_ == State::call && call_->overflow(out); }

 private:
  enum class State : std::uint8_t { first_key, call, arguments };

  Step push_key(std::string_view bytes, Output& out) {
    std::size_t at = 0;
    while (at < bytes.size() && !in_key_ && is_space(bytes[at])) ++at;
    if (at < bytes.size() && !in_key_ && bytes[at] == '"') {
      in_key_ = true;
      ++at;
    }
    if (in_key_) at += string_.push(bytes.substr(at), key_);
    out.hold(bytes.substr(0, at));
    const bool decidable = in_key_ ? string_.closed() : at < bytes.size();
    return {.used = at, .next = decidable ? decide(out) : Step::Next::more};
  }

  Step::Next decide(Output& out) {
    const bool ours = std::find(properties_.begin(), properties_.end(), key_) != properties_.end();
    const bool empty = !in_key_ && properties_.empty();
    if (!ours && !empty) return be_call(out);
    const std::string held(out.held());
    out.unhold(held.size());
    out.start_call(tool_);
    state_ = State::arguments;
    arguments_.begin();
    arguments_.push(held, out);
    return Step::Next::more;
  }

  // Reads what has been read of the object again, as a call. The brace stays held as the opener.
  Step::Next be_call(Output& out) {
    const std::string read(out.held().substr(1));
    state_ = State::call;
    out.unhold(read.size());
    call_->open(opener_, out);
    return call_->push(read, out).next;
  }

  Step push_arguments(std::string_view bytes, Output& out) {
    const JsonArguments::Result result = arguments_.push(bytes, out);
    if (result.state == JsonArguments::State::inside) return {.used = result.used};
    const bool whole = result.state == JsonArguments::State::complete;
    const bool left = out.finish_call(whole ? CallOutcome::complete : CallOutcome::malformed);
    return {.used = result.used,
            .next = left ? Step::Next::closed : Step::Next::rejected,
            .replay = result.replay};
  }

  std::unique_ptr<CallReader> call_;
  JsonArguments arguments_;
  std::string tool_;  // the only one, or none
  std::vector<std::string> properties_;
  JsonString string_;
  State state_ = State::first_key;
  std::size_t opener_ = 0;
  bool in_key_ = false;
  std::string key_;
};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  std::vector<Alternative> shapes;
  shapes.push_back({"[", make_marked_json(kProse, kKeys, options)});
  shapes.push_back({"{", std::make_unique<ObjectReader>(options)});
  return make_turn_parser(kProse, make_choice(kProse, std::move(shapes)), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "json_array", .spec = R"([{"name": "f", "parameters": {...}}])", .make = make};

}  // namespace callgate::dialect::json_array
