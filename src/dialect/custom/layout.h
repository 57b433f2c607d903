// A definition, taken apart: the data that the families read. Everything owns its text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dialect/custom/definition.h"
#include "dialect/family/call_object.h"
#include "dialect/family/named_json.h"
#include "dialect/family/tagged_grammar.h"
#include "dialect/turn_parser.h"

namespace callgate::dialect {

struct Layout {
  enum class Form : std::uint8_t { json, python, named, tagged };

  // Also of a definition with flaws, of which it makes as much sense as there is.
  explicit Layout(const Definition& definition);
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  Form form = Form::json;
  std::vector<Opener> open;
  std::vector<std::string_view> close, section_open, section_close, tail, special;
  std::vector<Envelope> reasoning;
  std::vector<std::string_view> name_keys, argument_keys, id_keys;
  std::vector<Field> fields;
  Prose prose;
  CallKeys keys;
  NamedJson named;
  std::vector<TaggedGrammar> tagged;  // one, or none

 private:
  std::string_view keep(std::string text);
  void add_marker(std::vector<std::string_view>& list, const std::string& text);
  void add_opener(const std::string& text);
  void take_call(const Template& call);
  void take_named(const Template& call);
  void take_tagged(const Template& call, const Definition& definition);
  NameTag to_tag(const std::string& before, const std::string& after);

  std::vector<std::unique_ptr<std::string>> kept_;
};

Layout::Form form_of(const Template& call);

}  // namespace callgate::dialect
