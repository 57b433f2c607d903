// An oracle in place of copies: what the Messages encoder writes, the decoder of the wire format reads back as the same events.
// Every golden turn of every wire format goes through it, streamed and whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/source_path_testing.h"
#include "callgate/pipeline.h"
#include "chat/event_log.h"
#include "chat/sealed_reasoning.h"
#include "client/protocol.h"
#include "engine/golden_case.h"
#include "json/member.h"
#include "json/reader.h"
#include "upstream/wire_format.h"

namespace callgate::messages_oracle_test {
namespace {

namespace fs = std::filesystem;

struct Turn {
  std::string format;
  fs::path input;
};

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<Turn> all_turns() {
  std::vector<Turn> turns;
  for (const auto& format : fs::directory_iterator(source_path("golden/wire"))) {
    for (const auto& file : fs::directory_iterator(format.path())) {
      const std::string kind = file.path().extension().string();
      const bool input = kind == ".body" || kind == ".sse" || kind == ".lines";
      if (!input || file.path().stem().string().find('.') != std::string::npos) continue;
      turns.push_back({format.path().filename().string(), file.path()});
    }
  }
  std::sort(turns.begin(), turns.end(),
            [](const Turn& a, const Turn& b) { return a.input < b.input; });
  return turns;
}

// The events of an answer, as a client's encoder gets them.
EventLog events_of(std::string_view wire, const Request& request, std::string_view bytes) {
  EventLog log;
  PipelineOptions options = engine::golden_options(wire, "openai_chat");
  options.sink = &log;
  auto pipeline = Pipeline::make(request, options);
  std::string out;
  pipeline->push(bytes, out);
  if (!pipeline->finished()) pipeline->finish(out);
  return log;
}

// Does nothing where there is nothing to compare: docs/protocols.md says what Messages cannot carry.
class Comparable final : public EventSink {
 public:
  void accept(const Event& event) override {
    if (const auto* field = std::get_if<FieldReported>(&event)) return accept_field(*field);
    if (const auto* usage = std::get_if<UsageReported>(&event)) {
      last = usage->usage;
      return;
    }
    if (const auto* finish = std::get_if<TurnFinished>(&event)) {
      // A turn that refused ends as refused.
      const bool turned = !refused.empty() && finish->reason == FinishReason::stop;
      return log.accept(turned ? Event(TurnFinished{FinishReason::content_filter})
                               : Event(*finish));
    }
    // The text of a refusal stands at the end of a message.
    if (const auto* refusal = std::get_if<RefusalDelta>(&event)) {
      refused.append(refusal->text);
      return;
    }
    if (std::get_if<CallFinished>(&event) != nullptr) {
      return log.accept(CallFinished{std::get<CallFinished>(event).call, CallOutcome::complete});
    }
    log.accept(event);
  }

  std::string print_all() const {
    std::string text = print(log.events()) + "refusal " + refused + "\n";
    if (last) {
      text += std::to_string(last->prompt_tokens) + " " + std::to_string(last->completion_tokens) +
              " " + std::to_string(last->cached_tokens) + " " +
              std::to_string(last->cache_write_tokens) + " " +
              std::to_string(last->reasoning_tokens) + "\n";
    }
    return text + details;
  }

 private:
  void accept_field(const FieldReported& field) {
    if (field.name == "stop_reason" || field.name == "matched_stop") return;
    if (field.name != "reasoning_details") return;
    json::Reader in(field.json);
    while (in.next_element()) add_detail(in.raw());
  }

  // What the encoder sealed is itself again; a mark of plain thinking is nothing.
  void add_detail(std::string_view detail) {
    std::string mark = json::member_text(detail, "signature");
    if (mark.empty()) mark = json::member_text(detail, "data");
    if (mark.empty()) return;
    const auto sealed = unseal_reasoning(mark);
    if (!sealed) {
      details.append(mark).append("\n");
      return;
    }
    json::Reader list(json::member_json(*sealed, "details"));
    if (list.peek() == json::Kind::array) {
      while (list.next_element()) add_detail(list.raw());
    } else {
      add_detail(*sealed);
    }
  }

  EventLog log;
  std::string refused;
  std::string details;
  std::optional<Usage> last;
};

std::string comparable(const EventLog& log) {
  Comparable sink;
  for (const LoggedEvent& event : log.events()) tell(event, sink);
  return sink.print_all();
}

// Usage that nobody stated is 0 in a message.
void ensure_usage(EventLog& log) {
  if (log.usage()) return;
  EventLog with;
  for (const LoggedEvent& event : log.events()) {
    if (event.kind == LoggedEvent::Kind::finish) with.accept(UsageReported{});
    tell(event, with);
  }
  log = with;
}

class MessagesOracle : public testing::TestWithParam<Turn> {};

TEST_P(MessagesOracle, reads_what_was_written) {
  const Turn& turn = GetParam();
  const fs::path request_path = fs::path(turn.input).replace_extension(".request.json");
  const std::string body = fs::exists(request_path) ? contents(request_path)
                                                    : std::string(engine::usual_golden_request());
  const Protocol& messages = *client::find("anthropic_messages");
  for (const bool stream : {true, false}) {
    Result<Request> request = client::find("openai_chat")->decode({.body = body});
    ASSERT_TRUE(request.has_value());
    request->stream = stream;
    request->choices = 1;
    EventLog log = events_of(turn.format, *request, contents(turn.input));
    if (!log.reason() || log.reason() == FinishReason::upstream_error) return;
    // Arguments that are no object travel in one, in a whole message.
    const std::vector<LoggedCall> calls = log.calls();
    const bool objects = std::all_of(calls.begin(), calls.end(), [](const LoggedCall& call) {
      return call.outcome == CallOutcome::complete && call.arguments.starts_with('{');
    });
    if (!stream && !objects) continue;
    ensure_usage(log);
    const auto encoder = messages.make_encoder(*request, {.id = "msg_1", .model = "m"});
    std::string bytes;
    encoder->bind(bytes);
    for (const LoggedEvent& event : log.events()) tell(event, encoder->choice(0));
    encoder->finish({});
    const EventLog again = events_of("anthropic_messages", *request, bytes);
    EXPECT_EQ(comparable(again), comparable(log)) << bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, MessagesOracle, testing::ValuesIn(all_turns()),
                         [](const auto& turn) {
                           return turn.param.format + "_" + turn.param.input.stem().string();
                         });

// What both sides can carry of a request: decode(encode(r)) == r.
TEST(MessagesRequestOracle, reads_what_was_encoded) {
  const std::string body =
      R"({"model":"m","max_tokens":9,"stream":true,"temperature":0.5,"stop":["a"],
    "user":"u","reasoning_effort":"high","parallel_tool_calls":false,"tool_choice":"required",
    "tools":[{"type":"function","function":{"name":"find","description":"Finds","parameters":{"type":"object"},"strict":true}}],
    "messages":[{"role":"system","content":"be brief"},
      {"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA=="}}]},
      {"role":"assistant","content":"b","tool_calls":[{"id":"t1","type":"function","function":{"name":"find","arguments":"{\"q\":1}"}}],
        "reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"EqQB","format":"anthropic-claude-v1","index":0}]},
      {"role":"tool","tool_call_id":"t1","content":"42"},
      {"role":"user","content":"go on"}]})";
  const WireFormat& chat = *upstream::find("openai_chat");
  const WireFormat& wire = *upstream::find("anthropic_messages");
  const auto request = client::find("openai_chat")->decode({.body = body});
  ASSERT_TRUE(request.has_value());
  const auto encoded = wire.encode(*request, {.model = "m", .stream = true});
  ASSERT_TRUE(encoded.has_value());
  const auto decoded = client::find("anthropic_messages")->decode({.body = encoded->body});
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  // Compared in the canonical form, in the order of its fields.
  const auto canonical = [&](Request each) {
    each.origin = {};
    std::erase_if(each.extra, [](const ExtraField& field) { return field.name == "thinking"; });
    std::sort(each.extra.begin(), each.extra.end(),
              [](const ExtraField& a, const ExtraField& b) { return a.name < b.name; });
    return chat.encode(each, {.model = "m", .stream = true})->body;
  };
  EXPECT_EQ(canonical(*decoded), canonical(*request));
}

}  // namespace
}  // namespace callgate::messages_oracle_test
