// AnswerReader: errors inside a 200 answer, in the shapes of several vendors.
//
//   {"error":{"message":"..."}}    {"error":"..."}    {"detail":"..."}    {"object":"error","message":"..."}
//   {"code":"InternalError.Algo","message":"..."}    {"base_resp":{"status_code":1000,"status_msg":"..."}}
//   {"Response":{"Error":{"Code":"...","Message":"..."}}}    {"fault":{"faultstring":"..."}}    {"statusCode":500,"message":"..."}
//   {"error_code":18,"error_msg":"..."}    {"header":{"code":10013,"message":"..."}}    {"__type":"...Exception","Message":"..."}
#include "upstream/openai_chat/openai_answer.h"
#include "upstream/openai_chat/openai_others.h"

namespace callgate::upstream {
namespace {

// Words and numbers that servers put into the codes of good answers.
bool is_good(std::string_view code) {
  const bool is_2xx = code.size() == 3 && code.front() == '2';
  return code.empty() || code == "0" || code == "ok" || code == "OK" || code == "success" ||
         code == "Success" || is_2xx;
}

bool names_an_error(std::string_view type) {
  return type.ends_with("error") || type.ends_with("Error") || type.ends_with("Exception");
}

bool is_failure_status(std::string_view status) {
  const bool refused = status.size() == 3 && (status.front() == '4' || status.front() == '5');
  return refused || status == "error" || status == "failed" || status == "fail";
}

bool is_empty(std::string_view json) {
  return json == "{}" || json == "[]" || json == "\"\"" || json == "null";
}

}  // namespace

// Servers send `"error":null`, `"error":""` or `"error":{}` beside good answers.
std::string_view AnswerReader::read_error() {
  const json::Kind kind = in_.peek();
  const std::string_view json = in_.raw();
  const bool scalar = kind == json::Kind::boolean || kind == json::Kind::number;
  if (scalar && json != "false" && json != "0") signs_.failure = true;
  return scalar || is_empty(json) ? std::string_view() : json;
}

void AnswerReader::read_other_member(std::string_view key) {
  const json::Kind kind = in_.peek();
  const bool is_text = kind == json::Kind::string;
  if (key == "id" || key == "created" || key == "model") return in_.skip();
  ++signs_.members;
  if (key == "object" && is_text) {
    signs_.certain = signs_.certain || in_.string() == "error";
  } else if (key == "base_resp" && kind == json::Kind::object) {
    read_code_of("status_code");
  } else if (key == "error_code" || key == "errno" || key == "ErrorCode") {
    signs_.certain = read_code() || signs_.certain;
  } else if (key == "error_msg" || key == "error_message" || key == "errmsg" || key == "ErrorMsg" ||
             key == "errors" || key == "Error" || key == "detail" || key == "fault" ||
             key == "exception" || key.ends_with("Exception")) {
    signs_.failure = !is_empty(in_.raw()) || signs_.failure;
  } else if (key == "Response" && kind == json::Kind::object) {
    read_response();
  } else if (key == "message" || key == "msg" || key == "Message" || key == "reason") {
    signs_.message = (is_text && !in_.string().empty()) || signs_.message;
    if (!is_text) in_.skip();
  } else if (key == "code") {
    signs_.code = read_code() || signs_.code;
  } else if (key == "header" && kind == json::Kind::object) {
    read_code_of("code");
  } else if ((key == "type" || key == "__type" || key == "name") && is_text) {
    const std::string_view type = in_.string();
    signs_.failure = signs_.failure || type == "error";
    signs_.code = signs_.code || names_an_error(type);
  } else if (key == "success" && kind == json::Kind::boolean) {
    signs_.failure = !in_.boolean() || signs_.failure;
  } else if ((key == "status" || key == "status_code" || key == "statusCode") &&
             (is_text || kind == json::Kind::number)) {
    signs_.failure = is_failure_status(is_text ? in_.string() : in_.number()) || signs_.failure;
  } else if (is_envelope_member(key)) {
    in_.skip();
  } else {
    keep_other(key, answer_.others);
  }
}

// Tencent's envelope, which holds good answers as well.
void AnswerReader::read_response() {
  for (std::string_view key; in_.next_member(key);) {
    const bool error = key == "Error" && in_.peek() == json::Kind::object;
    signs_.certain = signs_.certain || error;
    in_.skip();
  }
}

// Whether the object that comes next has a code of an error.
void AnswerReader::read_code_of(std::string_view name) {
  for (std::string_view key; in_.next_member(key);) {
    if (key == name) {
      signs_.certain = read_code() || signs_.certain;
    } else {
      in_.skip();
    }
  }
}

// Whether the code that comes next is one of an error.
bool AnswerReader::read_code() {
  if (in_.peek() == json::Kind::string) return !is_good(in_.string());
  if (in_.peek() == json::Kind::number) return !is_good(in_.number());
  in_.skip();
  return false;
}

bool AnswerReader::is_error() const {
  if (signs_.certain) return true;
  if (!answer_.choices.empty() || answer_.usage) return false;
  return signs_.failure || (signs_.message && (signs_.code || signs_.members == 1));
}

}  // namespace callgate::upstream
