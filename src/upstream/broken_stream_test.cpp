// What every wire format does with streams that are broken in the same way. What only one of them knows is tested beside its
// decoder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>

#include "upstream/decoder_testing.h"

namespace callgate::upstream::broken_stream_test {
namespace {

using testing::HasSubstr;

// A turn of text in one wire format. %s stands for the inside of a JSON string.
struct Wire {
  std::string_view name;
  std::string_view start;  // may be empty
  std::string_view text;
  std::string_view reasoning;  // may be empty
  std::string_view end;
  std::string_view whole;  // the answer as one document; empty: there is no such form

  friend std::ostream& operator<<(std::ostream& out, const Wire& wire) { return out << wire.name; }
};

constexpr Wire kWires[] = {
    {"anthropic_messages", R"({"type":"message_start","message":{"id":"m","content":[]}})",
     R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"%s"}})",
     R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"%s"}})",
     R"({"type":"message_delta","delta":{"stop_reason":"end_turn"}})",
     R"({"type":"message","content":[{"type":"text","text":"%s"}],"stop_reason":"end_turn"})"},
    {"codex_app_server", R"({"method":"turn/started","params":{}})",
     R"({"method":"item/agentMessage/delta","params":{"itemId":"m","delta":"%s"}})",
     R"({"method":"item/reasoning/textDelta","params":{"itemId":"r","delta":"%s"}})",
     R"({"method":"turn/completed","params":{"turn":{"status":"completed"}}})", ""},
    {"codex_proto", R"({"id":"1","msg":{"type":"task_started"}})",
     R"({"id":"1","msg":{"type":"agent_message_delta","delta":"%s"}})",
     R"({"id":"1","msg":{"type":"agent_reasoning_delta","delta":"%s"}})",
     R"({"id":"1","msg":{"type":"task_complete","last_agent_message":null}})", ""},
    {"gemini", "", R"({"candidates":[{"content":{"parts":[{"text":"%s"}]},"index":0}]})",
     R"({"candidates":[{"content":{"parts":[{"text":"%s","thought":true}]},"index":0}]})",
     R"({"candidates":[{"content":{"parts":[]},"finishReason":"STOP","index":0}]})",
     R"({"candidates":[{"content":{"parts":[{"text":"%s"}]},"finishReason":"STOP","index":0}]})"},
    {"ollama", "", R"({"message":{"role":"assistant","content":"%s"},"done":false})",
     R"({"message":{"role":"assistant","content":"","thinking":"%s"},"done":false})",
     R"({"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"})",
     R"({"message":{"role":"assistant","content":"%s"},"done":true,"done_reason":"stop"})"},
    {"openai_responses",
     R"({"type":"response.created","response":{"status":"in_progress","output":[]}})",
     R"({"type":"response.output_text.delta","item_id":"m","output_index":1,"delta":"%s"})",
     R"({"type":"response.reasoning_text.delta","item_id":"r","output_index":0,"delta":"%s"})",
     R"({"type":"response.completed","response":{"status":"completed","output":[]}})",
     R"({"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"%s"}]}]})"},
    {"qwen_web", R"({"response.created":{"chat_id":"c"}})",
     R"({"choices":[{"delta":{"content":"%s","phase":"answer","status":"typing"}}]})",
     R"({"choices":[{"delta":{"content":"%s","phase":"think","status":"typing"}}]})",
     R"({"choices":[{"delta":{"content":"","phase":"answer","status":"finished"}}]})",
     R"({"success":true,"data":{"choices":[{"message":{"role":"assistant","content":"%s"}}]}})"},
};

class Upstream {
 public:
  explicit Upstream(const Wire& wire)
      : wire_(wire), decoder_(find(wire.name)->make_decoder(request_)) {}

  Upstream& frame(std::string_view data) {
    decoder_->push({.event = {}, .data = data, .id = {}}, sinks_);
    return *this;
  }
  Upstream& body(std::string_view document) {
    decoder_->push_body(document, sinks_);
    return *this;
  }
  Upstream& start() { return wire_.start.empty() ? *this : frame(wire_.start); }
  Upstream& text(std::string_view inside) { return frame(filled(wire_.text, inside)); }
  Upstream& reasoning(std::string_view inside) { return frame(filled(wire_.reasoning, inside)); }
  std::string ended() {
    frame(wire_.end);
    return closed();
  }
  std::string closed() {
    decoder_->finish(sinks_);
    return print(sinks_.log().events());
  }
  bool finished() const { return decoder_->finished(); }
  std::string text() const { return sinks_.log().text(); }
  std::string events() const { return print(sinks_.log().events()); }
  std::string message() const { return decoder_->error() ? decoder_->error()->message : ""; }
  std::uint32_t repairs(Repair repair) const {
    return decoder_->repairs()[static_cast<std::size_t>(repair)];
  }

  static std::string filled(std::string_view form, std::string_view inside) {
    std::string made(form);
    return made.replace(made.find("%s"), 2, inside);
  }

 private:
  const Wire& wire_;
  Request request_;
  std::unique_ptr<ResponseDecoder> decoder_;
  LoggedChoice sinks_;
};

class BrokenStream : public testing::TestWithParam<Wire> {};

TEST_P(BrokenStream, joins_halves_of_surrogate_pairs_per_channel) {
  Upstream upstream(GetParam());
  upstream.start().reasoning(R"(r\ud83d)").text(R"(a\ud83d)").reasoning(R"(\ude00)");
  upstream.text(R"(\ude00b)").text(R"(\ud83d)").text(R"(\ude00\ud83d)").text(R"(\ude00)");
  const std::string events = upstream.ended();
  EXPECT_EQ(upstream.text(), "a😀b😀😀") << events;
  EXPECT_THAT(events, HasSubstr("reasoning \"r"));
  EXPECT_THAT(events, HasSubstr("reasoning \"😀\""));
  EXPECT_EQ(upstream.repairs(Repair::utf8_invalid), 0u);
}

TEST_P(BrokenStream, replaces_half_a_surrogate_pair_that_stays_alone) {
  Upstream between(GetParam()), last(GetParam());
  between.start().text(R"(a\ud83d)").text("b").ended();
  EXPECT_EQ(between.text(), "a\uFFFDb");
  EXPECT_EQ(between.repairs(Repair::utf8_invalid), 1u);
  last.start().text(R"(a\ud83d)").ended();
  EXPECT_EQ(last.text(), "a\uFFFD");
  EXPECT_EQ(last.repairs(Repair::utf8_invalid), 1u);
}

TEST_P(BrokenStream, ends_with_an_error_when_a_chunk_is_lost) {
  const std::string chunk = Upstream::filled(GetParam().text, "lost");
  for (const std::string_view cut :
       {std::string_view(chunk).substr(0, chunk.size() - 3), std::string_view(chunk).substr(5)}) {
    Upstream upstream(GetParam());
    upstream.start().text("Do ").frame(cut).text("delete it.");
    EXPECT_THAT(upstream.ended(), HasSubstr("finish upstream_error\n")) << cut;
    EXPECT_EQ(upstream.text(), "Do ");
    EXPECT_EQ(upstream.message(), "upstream sent a chunk that is cut short or not JSON");
  }
}

TEST_P(BrokenStream, skips_and_counts_what_is_not_a_chunk) {
  Upstream upstream(GetParam());
  upstream.start().frame("ping").text("a").frame("OK").frame("[1,2]").frame("null").text("b");
  upstream.ended();
  EXPECT_EQ(upstream.text(), "ab");
  EXPECT_EQ(upstream.message(), "");
  EXPECT_EQ(upstream.repairs(Repair::frame_invalid), 4u);
}

TEST_P(BrokenStream, reads_control_characters_that_are_not_escaped) {
  Upstream upstream(GetParam());
  upstream.start().text("Do not\tdelete\x01 it.").ended();
  EXPECT_EQ(upstream.text(), "Do not\tdelete\x01 it.");
  EXPECT_EQ(upstream.repairs(Repair::control_unescaped), 2u);
}

constexpr std::string_view kErrors[] = {
    R"({"error":{"message":"busy","type":"server_error"}})",
    R"({"error":"busy"})",
    R"({"detail":"busy"})",
    R"({"Response":{"Error":{"Code":"InternalError","Message":"busy"},"RequestId":"r"}})",
    R"({"fault":{"faultstring":"busy"}})",
    R"({"exception":"busy"})",
    R"({"statusCode":503,"message":"busy"})",
    R"({"code":20003,"reason":"busy"})",
    R"({"name":"TimeoutError","message":"busy"})",
    R"({"object":"error","message":"busy"})",
    R"({"code":"InternalError.Algo","message":"busy","request_id":"r"})",
    R"({"base_resp":{"status_code":1000,"status_msg":"busy"}})",
    R"({"error_code":336100,"error_msg":"busy","id":"as-1"})",
};

TEST_P(BrokenStream, reads_errors_in_the_words_of_other_servers) {
  for (const std::string_view error : kErrors) {
    Upstream first(GetParam()), later(GetParam());
    EXPECT_EQ(first.frame(error).text("x").closed(), "finish upstream_error\n") << error;
    EXPECT_THAT(first.message(), HasSubstr("busy")) << error;
    later.start().text("a").frame(error).text("b");
    EXPECT_EQ(later.ended(), "text \"a\"\nfinish upstream_error\n") << error;
    EXPECT_THAT(later.message(), HasSubstr("busy")) << error;
  }
}

INSTANTIATE_TEST_SUITE_P(Wires, BrokenStream, testing::ValuesIn(kWires),
                         [](const auto& wire) { return std::string(wire.param.name); });

// The formats whose answers also come as one document.
class BrokenBody : public testing::TestWithParam<Wire> {};

TEST_P(BrokenBody, reads_errors_in_the_words_of_other_servers) {
  for (const std::string_view error : kErrors) {
    Upstream upstream(GetParam());
    EXPECT_EQ(upstream.body(error).closed(), "finish upstream_error\n") << error;
    EXPECT_THAT(upstream.message(), HasSubstr("busy")) << error;
  }
}

TEST_P(BrokenBody, is_an_error_where_it_is_cut_short) {
  const std::string whole = Upstream::filled(GetParam().whole, "Do not delete it.");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Upstream upstream(GetParam());
    EXPECT_EQ(upstream.body(whole.substr(0, size)).closed(), "finish upstream_error\n") << size;
    EXPECT_NE(upstream.message(), "") << size;
  }
  Upstream upstream(GetParam());
  EXPECT_EQ(upstream.body(whole).events(), "text \"Do not delete it.\"\nfinish stop\n");
}

TEST_P(BrokenBody, may_hold_control_characters_halves_of_pairs_and_invalid_bytes) {
  Upstream controls(GetParam()), halves(GetParam()), bytes(GetParam());
  controls.body(Upstream::filled(GetParam().whole, "Do not\tdelete\x01 it."));
  EXPECT_EQ(controls.text(), "Do not\tdelete\x01 it.");
  EXPECT_EQ(controls.repairs(Repair::control_unescaped), 2u);
  halves.body(Upstream::filled(GetParam().whole, R"(a\ud83d\ude00b\ud83dc)"));
  EXPECT_EQ(halves.text(), "a😀b\uFFFDc");
  bytes.body(Upstream::filled(GetParam().whole, "a\xff."));
  EXPECT_EQ(bytes.text(), "a\uFFFD.");
  EXPECT_EQ(bytes.repairs(Repair::utf8_invalid), 1u);
}

INSTANTIATE_TEST_SUITE_P(Wires, BrokenBody,
                         testing::Values(kWires[0], kWires[3], kWires[4], kWires[5], kWires[6]),
                         [](const auto& wire) { return std::string(wire.param.name); });

// The formats that are server-sent events.
class BrokenFrames : public testing::TestWithParam<Wire> {};

TEST_P(BrokenFrames, reads_several_chunks_of_one_frame) {
  const Wire& wire = GetParam();
  Upstream upstream(wire);
  upstream.start().frame(Upstream::filled(wire.text, "a") + "\n" +
                         Upstream::filled(wire.text, "b"));
  upstream.ended();
  EXPECT_EQ(upstream.text(), "ab");
  EXPECT_EQ(upstream.message(), "");
}

TEST_P(BrokenFrames, takes_an_end_without_an_answer_for_an_error) {
  Upstream nothing(GetParam()), started(GetParam());
  EXPECT_EQ(nothing.frame("[DONE]").closed(), "finish upstream_error\n");
  EXPECT_EQ(nothing.message(), "upstream ended its answer without saying anything");
  started.start().frame("[DONE]").closed();
  EXPECT_EQ(started.message(), "upstream ended its answer without saying anything");
}

TEST_P(BrokenFrames, end_at_the_mark_that_servers_add_in_any_spelling) {
  for (const std::string_view mark : {"[DONE]", "\"[DONE]\"", "[done]", "DONE"}) {
    Upstream upstream(GetParam());
    EXPECT_FALSE(upstream.start().text("x").finished());
    EXPECT_TRUE(upstream.frame(mark).finished()) << mark;
    EXPECT_EQ(upstream.message(), "") << mark;
  }
}

INSTANTIATE_TEST_SUITE_P(Wires, BrokenFrames,
                         testing::Values(kWires[0], kWires[3], kWires[5], kWires[6]),
                         [](const auto& wire) { return std::string(wire.param.name); });

}  // namespace
}  // namespace callgate::upstream::broken_stream_test
