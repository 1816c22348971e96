// What a Croissant file says that its data may be used for: DUO terms and ODRL policies
// (usageInfo), and licences, against a use that the caller states. The answer is allow, deny or
// unknown, with the clauses that decided. It is a reader's help and no legal advice.
//
// The world is closed and unknown is an answer: what a policy does not decide is unknown, and so is
// what cannot be read. Several DUO terms are one permission class and its modifiers; of two classes
// one must allow. A prohibition wins over a permission unless odrl:conflict says otherwise. The
// truth table is docs/formats/use_policy.md. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::dataset::croissant {

enum class Allowed : std::uint8_t { deny, unknown, allow };  // the gravest first
std::string_view to_string(Allowed allowed);

enum class Purpose : std::uint8_t {
  unstated,
  research,
  health_research,
  disease_research,
  ancestry_research,
  methods_development,  // research, too
  benchmark,            // to measure a system
  product_training,
  commercial,  // any commercial use
};
Result<Purpose> purpose_from(std::string_view word);  // "health-research"
std::vector<std::string> purpose_words();

// A use. What is not stated is not assumed.
struct DataUse {
  Purpose purpose = Purpose::unstated;
  std::optional<bool> commercial{};  // Purpose::commercial and product_training say true
  std::optional<bool> nonprofit{};   // who uses it
  std::optional<bool> develops{};    // develops a method; methods_development says true
  std::string region{};              // ISO 3166 alpha-2, or EU
  std::string disease{};             // "MONDO:0005148"
  std::string record_set{};          // only this one is used; "": all
  // A disease term and those right above it; empty: no ontology is at hand.
  std::map<std::string, std::vector<std::string>> above{};
};

struct UseClause {
  Allowed says = Allowed::unknown;
  std::string where{};  // "the dataset > usageInfo"
  std::string what{};   // "DUO_0000018: not-for-profit, non-commercial use only"
};

struct UseVerdict {
  Allowed allowed = Allowed::unknown;
  std::vector<UseClause> decided{};  // the clauses that made it so; the first is the gravest
  std::vector<UseClause> all{};

  Json to_json() const;
};

UseVerdict judge_use(const Json& document, const DataUse& use);

}  // namespace assay::dataset::croissant
