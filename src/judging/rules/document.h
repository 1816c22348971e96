// Document: one YAML or JSON file of a submission, parsed as far as possible. A missing, too large,
// unreadable or broken file is a state, not an error: the rules judge it.
//
// JSON pointers address values ("/tpot/percentiles/90.0"). Every value has a line, because a
// finding without a line makes its reader search. Lines of YAML are stored while parsing; those of
// JSON are looked up in the text when a finding needs one.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "rules/finding.h"

namespace assay::rules {

constexpr std::size_t kDocumentBytesMax = std::size_t{16} << 20;

class Document {
 public:
  enum class State : std::uint8_t { absent, broken, good };
  using Lines = std::map<std::string, int, std::less<>>;

  Document() = default;
  // `name`: the path below the submission's root. The suffix decides between YAML and JSON.
  static Document read(const std::filesystem::path& root, std::string name);
  static Document parse_json(std::string name, std::string text);
  static Document parse_yaml(std::string name, const std::string& text);

  State state() const { return state_; }
  bool good() const { return state_ == State::good; }
  bool absent() const { return state_ == State::absent; }
  bool broken() const { return state_ == State::broken; }
  const std::string& name() const { return name_; }
  // The reason why it is broken.
  const std::string& trouble() const { return trouble_; }

  const Json& root() const { return root_; }
  // Returns the value, or a null with static lifetime.
  const Json& at(std::string_view pointer) const;
  bool has(std::string_view pointer) const;
  // Returns the line of the value, or of the nearest parent that exists.
  Place place(std::string_view pointer = "") const;

 private:
  Document(State state, std::string name) : state_(state), name_(std::move(name)) {}
  static Document failed(std::string name, std::string trouble, int line);

  State state_ = State::absent;
  std::string name_{};
  std::string trouble_{};
  int trouble_line_ = 0;
  Json root_{};
  std::string text_{};  // of JSON
  Lines lines_{};       // of YAML
};

// Returns the value at a JSON pointer of `json`, or nullptr.
const Json* find(const Json& json, std::string_view pointer);
// Adds a step to a pointer: name with ~ and / escaped.
std::string pointer_to(std::string_view base, std::string_view name);
std::string pointer_to(std::string_view base, std::size_t index);
// Writes "/warmup/duration_s" for the user: warmup.duration_s
std::string spoken(std::string_view pointer);
// Writes a value for a sentence: text in quotes, cut when long; containers by name.
std::string said(const Json& value);

// Returns the line of the value at `pointer` in valid JSON, or 0.
int line_in_json(std::string_view text, std::string_view pointer);

struct YamlTree {
  Json root{};
  Document::Lines lines{};
};
// Follows aliases within limits; the last of repeated keys wins, as in the reference client's
// reader. An error starts with "LINE: ".
Result<YamlTree> read_yaml(const std::string& text);

}  // namespace assay::rules
