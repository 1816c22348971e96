#include "dataset/duo.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/format.h"
#include "base/text.h"
#include "dataset/croissant_json.h"

namespace assay::dataset::croissant {
namespace {

struct DuoRow {
  std::string_view code{};
  std::string_view words{};
  bool is_class = false;
};
constexpr std::array kDuo = {
    DuoRow{"0000004", "no restriction", true},
    DuoRow{"0000042", "general research use", true},
    DuoRow{"0000006", "health, medical or biomedical research", true},
    DuoRow{"0000007", "disease specific research", true},
    DuoRow{"0000011", "population origins or ancestry research only", true},
    DuoRow{"0000012", "research specific restrictions", false},
    DuoRow{"0000015", "no general methods research", false},
    DuoRow{"0000018", "not-for-profit, non-commercial use only", false},
    DuoRow{"0000022", "geographical restriction", false},
};

constexpr std::array<std::string_view, 27> kUnion = {
    "AT", "BE", "BG", "HR", "CY", "CZ", "DK", "EE", "FI", "FR", "DE", "GR", "HU", "IE",
    "IT", "LV", "LT", "LU", "MT", "NL", "PL", "PT", "RO", "SK", "SI", "ES", "SE"};

bool is_research(Purpose purpose) {
  switch (purpose) {
    case Purpose::research:
    case Purpose::health_research:
    case Purpose::disease_research:
    case Purpose::ancestry_research:
    case Purpose::methods_development:
      return true;
    case Purpose::unstated:
    case Purpose::benchmark:
    case Purpose::product_training:
    case Purpose::commercial:
      return false;
  }
  return false;
}

Allowed yes_or_no(bool yes) { return yes ? Allowed::allow : Allowed::deny; }

// A general research purpose may be health research or not.
Allowed health(const DataUse& use) {
  if (use.purpose == Purpose::unstated || use.purpose == Purpose::research ||
      use.purpose == Purpose::methods_development) {
    return Allowed::unknown;
  }
  return yes_or_no(use.purpose == Purpose::health_research ||
                   use.purpose == Purpose::disease_research);
}

Allowed disease(const DuoTerm& term, const DataUse& use) {
  if (term.disease.empty() || use.purpose == Purpose::unstated) return Allowed::unknown;
  if (!is_research(use.purpose) || use.purpose == Purpose::ancestry_research) {
    return Allowed::deny;
  }
  if (use.disease.empty()) return Allowed::unknown;
  std::set<std::string> seen;
  std::vector<std::string> next{use.disease};
  while (!next.empty()) {
    const std::string at = std::move(next.back());
    next.pop_back();
    if (at == term.disease) return Allowed::allow;
    if (!seen.insert(at).second) continue;
    const auto above = use.above.find(at);
    if (above != use.above.end()) {
      next.insert(next.end(), above->second.begin(), above->second.end());
    }
  }
  // Without an ontology that has the term, it may still be a kind of the policy's.
  return use.above.contains(use.disease) ? Allowed::deny : Allowed::unknown;
}

Allowed not_for_profit(const DataUse& use) {
  if (use.commercial == true || use.nonprofit == false) return Allowed::deny;
  return use.commercial == false && use.nonprofit == true ? Allowed::allow : Allowed::unknown;
}

}  // namespace

std::span<const std::string_view> union_countries() { return kUnion; }

bool in_union(std::string_view region) { return std::ranges::find(kUnion, region) != kUnion.end(); }

std::string region_code(std::string_view text) {
  std::string out(trim(text));
  const std::size_t at = out.find_last_of("/:#");
  if (at != std::string::npos) out.erase(0, at + 1);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::string duo_code(std::string_view text) {
  const std::string small = lower(text);
  for (std::size_t at = small.find("duo"); at != std::string::npos;
       at = small.find("duo", at + 1)) {
    std::size_t from = at + 3;
    while (from < small.size() &&
           (small[from] == '_' || small[from] == ':' || small[from] == '/')) {
      ++from;
    }
    const std::string_view digits = std::string_view(small).substr(from, 7);
    const bool whole = digits.size() == 7 &&
                       std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (whole) return std::string(digits);
  }
  return {};
}

std::string duo_code_of(const Json& term) {
  if (term.is_string()) return duo_code(term.as_string());
  for (const char* const key : {"termCode", "@id", "url", "identifier", "name"}) {
    std::string code = duo_code(text_of(get(term, key)));
    if (!code.empty()) return code;
  }
  return {};
}

DuoTerm duo_term(const Json& term) {
  DuoTerm out{.code = duo_code_of(term)};
  for (const char* const key : {"disease", "about", "healthCondition", "value"}) {
    const Json& value = get(term, key);
    if (out.disease.empty()) out.disease = text_of(value);
    if (out.disease.empty() && value.is_object()) out.disease = text_of(get(value, "termCode"));
  }
  for (const char* const key : {"region", "spatialCoverage", "spatial", "value"}) {
    for (const std::string& region : texts_of(get(term, key))) {
      if (!region.empty()) out.regions.push_back(region);
    }
  }
  return out;
}

bool is_duo_class(std::string_view code) {
  const auto row = std::ranges::find(kDuo, code, &DuoRow::code);
  return row != kDuo.end() && row->is_class;
}

std::string duo_words(std::string_view code) {
  const auto row = std::ranges::find(kDuo, code, &DuoRow::code);
  return format("DUO_{}: {}", code,
                row == kDuo.end() ? "a term that is not known here" : row->words);
}

Allowed in_regions(const std::string& region, const std::vector<std::string>& regions) {
  if (region.empty() || regions.empty()) return Allowed::unknown;
  const std::string here = region_code(region);
  bool part = false;
  for (const std::string& one : regions) {
    const std::string there = region_code(one);
    if (there == here || (there == "EU" && in_union(here))) return Allowed::allow;
    part = part || (here == "EU" && in_union(there));
    // Names in words are no codes, and are not compared.
    if (there.size() != 2) part = true;
  }
  return part ? Allowed::unknown : Allowed::deny;
}

Allowed duo_says(const DuoTerm& term, const DataUse& use) {
  const std::string_view code = term.code;
  const bool stated = use.purpose != Purpose::unstated;
  if (code == "0000004") return Allowed::allow;
  if (code == "0000042") return stated ? yes_or_no(is_research(use.purpose)) : Allowed::unknown;
  if (code == "0000006") return health(use);
  if (code == "0000007") return disease(term, use);
  if (code == "0000011") {
    return stated ? yes_or_no(use.purpose == Purpose::ancestry_research) : Allowed::unknown;
  }
  if (code == "0000015") return use.develops ? yes_or_no(!*use.develops) : Allowed::unknown;
  if (code == "0000018") return not_for_profit(use);
  if (code == "0000022") return in_regions(use.region, term.regions);
  return Allowed::unknown;
}

Allowed duo_terms_say(const std::vector<DuoTerm>& terms, const DataUse& use) {
  std::optional<Allowed> permission;
  Allowed modifiers = Allowed::allow;
  for (const DuoTerm& term : terms) {
    const Allowed says = duo_says(term, use);
    if (is_duo_class(term.code)) {
      permission = std::max(permission.value_or(Allowed::deny), says);
    } else {
      modifiers = std::min(modifiers, says);
    }
  }
  // A modifier without a class restricts a permission that is not there.
  return std::min(permission.value_or(Allowed::unknown), modifiers);
}

}  // namespace assay::dataset::croissant
