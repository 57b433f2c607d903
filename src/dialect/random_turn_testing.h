// Turns made at random from a dialect's grammar, and ways to damage them, for differential tests.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "dialect/render/render.h"
#include "json/writer.h"

namespace callgate::dialect {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(engine_() % end); }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <class List>
  const auto& pick(const List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(std::size(list))));
  }

 private:
  std::mt19937_64 engine_;
};

// JSON values with everything that breaks careless readers; `spice` is put into strings.
class RandomJson {
 public:
  RandomJson(Random& random, std::vector<std::string> spice)
      : random_(random), spice_(std::move(spice)) {}

  // Keys that are names in every language.
  std::string object(int depth = 0) {
    constexpr std::string_view kKeys[] = {"a",    "city", "days",      "name", "x_1",
                                          "type", "id",   "arguments", "path", "text"};
    std::string out = "{";
    const std::size_t from = random_.below(std::size(kKeys));
    const std::size_t count = random_.below(4);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out += random_.one_in(3) ? "," : ", ";
      out.append("\"").append(kKeys[(from + i) % std::size(kKeys)]).append("\"");
      out += random_.one_in(3) ? ":" : ": ";
      out += value(depth + 1);
    }
    return out + "}";
  }

  std::string value(int depth) {
    constexpr std::string_view kScalars[] = {
        "0",    "-1", "2.50", "-1.5e+10", "12345678901234567890123", "1E-7", "true", "false",
        "null", "{}", "[]",   "\"\""};
    switch (random_.below(depth < 4 ? 6 : 3)) {
      case 0:
      case 1:
        return string();
      case 2:
        return std::string(random_.pick(kScalars));
      case 3:
        return object(depth);
      default:
        return list(depth);
    }
  }

  std::string string() {
    constexpr std::string_view kPieces[] = {
        "a",    "Paris", " ",  "\n", "\t",  "\"", "'",    "\\",  "{",  "}",   "[",        "]",
        "(",    ")",     ",",  ":",  "=",   "<",  ">",    "/",   "&",  "é",   "東京",     "🌦",
        "007",  "```",   "<|", "|>", "}}",  "}]", "\x7F", "->",  ";",  "\"}", "</think>", "<think>",
        "True", "null",  "\r", "#",  "\\n", "$",  "``",   "\\u", "%s", "]]",  "<b>x</b>", "\x01"};
    std::string text;
    for (std::size_t left = random_.below(7); left > 0; --left) {
      text += !spice_.empty() && random_.one_in(5) ? random_.pick(spice_)
                                                   : std::string(random_.pick(kPieces));
    }
    std::string out;
    json::append_string(out, text);
    if (random_.one_in(6)) out.insert(out.size() - 1, "\\u00e9\\/\\ud83d\\ude00");
    return out;
  }

 private:
  std::string list(int depth) {
    std::string out = random_.one_in(3) ? "[\n " : "[";
    const std::size_t count = random_.below(3);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out += ", ";
      out += value(depth + 1);
    }
    return out + (random_.one_in(3) ? " ]" : "]");
  }

  Random& random_;
  std::vector<std::string> spice_;
};

// How a dialect writes reasoning.
struct ReasoningText {
  std::string_view open = "<think>\n";
  std::string_view close = "\n</think>\n\n";
};

class RandomTurns {
 public:
  RandomTurns(std::string_view dialect, ReasoningText reasoning, std::uint64_t seed)
      : dialect_(dialect),
        reasoning_(reasoning),
        random_(seed),
        json_(random_, spice_of(dialect)) {}

  Random& random() { return random_; }
  RandomJson& json() { return json_; }

  // Reasoning, prose and calls in any order.
  std::string next() {
    std::string text;
    if (random_.one_in(3)) append_reasoning(text);
    for (std::size_t left = random_.below(5); left > 0; --left) {
      switch (random_.below(6)) {
        case 0:
        case 1:
          text += prose();
          break;
        case 2:
          text += random_.one_in(2) ? "\n" : " \n\n";
          break;
        case 3:
          if (random_.one_in(4)) append_reasoning(text);
          break;
        default:
          append_calls(text);
          break;
      }
    }
    return text;
  }

  std::string prose() {
    constexpr std::string_view kWords[] = {
        "Let",  "me",         "a < b", "see,", "東京",      "x[0]", "\"quoted\"", "<b>",
        "it's", "{}",         "é",     "[1]",  "1 >> 2",    "\n",   "- item",     "🌦",
        "{",    "f(x, y=1).", "<|",    "```",  "<think",    "[",    "\n\n",       "]",
        "}",    "</",         "<tool", "5\"",  "{\"a\": 1}"};
    std::string text = random_.one_in(4) ? "" : "Well";
    for (std::size_t left = random_.below(6); left > 0; --left) {
      text.append(random_.one_in(5) ? "" : " ").append(random_.pick(kWords));
    }
    if (random_.one_in(8)) text += half_a_call();
    return text + (random_.one_in(2) ? "." : "");
  }

 private:
  // Whole calls and pieces of them: markers as data.
  static std::vector<std::string> spice_of(std::string_view dialect) {
    const std::string shown = shown_call(dialect);
    std::vector<std::string> spice = {shown};
    for (std::size_t cut = 4; cut < shown.size(); cut += 9) {
      const std::size_t from = boundary(shown, cut);
      spice.push_back(shown.substr(from));
      spice.push_back(shown.substr(0, from));
    }
    return spice;
  }

  static std::string shown_call(std::string_view dialect) {
    CallRecord call;
    call.name = "run";
    call.arguments = R"({"a": "x"})";
    std::string text;
    render_calls(dialect, {&call, 1}, text);
    return text;
  }

  std::string half_a_call() {
    const std::string shown = shown_call(dialect_);
    return shown.substr(0, boundary(shown, random_.below(shown.size() + 1)));
  }

  void append_reasoning(std::string& text) {
    text.append(reasoning_.open).append(prose());
    if (random_.one_in(8)) append_calls(text);
    if (!random_.one_in(8)) text += reasoning_.close;
  }

  void append_calls(std::string& text) {
    constexpr std::string_view kNames[] = {"get_weather", "run", "search-web", "mcp.read"};
    std::vector<CallRecord> calls(1 + random_.below(random_.one_in(3) ? 5 : 2));
    for (CallRecord& call : calls) {
      call.name = random_.pick(kNames);
      if (random_.one_in(2)) call.id = "call00" + std::to_string(random_.below(900) + 100);
      call.arguments = json_.object();
    }
    std::string written;
    render_calls(dialect_, calls, written);
    if (random_.one_in(3)) respell(written, calls[0]);
    text += written;
  }

  // The first call in another of the spellings in which models write JSON objects.
  void respell(std::string& written, const CallRecord& call) {
    const std::size_t from = written.find("{\"name\": \"" + call.name + "\", ");
    const std::size_t arguments = written.find(call.arguments, from);
    if (from == std::string::npos || arguments == std::string::npos) return;
    std::string text;
    json::append_string(text, call.arguments);
    const std::string name = "\"" + call.name + "\"";
    const std::string spellings[] = {
        "{\"arguments\": " + call.arguments + ", \"name\": " + name + "}",
        "{\"name\": " + name + ", \"arguments\": " + text + "}",
        "{\"type\": \"function\", \"function\": {\"name\": " + name +
            ", \"arguments\": " + call.arguments + "}}",
        "{ \"tool_name\" : " + name + " ,\n \"args\" : " + call.arguments + " }",
        "{\"function\": " + name + ", \"parameters\": " + call.arguments + ", \"id\": \"x1\"}",
        "{\"id\": 7, \"name\": " + name + ", \"parameters\": null}",
        "{\"name\": " + name + "}",
        "{\"name\": " + name + ", \"arguments\": {\"s\": \"a\nb\tc\x01\", \"n\": 1}}",
        "{\"name\": " + name + ", \"arguments\": " + call.arguments + ", \"why\": [\"}\"]}"};
    written.replace(from, arguments + call.arguments.size() + 1 - from, random_.pick(spellings));
  }

 public:
  // The next beginning of a character at or behind `at`.
  static std::size_t boundary(std::string_view text, std::size_t at) {
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    return at;
  }

 private:
  std::string_view dialect_;
  ReasoningText reasoning_;
  Random random_;
  RandomJson json_;
};

// Damages a turn; whole characters stay whole. `others` give the pieces that are put in.
inline void damage(std::string& text, const std::vector<std::string>& others, Random& random) {
  const auto place = [&](const std::string& in) {
    return RandomTurns::boundary(in, random.below(in.size() + 1));
  };
  const std::string& other = random.pick(others);
  const std::size_t at = place(text);
  const std::size_t from = place(other);
  switch (random.below(6)) {
    case 0:
      text.erase(at,
                 RandomTurns::boundary(text, std::min(text.size(), at + random.below(24))) - at);
      break;
    case 1:
      text = text.substr(0, at) + other;
      break;
    case 2:
      text = text.substr(0, at) + other.substr(from);
      break;
    case 3:
      text.resize(at);
      break;
    case 4:
      text.insert(
          at, other.substr(from, RandomTurns::boundary(
                                     other, std::min(other.size(), from + 4 + random.below(24))) -
                                     from));
      break;
    default: {
      constexpr std::string_view kBytes = "{}[]<>\"\\\n :,|`'=/\t;()";
      text.insert(at, 1, random.pick(kBytes));
      break;
    }
  }
}

}  // namespace callgate::dialect
