// DUO terms, the Data Use Ontology's codes of what data may be used for. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "dataset/use_policy.h"

namespace assay::dataset::croissant {

// The seven digits of a DUO code in a text: "duo:0000042", "DUO_0000042", the OBO address; "" if
// there is none.
std::string duo_code(std::string_view text);
// That of a term: its termCode, url, @id, identifier or name.
std::string duo_code_of(const Json& term);

struct DuoTerm {
  std::string code{};
  std::string disease{};               // of 0000007
  std::vector<std::string> regions{};  // of 0000022
};
DuoTerm duo_term(const Json& term);

// What one term says of a use, alone.
Allowed duo_says(const DuoTerm& term, const DataUse& use);
bool is_duo_class(std::string_view code);  // a permission class, and no modifier
std::string duo_words(std::string_view code);

// What terms of one place say together.
Allowed duo_terms_say(const std::vector<DuoTerm>& terms, const DataUse& use);

// The last part of an address or a prefixed name, in capitals: "DE" of "…/de".
std::string region_code(std::string_view text);
// Codes of the countries of the EU.
std::span<const std::string_view> union_countries();
bool in_union(std::string_view region);

// Whether a use in `region` lies in one of `regions`: allow, deny (outside), unknown (not stated,
// or in a part of it).
Allowed in_regions(const std::string& region, const std::vector<std::string>& regions);

}  // namespace assay::dataset::croissant
