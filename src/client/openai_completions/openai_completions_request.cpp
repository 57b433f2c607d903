// A Completions request body -> Request:
//
//   {"model":"m","prompt":"Once upon a time","max_tokens":64,"stop":["\n"],"n":2,"stream":true}
#include <utility>

#include "chat/content.h"
#include "chat/field_reader.h"
#include "client/body.h"
#include "client/openai_completions/openai_completions.h"
#include "json/reader.h"

namespace callgate::client {
namespace {

class CompletionsRequestReader : private FieldReader {
 public:
  explicit CompletionsRequestReader(json::Reader& in) : FieldReader(in) {}

  Result<Request> read() {
    request_.origin = kOpenaiCompletions.name;
    std::string name;
    for (std::string_view key; in_.next_member(key);) {
      name = key;
      if (is_null()) {
        in_.null();
      } else if (!read_field(name)) {
        return tl::unexpected(std::move(error_));
      }
    }
    if (!check_whole()) return tl::unexpected(std::move(error_));
    Message& message = request_.messages.emplace_back();
    message.content = text_content(prompt_);
    return std::move(request_);
  }

 private:
  bool read_field(const std::string& name) {
    if (name == "model") return read_string({"model"}, request_.model);
    if (name == "prompt") return read_prompt();
    if (name == "n") return read_choices();
    if (name == "stream") return read_boolean({"stream"}, request_.stream);
    if (name == "stream_options") return read_stream_options();
    if (name == "suffix" || name == "echo" || name == "logprobs") return read_unserved(name);
    if (name == "stop") return keep_texts(request_.extra, name, {"stop"});
    if (!check_kind(name)) return false;
    keep(request_.extra, name);
    return true;
  }

  // What a field that goes upstream as it is has to be.
  bool check_kind(const std::string& name) {
    const json::Kind kind = in_.peek();
    for (const std::string_view number : {"best_of", "frequency_penalty", "max_tokens",
                                          "presence_penalty", "seed", "temperature", "top_p"}) {
      if (name == number) return kind == json::Kind::number || fault_kind({name}, "a number");
    }
    return name != "user" || kind == json::Kind::string || fault_kind({name}, "a string");
  }

  bool read_prompt() {
    constexpr std::string_view kExpected = "a string, or an array of one string";
    has_prompt_ = true;
    if (in_.peek() == json::Kind::string) {
      prompt_ = in_.string();
      return true;
    }
    if (in_.peek() != json::Kind::array) return fault_kind({"prompt"}, kExpected);
    std::size_t count = 0;
    for (; in_.next_element(); ++count) {
      if (count > 0) return fault({"prompt"}, "several prompts", kExpected);
      if (in_.peek() != json::Kind::string) return fault_kind({"prompt", 0}, "a string");
      prompt_ = in_.string();
    }
    return count == 1 || fault({"prompt"}, "an empty array", kExpected);
  }

  bool read_choices() {
    constexpr std::string_view kExpected = "a whole number from 1 to 128";
    if (in_.peek() != json::Kind::number) return fault_kind({"n"}, kExpected);
    const auto value = in_.integer();
    if (!value || *value < 1 || *value > 128) return fault({"n"}, "out of range", kExpected);
    request_.choices = static_cast<std::uint32_t>(*value);
    return true;
  }

  bool read_stream_options() {
    if (in_.peek() != json::Kind::object) return fault_kind({"stream_options"}, "an object");
    for (std::string_view key; in_.next_member(key);) {
      if (key != "include_usage" || is_null()) {
        in_.skip();
      } else if (!read_boolean({"stream_options", FieldPath::kNone, "include_usage"},
                               request_.include_usage)) {
        return false;
      }
    }
    return true;
  }

  // Values that ask for nothing are fine.
  bool read_unserved(const std::string& name) {
    const std::string_view value = in_.raw();
    if (value == "\"\"" || value == "false" || value == "0") return true;
    return fault({name}, "given", "a request without it: a chat model cannot serve it");
  }

  bool check_whole() {
    if (request_.model.empty()) return fault({"model"}, "missing", "the name of a model");
    if (!has_prompt_) return fault({"prompt"}, "missing", "a string");
    return !prompt_.empty() || fault({"prompt"}, "empty", "a prompt");
  }

  Request request_;
  std::string prompt_;
  bool has_prompt_ = false;
};

}  // namespace

Result<Request> decode_openai_completions(const ClientRequest& request) {
  if (auto good = check_body(request.body); !good) return tl::unexpected(good.error());
  json::Reader in(request.body);
  return CompletionsRequestReader(in).read();
}

}  // namespace callgate::client
