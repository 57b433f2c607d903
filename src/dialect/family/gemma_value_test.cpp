#include "dialect/family/gemma_value.h"

#include <gtest/gtest.h>

namespace callgate::dialect::gemma_value_test {
namespace {

constexpr GemmaMarkers kMarkers{.quote = R"(<|"|>)", .close = "<tool_call|>"};

struct Outcome {
  std::string json;
  std::size_t used = 0;
  bool whole = false;
  std::string leftover;

  bool operator==(const Outcome&) const = default;
};

Outcome read(std::string_view in, const std::vector<std::size_t>& cuts) {
  Outcome outcome;
  GemmaArguments arguments;
  arguments.begin(kMarkers, outcome.json);
  std::size_t from = 0;
  const auto push = [&](std::size_t to) {
    outcome.used += arguments.push(in.substr(from, to - from), outcome.json);
    from = to;
  };
  for (const std::size_t cut : cuts) push(cut);
  push(in.size());
  outcome.whole = arguments.finish(outcome.json);
  outcome.leftover = arguments.leftover();
  return outcome;
}

Outcome read_at_every_cut(std::string_view in) {
  const Outcome whole = read(in, {});
  std::vector<std::size_t> each;
  for (std::size_t cut = 1; cut < in.size(); ++cut) {
    each.push_back(cut);
    EXPECT_EQ(read(in, {cut}), whole) << in << " at " << cut;
  }
  EXPECT_EQ(read(in, each), whole) << in << " byte by byte";
  return whole;
}

TEST(GemmaArguments, become_json_at_every_cut) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"}", "{}"},
      {" }", "{}"},
      {R"(a:<|"|>x<|"|>})", R"({"a":"x"})"},
      {R"(a:<|"|><|"|>})", R"({"a":""})"},
      {R"(a:<|"|>x<|"|>,b:<|"|>y<|"|>})", R"({"a":"x","b":"y"})"},
      {R"( a : <|"|>x<|"|> , b : 1 , })", R"({"a":"x","b":1})"},
      {"n:42,f:-0.5,e:1e9,t:true,u:false,z:null}",
       R"({"n":42,"f":-0.5,"e":1e9,"t":true,"u":false,"z":null})"},
      {"t:True,f:False,n:None}", R"({"t":true,"f":false,"n":null})"},
      {"n:12345678901234567890}", R"({"n":12345678901234567890})"},
      {R"(n:<|"|>1<|"|>,b:<|"|>true<|"|>,z:<|"|>null<|"|>})", R"({"n":"1","b":"true","z":"null"})"},
      {"o:{a:{b:[1,2,{c:null}]}},p:{}}", R"({"o":{"a":{"b":[1,2,{"c":null}]}},"p":{}})"},
      {R"(a:[<|"|>x<|"|>,<|"|>y "q"<|"|>, 3 ,[] ]})", R"({"a":["x","y \"q\"",3,[]]})"},
      {"a:[1,2,],b:[]}", R"({"a":[1,2],"b":[]})"},
      {"a:[{ x:1, y:2 },\n {x:3}]}", R"({"a":[{"x":1,"y":2},{"x":3}]})"},
      {R"(a:<|"|>a,b:{c}[d] } ] <b> <|x|> <<|"|>})", R"({"a":"a,b:{c}[d] } ] <b> <|x|> <"})"},
      {R"(a:<|"|>C:\users\n "q" \"q\"<|"|>})", R"({"a":"C:\\users\\n \"q\" \\\"q\\\""})"},
      {"a:<|\"|>l1\nl2\t<|\"|>}", R"({"a":"l1\nl2\t"})"},
      {R"(a:<|"|>東京 😀<|"|>,größe:1})", R"({"a":"東京 😀","größe":1})"},
      {R"(Basic Chain:1,<|"|>b c<|"|>:2,"d":3,'e':4})", R"({"Basic Chain":1,"b c":2,"d":3,"e":4})"},
      {R"(a:"say \"hi\", b: }\n\u00e9\/",c:1})", R"({"a":"say \"hi\", b: }\né/","c":1})"},
      {R"(a:"C:\x",b:"\ud83d\ude00"})", R"({"a":"C:\\x","b":"😀"})"},
      {R"(a:':\s*\w+',b:'it's',c:''})", R"({"a":":\\s*\\w+","b":"it's","c":""})"},
      {R"(a:'abc'<|"|>,b:1})", R"({"a":"abc","b":1})"},
      {"unit:celsius,zip:02134,url:http://x:80/}",
       R"({"unit":"celsius","zip":"02134","url":"http://x:80/"})"},
      {"a:hello, world,b:1}", R"({"a":"hello, world","b":1})"},
      {"a:x, y, z}", R"({"a":"x, y, z"})"},
      {"a:[one, two words]}", R"({"a":["one","two words"]})"},
      {"a:<b>,c:1}", R"({"a":"<b>","c":1})"},
      {"a:,b:1}", R"({"a":"","b":1})"},
      {R"(a:<|"|>echo <tool_call|> x<|"|>})", R"({"a":"echo <tool_call|> x"})"},
      {R"(a:<|"|>}<tool_call|> x } <|"|>})", R"({"a":"}<tool_call|> x } "})"},
      {R"(a:<|"|>} ] }<|"|>})", R"({"a":"} ] }"})"},
  };
  for (const auto& [in, out] : cases) {
    const Outcome outcome = read_at_every_cut(in);
    EXPECT_EQ(outcome.json, out) << in;
    EXPECT_TRUE(outcome.whole) << in;
    EXPECT_EQ(outcome.used, in.size()) << in;
  }
}

TEST(GemmaArguments, end_with_the_close_marker_of_their_call) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"(a:<|"|>x<|"|><tool_call|>)", R"({"a":"x"})"},
      {"a:1<tool_call|>", R"({"a":1})"},
      {"a:{b:[1<tool_call|>", R"({"a":{"b":[1]}})"},
      {"a:[<tool_call|>", R"({"a":[]})"},
      {"<tool_call|>", "{}"},
      {"a:1,<tool_call|>", R"({"a":1})"},
      {R"(a:<|"|>ls}<tool_call|>)", R"({"a":"ls"})"},
      {R"(a:<|"|>ls<tool_call|>)", R"({"a":"ls"})"},
      {R"(a:[{b:<|"|>ls}]}<tool_call|>)", R"({"a":[{"b":"ls"}]})"},
      {"a:<|\"|>ls}\n<tool_call|>\n", R"({"a":"ls"})"},
  };
  for (const auto& [in, out] : cases) {
    const Outcome outcome = read_at_every_cut(in);
    EXPECT_EQ(outcome.json, out) << in;
    EXPECT_TRUE(outcome.whole) << in;
  }
}

TEST(GemmaArguments, leave_the_next_marker_to_the_turn) {
  const Outcome outcome = read_at_every_cut(R"(a:<|"|>ls}<tool_call|><|tool_call>call:f{})");
  EXPECT_EQ(outcome.json, R"({"a":"ls"})");
  EXPECT_EQ(outcome.leftover, "<|");
}

TEST(GemmaArguments, fail_or_stay_open_at_every_cut) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"(a:<|"|>Par)", R"({"a":"Par)"},
      {R"(a:<|"|>Par}<|)", R"({"a":"Par}<|)"},
      {"a:12", R"({"a":12)"},
      {"a:cels", R"({"a":)"},
      {R"(a:"x\)", R"({"a":"x\\)"},
      {"a}", "{"},
      {"a:1]", R"({"a":)"},
      {R"(a:<|"|>x<|"|> y})", R"({"a":"x")"},
      {"a:[1}", R"({"a":[)"},
      {":1}", "{"},
      {R"(<|"|>key}<tool_call|>)", R"({"key)"},
  };
  for (const auto& [in, out] : cases) {
    const Outcome outcome = read_at_every_cut(in);
    EXPECT_FALSE(outcome.whole) << in;
    EXPECT_EQ(outcome.json, out) << in;
  }
}

TEST(GemmaArguments, refuse_nesting_beyond_the_limit) {
  EXPECT_TRUE(read("a:" + std::string(127, '[') + std::string(127, ']') + "}", {}).whole);
  EXPECT_FALSE(read("a:" + std::string(128, '[') + std::string(128, ']') + "}", {}).whole);
}

}  // namespace
}  // namespace callgate::dialect::gemma_value_test
