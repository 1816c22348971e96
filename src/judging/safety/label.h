// Label: a safety run's result for people who read no report: grade, share, interval, what it was
// measured with, and which clauses of standards its evidence serves. The JSON is the label; SVG and
// HTML are drawn from it alone, so that all three can be derived from the run again. A label of
// practice prompts looks different and has the word in the JSON too. It is of Assay's own rule set,
// and says so. Pure; any thread. docs/formats/safety_label.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "safety/grading.h"
#include "safety/standard.h"

namespace assay::safety {

// One clause of a standard, and the kind of evidence that serves it.
struct Clause {
  std::string standard{};
  std::string clause{};
  std::string title{};
  std::string needs{};
  std::string serves{};
};
// A name in the binary (safety/clauses), or a file that ends in .yaml.
Result<std::vector<Clause>> find_clauses(const std::string& name);

struct LabelFacts {
  std::string subject{};   // the model that was asked
  std::string version{};   // of the subject, by the user; may be ""
  std::string measured{};  // RFC 3339
  std::string expires{};   // a date by the user; "": none
  std::string made_by{};   // "assay 0.1.0"
  std::string sealed{};    // commitment of the sealed set; "": plain prompts
  std::string signer{};    // fingerprint; "": not signed
  Json records{};          // [{path, sha256}]
  Json attacks{};          // {name, sha256, pairs, gap, interval} of a run with attacks; else null
};

// REQUIRES: an overall grade.
Json make_label(const GradeReport& report, const Standard& standard, const LabelFacts& facts,
                const std::vector<Clause>& clauses);
// demo, practice or sealed: what the prompts were.
std::string_view kind_of(const Standard& standard, bool sealed);

std::string label_svg(const Json& label);
std::string label_html(const Json& label);

}  // namespace assay::safety
