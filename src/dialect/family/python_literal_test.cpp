#include "dialect/family/python_literal.h"

#include <gtest/gtest.h>

namespace callgate::dialect::python_literal_test {
namespace {

struct PythonCase {
  std::string_view in;  // behind the opening parenthesis
  std::string_view out;
};

struct Outcome {
  std::string json;
  std::size_t used = 0;
  PythonArguments::State state = PythonArguments::State::open;

  bool operator==(const Outcome&) const = default;
};

using Tolerance = PythonArguments::Tolerance;

Outcome read(std::string_view in, const std::vector<std::size_t>& cuts, SchemaPlace schema = {},
             Tolerance tolerance = Tolerance::words) {
  Outcome outcome;
  PythonArguments arguments;
  arguments.begin(schema, 10000, outcome.json, tolerance);
  std::size_t from = 0;
  const auto push = [&](std::size_t to) {
    outcome.used += arguments.push(in.substr(from, to - from), outcome.json);
    from = to;
  };
  for (const std::size_t cut : cuts) push(cut);
  push(in.size());
  if (arguments.state() == PythonArguments::State::open) arguments.settle(outcome.json);
  outcome.used -= arguments.rest().size();
  outcome.state = arguments.state();
  if (outcome.state != PythonArguments::State::closed) arguments.cut(outcome.json);
  return outcome;
}

Outcome read_at_every_cut(std::string_view in, SchemaPlace schema = {},
                          Tolerance tolerance = Tolerance::words) {
  const Outcome whole = read(in, {}, schema, tolerance);
  std::vector<std::size_t> each;
  for (std::size_t cut = 1; cut < in.size(); ++cut) {
    each.push_back(cut);
    EXPECT_EQ(read(in, {cut}, schema, tolerance), whole) << in << " at " << cut;
  }
  EXPECT_EQ(read(in, each, schema, tolerance), whole) << in << " byte by byte";
  return whole;
}

TEST(PythonArguments, become_json_at_every_cut) {
  const PythonCase cases[] = {
      {")", "{}"},
      {" \n )", "{}"},
      {"a=1)", R"({"a":1})"},
      {" a = 1 , )", R"({"a":1})"},
      {"a=1, b='x')", R"({"a":1,"b":"x"})"},
      {"a=True, b=False, c=None)", R"({"a":true,"b":false,"c":null})"},
      {"a=true, b=false, c=null)", R"({"a":true,"b":false,"c":null})"},
      {"a=0)", R"({"a":0})"},
      {"a=-5)", R"({"a":-5})"},
      {"a=+5)", R"({"a":5})"},
      {"a=- 5)", R"({"a":-5})"},
      {"a=-0.5)", R"({"a":-0.5})"},
      {"a=.5)", R"({"a":0.5})"},
      {"a=5.)", R"({"a":5.0})"},
      {"a=5.e3)", R"({"a":5.0e3})"},
      {"a=1e5)", R"({"a":1e5})"},
      {"a=1E-5)", R"({"a":1E-5})"},
      {"a=1_000_000)", R"({"a":1000000})"},
      {"a=0xff)", R"({"a":255})"},
      {"a=0XFF_FF)", R"({"a":65535})"},
      {"a=-0x10)", R"({"a":-16})"},
      {"a=0o17, b=0b101)", R"({"a":15,"b":5})"},
      {"a=0xffffffffffffffffffffffff)", R"({"a":79228162514264337593543950335})"},
      {"a=12345678901234567890123)", R"({"a":12345678901234567890123})"},
      {"a=007)", R"({"a":"007"})"},
      {"a=1__0)", R"({"a":"1__0"})"},
      {"a=1j)", R"({"a":"1j"})"},
      {"a=nan)", R"({"a":"nan"})"},
      {"a=Color.RED)", R"({"a":"Color.RED"})"},
      {"a=New York)", R"({"a":"New York"})"},
      {"a='')", R"({"a":""})"},
      {R"(a=""))", R"({"a":""})"},
      {R"(a="x"))", R"({"a":"x"})"},
      {R"(a='say "hi"'))", R"({"a":"say \"hi\""})"},
      {R"(a="it's"))", R"({"a":"it's"})"},
      {R"(a='it\'s'))", R"({"a":"it's"})"},
      {R"(a="\n\t\\\r"))", R"({"a":"\n\t\\\r"})"},
      {R"(a="\a\v\b\f"))", R"({"a":"\u0007\u000b\b\f"})"},
      {R"(a="\x41\x7a"))", R"({"a":"Az"})"},
      {R"(a="\xZZ"))", R"({"a":"\\xZZ"})"},
      {R"(a="\x4"))", R"({"a":"\\x4"})"},
      {R"(a="\101\60\0"))", R"({"a":"A0\u0000"})"},
      {R"(a="\1012"))", R"({"a":"A2"})"},
      {R"(a="\u00e9\u6771"))", R"({"a":"é東"})"},
      {R"(a="\U0001F600"))", R"({"a":"😀"})"},
      {R"(a="\UFFFFFFFF"))", R"({"a":"\\UFFFFFFFF"})"},
      {R"(a="\ud83d\ude00"))", R"({"a":"😀"})"},
      {R"(a="\ud83dx"))", "{\"a\":\"\xEF\xBF\xBDx\"}"},
      {R"(a="\ud83d"))", "{\"a\":\"\xEF\xBF\xBD\"}"},
      {R"(a="\ude00"))", "{\"a\":\"\xEF\xBF\xBD\"}"},
      {R"(a="\N{DASH}\d\/"))", R"({"a":"\\N{DASH}\\d\\/"})"},
      {"a=\"x\\\ny\")", R"({"a":"xy"})"},
      {"a=\"x\ny\")", R"({"a":"x\ny"})"},
      {R"(a=r"\n\d"))", R"({"a":"\\n\\d"})"},
      {R"(a=r"\"x"))", R"({"a":"\\\"x"})"},
      {R"(a=b'x', b=f"{y}", c=u'z', d=rb"\n"))", R"({"a":"x","b":"{y}","c":"z","d":"\\n"})"},
      {"a=\"\"\"x \"y\" ''\nz\"\"\")", R"({"a":"x \"y\" ''\nz"})"},
      {"a='''x'''\n)", R"({"a":"x"})"},
      {R"(a="""""", b=''''''))", R"({"a":"","b":""})"},
      {R"(a="x" 'y'
         "z"))",
       R"({"a":"xyz"})"},
      {R"(a="x" r"\n" f'y'))", R"({"a":"x\\ny"})"},
      {R"(a="" ""))", R"({"a":""})"},
      {"a=[])", R"({"a":[]})"},
      {"a=[1, 'b', [2], ])", R"({"a":[1,"b",[2]]})"},
      {"a={})", R"({"a":{}})"},
      {"a={'b': 1, \"c\": [2, {'d': None}],})", R"({"a":{"b":1,"c":[2,{"d":null}]}})"},
      {"a={1: 'x', True: 2, None: 3, 1.5: 4})", R"({"a":{"1":"x","true":2,"null":3,"1.5":4}})"},
      {"a={b: 1})", R"({"a":{"b":1}})"},
      {"a={'b' 'c': 1})", R"({"a":{"bc":1}})"},
      {"a={1, 2})", R"({"a":[1,2]})"},
      {"a={'x'})", R"({"a":["x"]})"},
      {"a={'x',})", R"({"a":["x"]})"},
      {"a={[1], [2]})", R"({"a":[[1],[2]]})"},
      {"a=())", R"({"a":[]})"},
      {"a=(1,))", R"({"a":[1]})"},
      {"a=(1, 2))", R"({"a":[1,2]})"},
      {"a=(1))", R"({"a":1})"},
      {"a=('x' 'y'))", R"({"a":"xy"})"},
      {"a=((1, 2), ((3)), ()))", R"({"a":[[1,2],3,[]]})"},
      {"a=[(1, {'b': (2, 3)})])", R"({"a":[[1,{"b":[2,3]}]]})"},
      {"a=({'b': 1}))", R"({"a":{"b":1}})"},
      {"'x')", R"({"arg0":"x"})"},
      {"1, 'x', b=2)", R"({"arg0":1,"arg1":"x","b":2})"},
      {"[1], {'a': 1})", R"({"arg0":[1],"arg1":{"a":1}})"},
      {"True)", R"({"arg0":true})"},
      {"a='東京 😀')", R"({"a":"東京 😀"})"},
      {"größe=1)", R"({"größe":1})"},
      {"a=\"</think> <tool_call>\")", R"({"a":"</think> <tool_call>"})"},
      {"a=\")\", b=\"]}\")", "{\"a\":\")\",\"b\":\"]}\"}"},
  };
  for (const PythonCase& test : cases) {
    const Outcome outcome = read_at_every_cut(test.in);
    EXPECT_EQ(outcome.json, test.out) << test.in;
    EXPECT_EQ(outcome.state, PythonArguments::State::closed) << test.in;
    EXPECT_EQ(outcome.used, test.in.size()) << test.in;
  }
}

// What stands behind the arguments is not used.
TEST(PythonArguments, keep_quotes_that_nobody_escaped) {
  const PythonCase cases[] = {
      {"a='x')|]", R"({"a":"x"})"},
      {"a='x')|", R"({"a":"x"})"},
      {"a='x' 'y', b=1)| , g()]", R"({"a":"xy","b":1})"},
      {"a='' , b='')|]", R"({"a":"","b":""})"},
      {"'x', 'y')|]", R"({"arg0":"x","arg1":"y"})"},
      {"a=['x', 'y'], b={'k': 'v'}, c=('z'))|]", R"({"a":["x","y"],"b":{"k":"v"},"c":"z"})"},
      {"a='sed -n '1,9p' f')|]", R"({"a":"sed -n '1,9p' f"})"},
      {"a='it's', b=\"say \"hi\"\")|]", R"({"a":"it's","b":"say \"hi\""})"},
      {"a='f('x'), g', b=1)|]", R"({"a":"f('x'), g","b":1})"},
      {"a='echo 'hi'')|]", R"({"a":"echo 'hi'"})"},
      {"a=['it's', 'b'])|]", R"({"a":["it's","b"]})"},
      {"a='''x'y''')|]", R"({"a":"x'y"})"},
  };
  for (const PythonCase& test : cases) {
    const std::size_t end = test.in.find('|');
    std::string in(test.in);
    in.erase(end, 1);
    const Outcome outcome = read_at_every_cut(in, {}, Tolerance::quotes_in_list);
    EXPECT_EQ(outcome.json, test.out) << in;
    EXPECT_EQ(outcome.state, PythonArguments::State::closed) << in;
    EXPECT_EQ(outcome.used, end) << in;
  }
}

TEST(PythonLiteral, is_a_literal_and_nothing_else) {
  std::string out;
  EXPECT_TRUE(append_python_literal(out, "{'a': [True, None, (1, 'x')]}"));
  EXPECT_EQ(out, R"({"a":[true,null,[1,"x"]]})");
  for (const std::string_view text :
       {"", "{a: 1}", "[word]", "{'a': 1", "{'a': 1}) + (1", "['a'] x"}) {
    EXPECT_FALSE(append_python_literal(out, text)) << text;
  }
}

TEST(PythonArguments, fail_at_the_same_byte_at_every_cut) {
  const std::pair<std::string_view, std::size_t> cases[] = {
      {"a=)", 2},
      {"a=,b=1)", 2},
      {"a=1 b=2)", 5},
      {"a='x' c=1)", 6},
      {"a=[1)", 4},
      {"a=[1}", 4},
      {"a={'b')", 6},
      {"a={'b': })", 8},
      {"a={'b' 1})", 7},
      {"a==1)", 2},
      {"a=f(1))", 3},
      {"a=x[0])", 3},
      {"a=1+2)", 5},
      {"{'a': 1}: 2)", 8},
      {"a={'b': 1, 'c'})", 14},
      {"a={[1]: 2})", 6},
      {"=1)", 0},
      {"1=2)", 1},
      {"a: 1)", 1},
      {"a={'b': 1, [2]: 3})", 11},
  };
  for (const auto& [in, used] : cases) {
    const Outcome outcome = read_at_every_cut(in);
    EXPECT_EQ(outcome.state, PythonArguments::State::failed) << in;
    EXPECT_EQ(outcome.used, used) << in;
  }
}

TEST(PythonArguments, stay_open_when_the_turn_ends_inside) {
  const PythonCase cases[] = {
      {"", "{"},
      {"a='Par", R"({"a":"Par)"},
      {"a=12", R"({"a":12)"},
      {"a=[1, ", R"({"a":[1)"},
      {"a=(1, 2", R"({"a":[1,2)"},
      {"a=\"x\\", R"({"a":"x\\)"},
      {"a=\"x\\u12", R"({"a":"x\\u12)"},
      {"a='''x''", R"({"a":"x'')"},
  };
  for (const PythonCase& test : cases) {
    const Outcome outcome = read_at_every_cut(test.in);
    EXPECT_EQ(outcome.state, PythonArguments::State::open) << test.in;
    EXPECT_EQ(outcome.json, test.out) << test.in;
  }
}

TEST(PythonArguments, name_positional_arguments_by_the_schema) {
  const SchemaTree tree(R"({"properties": {"city": {}, "days": {}}})");
  EXPECT_EQ(read_at_every_cut("'Paris', 3, 4)", tree.root()).json,
            R"({"city":"Paris","days":3,"arg2":4})");
}

TEST(PythonArguments, refuse_nesting_beyond_the_limit) {
  EXPECT_EQ(read("a=" + std::string(127, '[') + std::string(127, ']') + ")", {}).state,
            PythonArguments::State::closed);
  EXPECT_EQ(read("a=" + std::string(128, '['), {}).state, PythonArguments::State::failed);
}

TEST(PythonArguments, stream_a_string_while_it_is_written) {
  PythonArguments arguments;
  std::string out;
  arguments.begin({}, 1000, out);
  arguments.push("a='Par", out);
  EXPECT_EQ(out, R"({"a":"Par)");
  EXPECT_TRUE(arguments.streams());
  arguments.push("is'", out);
  EXPECT_EQ(out, R"({"a":"Paris)");
}

}  // namespace
}  // namespace callgate::dialect::python_literal_test
