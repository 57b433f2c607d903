#include "inspector/replay_request.h"

#include "base/base64.h"
#include "chat/message_json.h"
#include "chat/tool_json.h"
#include "json/reader.h"
#include "json/writer.h"
#include "replay/anatomy.h"
#include "replay/replay_golden.h"

namespace callgate::server {
namespace {

tl::unexpected<Error> wrong_question(std::string message, std::string param) {
  return fail(ErrorCode::invalid_request, std::move(message), std::move(param));
}

Result<std::vector<ToolSpec>> read_tool_list(json::Reader& in) {
  auto tools = read_tools(in.raw());
  if (!tools) tools.error().param = "tools";
  return tools;
}

void read_policies(json::Reader& in, ReplayQuestion& into) {
  for (std::string_view name; in.next_member(name);) {
    std::string policy(name);
    into.policy.emplace_back(std::move(policy), in.string());
  }
}

// What a member says, where it is text.
std::string* text_member(ReplayQuestion& into, std::string_view key) {
  if (key == "request") return &into.request;
  if (key == "wire") return &into.wire;
  if (key == "dialect") return &into.dialect;
  if (key == "protocol") return &into.protocol;
  if (key == "split") return &into.split;
  return nullptr;
}

Result<void> read_replay_member(json::Reader& in, std::string_view key, ReplayQuestion& into) {
  if (std::string* text = text_member(into, key)) {
    *text = in.string();
  } else if (key == "bytes") {
    into.bytes = in.string();
  } else if (key == "base64") {
    into.bytes = base64::decode(in.string());
    if (!into.bytes) return wrong_question("base64: not valid", "base64");
  } else if (key == "round") {
    into.round = static_cast<std::size_t>(in.integer().value_or(0));
  } else if (key == "golden") {
    into.golden = in.boolean();
  } else if (key == "policy") {
    read_policies(in, into);
  } else if (key == "tools" && in.peek() == json::Kind::array) {
    auto tools = read_tool_list(in);
    if (!tools) return tl::unexpected(tools.error());
    into.tools = std::move(*tools);
  } else {
    in.skip();
  }
  return {};
}

Result<replay::ReplayCase> load_turn(const ReplayQuestion& question,
                                     std::optional<CaptureJob> job) {
  if (job)
    return replay::to_replay_case(masked_record(std::move(*job)), question.round,
                                  question.dialects.get());
  const std::string& bytes = *question.bytes;
  if (!looks_like_capture(bytes)) return replay::to_replay_case(bytes, question.wire, "");
  const auto record = read_capture(bytes);
  if (!record) return tl::unexpected(record.error());
  return replay::to_replay_case(*record, question.round, question.dialects.get());
}

Result<replay::ReplayCase> make_turn(const ReplayQuestion& question,
                                     std::optional<CaptureJob> job) {
  auto turn = load_turn(question, std::move(job));
  if (!turn) return turn;
  if (question.tools) turn->request.tools = *question.tools;
  if (!question.dialect.empty()) {
    if (auto set = set_dialect(*turn, question.dialect, question.dialects.get()); !set)
      return tl::unexpected(set.error());
  }
  if (!question.protocol.empty()) {
    if (auto set = set_protocol(*turn, question.protocol); !set) return tl::unexpected(set.error());
  }
  for (const auto& [name, value] : question.policy) {
    if (set_policy(turn->options.policy, name, value)) continue;
    return wrong_question("policy." + name + ": \"" + value + "\" is not a value of it", "policy");
  }
  return turn;
}

std::string print_golden(const std::vector<replay::GoldenFile>& files) {
  std::string out = "{\"object\":\"golden\",\"files\":[";
  for (const replay::GoldenFile& file : files) {
    if (out.back() != '[') out += ',';
    json::ObjectWriter object(out);
    object.string("suffix", file.suffix);
    object.string("text", file.text);
    object.close();
  }
  return out + "]}";
}

void append_reading(std::string& out, std::string_view dialect, const EventLog& log,
                    const replay::Explanation& explanation) {
  json::ObjectWriter object(out);
  object.string("dialect", dialect);
  object.string("text", log.text());
  object.string("reasoning", log.reasoning());
  std::string& calls = object.key("calls");
  append_list(calls, log.calls(), [&](const LoggedCall& call) {
    json::ObjectWriter one(calls);
    one.string("name", call.name);
    one.string("arguments", call.arguments);
    one.string("outcome", to_string(call.outcome));
    one.close();
  });
  object.raw("stayed_text", explanation.json());
  object.close();
}

}  // namespace

Result<ReplayQuestion> read_replay_question(std::string_view body) {
  ReplayQuestion question;
  json::Reader in(body);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    if (auto read = read_replay_member(in, name, question); !read) {
      return tl::unexpected(read.error());
    }
  }
  if (!in.finish()) return wrong_question("the body is not a JSON object", "");
  if (question.request.empty() && !question.bytes) {
    return wrong_question("request: missing, expected the id of a turn, or bytes", "request");
  }
  return question;
}

Result<std::string> answer_replay(const ReplayQuestion& question, std::optional<CaptureJob> job) {
  std::optional<replay::Split> split;
  if (question.split != "original") {
    const auto parsed = replay::parse_split(question.split);
    if (!parsed)
      return wrong_question(
          "split: expected original, whole, byte, a number, or "
          "random:SEED",
          "split");
    split = *parsed;
  }
  const auto turn = make_turn(question, std::move(job));
  if (!turn) return tl::unexpected(turn.error());
  if (question.golden) {
    const auto files = replay::to_golden(*turn);
    if (!files) return tl::unexpected(files.error());
    return print_golden(*files);
  }
  std::string out;
  json::ObjectWriter object(out);
  object.string("object", "replay");
  object.string("wire", turn->options.wire);
  object.string("protocol", turn->options.protocol);
  object.string("dialect",
                turn->options.dialect == nullptr ? "native" : turn->options.dialect->name);
  replay::append_json(object.key("anatomy"), replay::dissect(*turn, split));
  object.close();
  return out;
}

Result<ParseQuestion> read_parse_question(std::string_view body) {
  ParseQuestion question;
  json::Reader in(body);
  for (std::string_view key; in.next_member(key);) {
    if (key == "text") {
      question.text = in.string();
    } else if (key == "split") {
      question.split = in.string();
    } else if (key == "tools" && in.peek() == json::Kind::array) {
      auto tools = read_tool_list(in);
      if (!tools) return tl::unexpected(tools.error());
      question.tools = std::move(*tools);
    } else {
      in.skip();
    }
  }
  if (!in.finish()) return wrong_question("the body is not a JSON object", "");
  if (question.text.size() > kMaxParsedText) {
    return wrong_question("text: longer than " + std::to_string(kMaxParsedText) + " bytes", "text");
  }
  return question;
}

Result<std::string> answer_parse(const ParseQuestion& question) {
  const auto split = replay::parse_split(question.split);
  if (!split)
    return wrong_question("split: expected whole, byte, a number, or random:SEED", "split");
  replay::ParseCase input;
  input.text = question.text;
  input.tools = question.tools;
  std::string out;
  json::ObjectWriter object(out);
  object.string("object", "readings");
  std::string& ranked = object.key("ranked");
  const replay::Survey survey = replay::survey_case(input, *split);
  append_list(ranked, survey.found,
              [&](const auto& found) { json::append_string(ranked, found.dialect); });
  std::string& data = object.key("data");
  data += '[';
  input.dialects = question.dialects.get();
  for (const Dialect* dialect :
       question.dialects == nullptr ? dialect::all() : question.dialects->all()) {
    if (dialect->name == "native") continue;
    input.dialect = dialect->name;
    replay::Explanation explanation(dialect->name);
    const auto log = replay::run_case(input, *split, &explanation);
    if (data.back() != '[') data += ',';
    append_reading(data, dialect->name, *log, explanation);
  }
  data += ']';
  object.close();
  return out;
}

}  // namespace callgate::server
