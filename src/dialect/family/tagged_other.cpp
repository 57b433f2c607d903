// Calls of a tagged dialect whose arguments are not tagged:
//
//   <tool_call>{"name": "f", "arguments": {"city": "Paris"}}</tool_call>
//   <tool_call>f({"city": "Paris"})</tool_call>        f{"city": "Paris"}        f(city="Paris")
//   <tool_call>f city=Paris days=3</tool_call>
#include "dialect/family/marked_json.h"
#include "dialect/family/nested_tags.h"
#include "dialect/family/tagged_arguments.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMaxOtherWord = 256;
constexpr CallKeys kObjectKeys{};

bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_word(char c) { return begins_word(c) || (c >= '0' && c <= '9') || c == '-'; }

std::string_view other_byte(const char& c) { return {&c, 1}; }

}  // namespace

// The call is a name without a tag of its own.
bool TaggedCalls::is_bare_name() const {
  return grammar_->call.style == NameTag::Style::text && grammar_->call.end.empty();
}

bool TaggedCalls::read_objects(Output& out) {
  at_ = At::object_calls;
  byte_used_ = false;
  if (objects_ == nullptr) objects_ = make_marked_json(*objects_prose_, kObjectKeys, options_);
  objects_->open(opener_, out);
  return true;
}

// Behind a bare name, or behind arguments that are whole.
bool TaggedCalls::read_bare(char c, Output& out) {
  if (at_ == At::call_text && c == '(' && !parenthesis_) {
    parenthesis_ = true;
    out.hold(other_byte(c));
    return true;
  }
  if (c == ')' && parenthesis_) {
    if (at_ == At::call_text) {
      begin_call(out);
      stray_close_ = true;
    }
    parenthesis_ = false;
    out.hold(other_byte(c));
    return true;
  }
  if (at_ == At::call_text && begins_word(c)) {
    if (!parenthesis_) {
      word_.clear();
      at_ = At::pair_key;
    } else {
      begin_call(out);
      whole_json_ = true;
      python_.begin(schema_, limit_, json_);
      at_ = At::python;
    }
    byte_used_ = false;
    return true;
  }
  return no_token(c, out);
}

std::size_t TaggedCalls::read_python(std::string_view bytes, Output& out) {
  const std::size_t used = python_.push(bytes, json_);
  out.argument_bytes(bytes.substr(0, used));
  if (python_.state() == PythonArguments::State::open) return used;
  parenthesis_ = false;
  at_ = At::after_json;
  if (python_.state() == PythonArguments::State::closed) return used;
  python_.cut(json_);
  end_call(CallOutcome::malformed, out);
  return used;
}

// Only a word and `=` begin a call. Before that nothing has started: what was read is text when they do not come.
bool TaggedCalls::read_pair_key(char c, Output& out) {
  const bool begun = out.call_open();
  if (word_.empty() && (is_space(c) || c == ',' || c == stop_)) {
    if (c != stop_) {
      out.hold(other_byte(c));
      return true;
    }
    at_ = At::body;
    return read_token(c, out);
  }
  if (word_.empty() ? begins_word(c) : continues_word(c) && word_.size() < kMaxOtherWord) {
    word_.push_back(c);
    out.hold(other_byte(c));
    return true;
  }
  if (c != '=' || word_.empty()) {
    byte_used_ = false;
    return begun ? end_call(CallOutcome::malformed, out) : reject({});
  }
  if (!begun) begin_call(out);
  out.hold(other_byte(c));
  place_ = schema_.member(word_);
  seen_.add(word_);
  json_.push_back(parameters_++ == 0 ? '{' : ',');
  json::append_string(json_, word_);
  json_.push_back(':');
  word_.clear();
  quote_ = 0;
  at_ = At::pair_value;
  return true;
}

// A word, or a text in quotes.
bool TaggedCalls::read_pair_value(char c, Output& out) {
  const bool ends = quote_ != 0 ? c == quote_ && !word_.empty() : is_space(c) || c == stop_;
  if (ends) {
    const bool quoted = quote_ != 0;
    end_pair();
    at_ = At::pair_key;
    if (quoted) {
      out.hold(other_byte(c));
    } else {
      byte_used_ = false;
    }
    return true;
  }
  if (word_.empty() && (c == '"' || c == '\'')) quote_ = c;
  word_.push_back(c);
  out.argument_bytes(other_byte(c));
  if (word_.size() < limit_) return true;
  end_pair();
  return end_call(CallOutcome::malformed, out);
}

void TaggedCalls::end_pair() {
  std::string_view value = word_;
  if (quote_ != 0) value.remove_prefix(1);
  append_raw_value(json_, value, place_.kinds());
  quote_ = 0;
  word_.clear();
}

}  // namespace callgate::dialect
