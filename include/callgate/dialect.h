// A dialect is the text format that a model family writes calls in. Its parser turns model text into events.
//
//   const Dialect* hermes = dialect::find("hermes");
//   auto parser = hermes->make({.tools = request.tools, .commit = hermes->commit});
//   parser->push("<tool_call>{\"name\": \"f\", \"argu", Channel::text, sink);  // as often as text arrives
//   parser->push("ments\": {}}</tool_call>", Channel::text, sink);
//   parser->finish(sink);
//
// Dialects of this library are constants: find() and all() may be called from any thread, and what they return is never freed. A parser
// belongs to one turn and one thread at a time; it does no I/O and keeps no reference to a sink between calls.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "callgate/request.h"

namespace callgate {

enum class Channel : std::uint8_t { text, reasoning };

// When a call's events leave: `eager` while it is still being written, `whole_call` once it is known to be
// well-formed, so that a malformed one can come out as text.
enum class Commit : std::uint8_t { eager, whole_call };

// Markup that stayed text, and why. Offsets count the bytes that the parser got.
struct StayedText {
  std::string_view dialect;  // that examined it; empty: the one that the parser is of
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // where it was given up; `begin`: a rule forbids a call there
  std::string_view reason;
};

// Learns why markup stayed text. Called inside push() and finish(), which must not be called again from there. Views are
// valid during the call only: copy what you keep.
class Explainer {
 public:
  virtual ~Explainer() = default;
  virtual void stayed_text(const StayedText& text) = 0;
};

struct DialectOptions {
  // The declared tools. If there are none, any name is taken for a tool. REQUIRES: they outlive the parser.
  std::span<const ToolSpec> tools;
  // `auto` only: calls may also arrive structured, so that only special tokens of a model mark one in text.
  bool special_tokens_only = false;
  Channel start = Channel::text;  // reasoning: the prompt already opened it
  Commit commit = Commit::eager;
  std::size_t max_held_back = std::size_t{1} << 20;  // bytes of one call that may be held back
  Explainer* explain = nullptr;                      // may be null. REQUIRES: outlives the parser
};

// Parses the text of one turn. Every input is valid: what is not a call leaves as text. The parser emits
// neither TurnFinished nor UsageReported, which only the upstream knows. Its output, with neighbouring deltas joined, does
// not depend on how the input is cut into pushes. REQUIRES: after finish() or interrupt() only settled_on() is called.
class DialectParser {
 public:
  virtual ~DialectParser() = default;
  // Takes the next piece of text, which may end anywhere, even inside a UTF-8 sequence. `channel` says where the upstream
  // put it; calls are found in both. Events go to `sink` as soon as they are certain.
  virtual void push(std::string_view text, Channel channel, EventSink& sink) = 0;
  // The turn is over: everything held back leaves, an open call is finished.
  virtual void finish(EventSink& sink) = 0;
  // Called before finish() when the upstream did not end the turn normally: a limit, a filter or an error cut it off.
  // A tagged call without its close marker is then truncated, however whole it looks.
  virtual void cut_off() {}
  // Something else follows in the same turn, such as a structured call: everything held back leaves, and the parser is
  // done. `auto` lets calls that it keeps go as text.
  virtual void interrupt(EventSink& sink) { finish(sink); }
  // The dialect that `auto` found the turn's calls in, its own text. Empty: none, or the parser is not `auto`.
  virtual std::string_view settled_on() const { return {}; }
};

// Makes the parsers of a dialect: a function, or a function with the data that it needs.
class DialectMaker {
 public:
  using Plain = std::unique_ptr<DialectParser> (*)(const DialectOptions& options);
  using Informed = std::unique_ptr<DialectParser> (*)(const void* data,
                                                      const DialectOptions& options);

  constexpr DialectMaker() = default;
  template <class Function>
  requires std::convertible_to<Function, Plain>
  constexpr DialectMaker(Function make) : plain_(make) {}
  // REQUIRES: `data` outlives the dialect.
  constexpr DialectMaker(Informed make, const void* data) : informed_(make), data_(data) {}

  std::unique_ptr<DialectParser> operator()(const DialectOptions& options) const {
    return informed_ != nullptr ? informed_(data_, options) : plain_(options);
  }
  constexpr explicit operator bool() const { return plain_ != nullptr || informed_ != nullptr; }
  // Whether it calls this function, and with which data.
  constexpr bool calls(Informed make) const { return informed_ == make; }
  constexpr const void* data() const { return data_; }

 private:
  Plain plain_ = nullptr;
  Informed informed_ = nullptr;
  const void* data_ = nullptr;
};

struct Dialect {
  std::string_view name;
  std::string_view spec;                     // one line: what the model writes
  std::span<const std::string_view> models;  // glob patterns of model names that write it
  Commit commit = Commit::eager;             // the default
  DialectMaker make;
};

namespace dialect {

// Every dialect, in alphabetical order.
std::span<const Dialect* const> all();

// The dialect of that name, or nullptr if there is none.
const Dialect* find(std::string_view name);

// One line: `hermes: opener at byte 0, gave up at byte 13: expected '"', found "'"`. `asked` is the dialect of the parser.
std::string to_string(const StayedText& text, std::string_view asked);

// As dialect.make(), for a request that declares no tools: reasoning is found, markup of calls is text. A
// dialect that is not this library's gets its own parser and decides for itself.
std::unique_ptr<DialectParser> make_without_calls(const Dialect& dialect,
                                                  const DialectOptions& options);

}  // namespace dialect
}  // namespace callgate
