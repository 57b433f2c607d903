#include "inspector/smoke_check.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/url_query.h"
#include "chat/message_json.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

tl::unexpected<Error> unknown_protocol(std::string_view protocol) {
  std::string known;
  for (const std::string_view each : contract::contract_protocols()) {
    known.append(known.empty() ? "" : "|").append(each);
  }
  return fail(ErrorCode::invalid_request,
              "protocol: " + std::string(protocol) + ", expected " + known, "protocol");
}

bool is_known(std::string_view protocol) {
  const auto known = contract::contract_protocols();
  return std::find(known.begin(), known.end(), protocol) != known.end();
}

// Where this gateway answers that protocol.
std::string path_of(const contract::SmokeQuestion& question) {
  if (question.protocol == "ollama") return contract::smoke_path(question);
  return (question.protocol == "gemini" ? "/v1beta" : "/v1") + contract::smoke_path(question);
}

}  // namespace

Result<contract::SmokeQuestion> read_smoke_question(std::string_view query) {
  contract::SmokeQuestion question;
  for (UrlParameter& parameter : read_url_query(query)) {
    if (parameter.name == "model") question.model = std::move(parameter.value);
    if (parameter.name == "protocol") question.protocol = std::move(parameter.value);
  }
  if (question.model.empty()) return fail(ErrorCode::invalid_request, "model: missing", "model");
  if (!is_known(question.protocol)) return unknown_protocol(question.protocol);
  return question;
}

std::string print_smoke_request(const contract::SmokeQuestion& question) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("object", "smoke_request");
  object.string("path", path_of(question));
  object.string("body", contract::smoke_request(question));
  object.close();
  return out;
}

Result<SmokeAnswer> read_smoke_answer(std::string_view body) {
  SmokeAnswer answer;
  bool valid = true;
  json::Reader in(body);
  for (std::string_view key; in.next_member(key);) {
    if (key == "protocol") {
      answer.question.protocol = in.string();
    } else if (key == "status") {
      answer.status = static_cast<int>(in.integer().value_or(0));
    } else if (key == "content_type") {
      answer.content_type = in.string();
    } else if (key == "base64") {
      auto bytes = base64::decode(in.string());
      valid = bytes.has_value();
      if (valid) answer.bytes = std::move(*bytes);
    } else {
      in.skip();
    }
  }
  if (!in.finish()) return fail(ErrorCode::invalid_request, "the body is not a JSON object", "");
  if (!valid) return fail(ErrorCode::invalid_request, "base64: not valid", "base64");
  if (!is_known(answer.question.protocol)) return unknown_protocol(answer.question.protocol);
  return answer;
}

std::string print_smoke_verdicts(const SmokeAnswer& answer) {
  const contract::ContractTerms terms = contract::smoke_terms(answer.question);
  const auto contract = contract::make_contract(answer.question.protocol, terms);
  contract->accept_head(answer.status, answer.content_type);
  contract->push(answer.bytes);
  contract->finish();
  const std::vector<contract::RuleVerdict> verdicts = contract->verdicts();
  const auto count = [&](contract::Verdict wanted) {
    return std::count_if(verdicts.begin(), verdicts.end(),
                         [&](const auto& each) { return each.verdict == wanted; });
  };
  std::string out;
  json::ObjectWriter object(out);
  object.string("object", "smoke_run");
  object.integer("passed", count(contract::Verdict::pass));
  object.integer("failed", count(contract::Verdict::fail));
  append_list(object.key("rules"), verdicts, [&](const contract::RuleVerdict& verdict) {
    json::ObjectWriter row(out);
    row.string("rule", verdict.rule);
    row.string("verdict", to_string(verdict.verdict));
    row.string("seen", verdict.seen);
    row.close();
  });
  object.string("transcript", contract->transcript());
  object.close();
  return out;
}

}  // namespace callgate::server
