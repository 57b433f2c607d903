#include "replay/anatomy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/source_path_testing.h"
#include "json/reader.h"
#include "replay/text_places.h"

namespace callgate::replay::anatomy_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::string_view kAsk =
    R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],)"
    R"("tools":[{"type":"function","function":{"name":"find","parameters":{"type":"object"}}}]})";

std::string text_frame(std::string_view json) {
  return "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":" + std::string(json) +
         "}}]}\n\n";
}

ReplayCase turn_of(const std::string& bytes, std::string_view dialect) {
  ReplayCase input = *to_replay_case(bytes, "openai_chat", kAsk);
  EXPECT_TRUE(set_dialect(input, dialect));
  return input;
}

std::string joined_text(const Anatomy& anatomy) {
  std::string text;
  for (const AnatomyStep& step : anatomy.steps) {
    for (const AnatomyEvent& seen : step.events) {
      if (seen.event.kind == LoggedEvent::Kind::text) text += seen.event.text;
    }
  }
  return text;
}

TEST(TextPlaces, finds_a_byte_of_the_text_in_the_stream) {
  const std::string upstream = text_frame(R"("a\n\u00e9b")") + text_frame(R"("\ud83d\ude00c")");
  const std::size_t second = text_frame(R"("a\n\u00e9b")").size();
  TextPlaces places;
  places.add("a\n\u00e9b", 0, second);
  places.add("\U0001F600c", second, upstream.size());
  const auto at = [&](std::uint64_t byte) {
    return upstream.substr(places.find(byte, upstream), 2);
  };
  EXPECT_EQ(at(0), "a\\");
  EXPECT_EQ(at(1), "\\n");
  EXPECT_EQ(at(2), "\\u");  // the first byte of é
  EXPECT_EQ(at(3), "\\u");  // and the second
  EXPECT_EQ(at(4), "b\"");
  EXPECT_EQ(at(5), "\\u");
  EXPECT_EQ(at(9), "c\"");
  EXPECT_EQ(at(10), "\"}");  // the end
}

TEST(TextPlaces, gives_the_frame_of_text_that_it_cannot_find) {
  TextPlaces places;
  places.add("something else", 7, 20);
  EXPECT_EQ(places.find(3, std::string(30, 'x')), 7u);
  EXPECT_EQ(TextPlaces().find(3, "abc"), 0u);
}

TEST(Anatomy, pins_why_markup_stayed_text_at_its_byte) {
  const std::string bytes = text_frame(R"("Look: ")") + text_frame(R"("<tool_call>{")") +
                            text_frame(R"("'name': 'find'}")") + "data: [DONE]\n\n";
  const Anatomy anatomy = dissect(turn_of(bytes, "hermes"));
  ASSERT_FALSE(anatomy.pins.empty());
  const AnatomyPin& pin = anatomy.pins[0];
  EXPECT_EQ(pin.kind, AnatomyPin::Kind::stayed_text);
  EXPECT_EQ(pin.name, "hermes");
  EXPECT_THAT(pin.text, HasSubstr("found \"'\""));
  EXPECT_EQ(bytes.substr(pin.begin, 11), "<tool_call>");
  EXPECT_EQ(bytes.substr(pin.end, 6), "'name'");
  EXPECT_EQ(pin.step, 2u);
}

TEST(Anatomy, shows_what_is_held_back_until_it_is_certain) {
  const std::string bytes = text_frame(R"("Hi <tool")") +
                            text_frame(R"("_call>{\"name\": \"find\", ")") +
                            text_frame(R"("\"arguments\": {}}</tool_call>")");
  const Anatomy anatomy = dissect(turn_of(bytes, "hermes"));
  ASSERT_GE(anatomy.steps.size(), 3u);
  EXPECT_EQ(anatomy.steps[0].events.at(0).event.text, "Hi");
  EXPECT_GT(anatomy.steps[1].held_back, 0u);
  EXPECT_EQ(anatomy.steps[1].end, anatomy.steps[2].begin);
  EXPECT_EQ(anatomy.summary.calls, 1u);
  EXPECT_EQ(anatomy.steps.back().held_back, 0u);
}

TEST(Anatomy, pins_repairs_to_the_frame_that_needed_them) {
  const std::string good = text_frame(R"("Hi")");
  const std::string bad =
      R"(data: {"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"find","arguments":"{}"}}]}}]})"
      "\n\n";
  const Anatomy anatomy = dissect(turn_of(good + bad, "auto"));
  std::vector<std::string> names;
  for (const AnatomyPin& pin : anatomy.pins) {
    if (pin.step == 1) names.push_back(pin.name);
  }
  EXPECT_THAT(names, ElementsAre("index_missing", "id_missing"));
  EXPECT_EQ(anatomy.pins[0].begin, good.size());
}

TEST(Anatomy, keeps_the_times_of_the_pieces) {
  ReplayCase input = turn_of(text_frame(R"("Hi")"), "auto");
  const std::string bytes = upstream_bytes(input);
  using Kind = server::CaptureLine::Kind;
  input.steps = {{.time_us = 10, .kind = Kind::bytes, .bytes = bytes.substr(0, 9)},
                 {.time_us = 500, .kind = Kind::bytes, .bytes = bytes.substr(9)},
                 {.time_us = 900, .kind = Kind::closed}};
  const Anatomy anatomy = dissect(input);
  ASSERT_EQ(anatomy.steps.size(), 2u);
  EXPECT_EQ(anatomy.steps[0].time_us, 500);
  EXPECT_EQ(anatomy.steps[1].time_us, 900);
  EXPECT_EQ(anatomy.steps[1].what, "closed");
}

TEST(Anatomy, has_one_step_for_an_answer_that_failed) {
  ReplayCase input = turn_of("{\"error\":{\"message\":\"no\"}}", "auto");
  input.status = 500;
  const Anatomy anatomy = dissect(input);
  ASSERT_EQ(anatomy.steps.size(), 1u);
  EXPECT_EQ(anatomy.pins.at(0).kind, AnatomyPin::Kind::error);
  EXPECT_TRUE(anatomy.error);
}

// Every golden answer of every wire format: its steps cover its bytes, and its client gets what it always gets, however the
// bytes are cut.
TEST(Anatomy, says_the_same_as_the_pipeline) {
  std::size_t cases = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source_path("golden/wire"))) {
    const fs::path& path = entry.path();
    const bool is_input = path.extension() == ".sse" && path.stem().extension().empty();
    if (!is_input) continue;
    std::ifstream in(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const auto input = to_replay_case(bytes, path.parent_path().filename().string(), "");
    ASSERT_TRUE(input) << path;
    const Replayed replayed = run_replay(*input, std::nullopt);
    for (const char* split : {"", "whole", "7"}) {
      std::optional<Split> cut;
      if (*split != '\0') cut = *parse_split(split);
      const Anatomy anatomy = dissect(*input, cut);
      EXPECT_EQ(anatomy.upstream, bytes) << path;
      std::uint64_t at = 0;
      for (const AnatomyStep& step : anatomy.steps) {
        EXPECT_EQ(step.begin, at) << path;
        at = step.end;
      }
      EXPECT_EQ(at, bytes.size()) << path;
      if (!anatomy.error) EXPECT_EQ(anatomy.client, replayed.client) << path << " " << split;
      std::string json;
      append_json(json, anatomy);
      json::Reader reader(json);
      reader.skip();
      EXPECT_TRUE(reader.finish()) << path;
    }
    ++cases;
  }
  EXPECT_GT(cases, 100u);
}

TEST(Anatomy, reads_the_text_once) {
  const Anatomy anatomy =
      dissect(turn_of(text_frame(R"("one ")") + text_frame(R"("two")"), "auto"));
  EXPECT_EQ(joined_text(anatomy), "one two");
}

}  // namespace
}  // namespace callgate::replay::anatomy_test
