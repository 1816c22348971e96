#include "dataset/use_policy.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/enum_name.h"
#include "base/format.h"
#include "base/text.h"
#include "dataset/croissant_json.h"
#include "dataset/duo.h"
#include "dataset/odrl.h"

namespace assay::dataset::croissant {
namespace {

struct PurposeRow {
  Purpose purpose = Purpose::unstated;
  std::string_view word{};
};
constexpr std::array kPurposes = {
    PurposeRow{Purpose::research, "research"},
    PurposeRow{Purpose::health_research, "health-research"},
    PurposeRow{Purpose::disease_research, "disease-research"},
    PurposeRow{Purpose::ancestry_research, "ancestry-research"},
    PurposeRow{Purpose::methods_development, "methods-development"},
    PurposeRow{Purpose::benchmark, "benchmark"},
    PurposeRow{Purpose::product_training, "product-training"},
    PurposeRow{Purpose::commercial, "commercial"},
};

// Licences that permit use for any purpose; by parts of their SPDX ids and addresses.
constexpr std::array<std::string_view, 16> kOpen = {"cc0",
                                                    "cc-by-4.0",
                                                    "cc-by-3.0",
                                                    "cc-by-sa",
                                                    "cc-by-nd",
                                                    "publicdomain",
                                                    "apache",
                                                    "mit",
                                                    "bsd",
                                                    "odbl",
                                                    "odc-by",
                                                    "pddl",
                                                    "licenses/by/",
                                                    "licenses/by-sa/",
                                                    "licenses/by-nd/",
                                                    "unlicense"};
constexpr std::array<std::string_view, 3> kNonCommercial = {"by-nc", "noncommercial",
                                                            "non-commercial"};

// What the stated purpose says of the rest.
DataUse completed(DataUse use) {
  if (use.purpose == Purpose::commercial || use.purpose == Purpose::product_training) {
    use.commercial = true;
  }
  if (use.purpose == Purpose::methods_development) use.develops = true;
  return use;
}

// As "cc-by-nc-4.0", whatever stands between the words.
std::string licence_id(const std::string& text) {
  std::string out = lower(trim(text));
  std::ranges::replace(out, ' ', '-');
  std::ranges::replace(out, '_', '-');
  return out;
}

UseClause licence_clause(const std::string& text, const std::string& where, const DataUse& use) {
  const std::string id = licence_id(text);
  const auto has = [&id](std::string_view part) { return id.find(part) != std::string::npos; };
  UseClause out{.where = where};
  if (std::ranges::any_of(kNonCommercial, has)) {
    out.says = !use.commercial   ? Allowed::unknown
               : *use.commercial ? Allowed::deny
                                 : Allowed::allow;
    out.what = format("{}: no commercial use", text);
  } else if (std::ranges::any_of(kOpen, has)) {
    out.says = Allowed::allow;
    out.what = format("{}: any use", text);
  } else {
    out.what = format("{}: a licence that is not known here", text);
  }
  return out;
}

class Judge {
 public:
  explicit Judge(const DataUse& use) : use_(use) {}

  void place(const Json& object, const std::string& where) {
    std::vector<DuoTerm> terms;
    for (const Json* const one : list_of(get(object, "usageInfo"))) {
      if (is_odrl(*one)) {
        add(odrl_clause(*one, use_, where + " > usageInfo"));
      } else if (!duo_code_of(*one).empty()) {
        terms.push_back(duo_term(*one));
      } else {
        add({.where = where + " > usageInfo", .what = said(*one)});
      }
    }
    if (!terms.empty()) add(duo_clause(terms, where + " > usageInfo"));
  }

  void licences(const Json& document) {
    for (const Json* const one : list_of(get(document, "license"))) {
      std::string text = text_of(*one);
      for (const char* const key : {"url", "name"}) {
        if (text.empty()) text = text_of(get(*one, key));
      }
      licences_.push_back(licence_clause(text, "the dataset > license", use_));
    }
  }

  UseVerdict verdict() {
    UseVerdict out;
    const bool policy = !clauses_.empty();
    // The user may choose one of several licences.
    Allowed licence = Allowed::deny;
    for (const UseClause& one : licences_) licence = std::max(licence, one.says);
    if (licences_.empty()) licence = Allowed::unknown;
    Allowed policies = policy ? Allowed::allow : Allowed::unknown;
    for (const UseClause& one : clauses_) policies = std::min(policies, one.says);
    if (!policy) {
      out.allowed = licence;
    } else {
      // A policy is what the data's owner wrote for machines: it may say what a licence does not.
      const bool says_nothing = std::ranges::all_of(
          licences_, [](const UseClause& one) { return one.what.ends_with("not known here"); });
      out.allowed = says_nothing ? policies : std::min(policies, licence);
    }
    out.all = clauses_;
    out.all.insert(out.all.end(), licences_.begin(), licences_.end());
    for (const UseClause& one : out.all) {
      if (one.says == out.allowed) out.decided.push_back(one);
    }
    if (out.decided.empty()) {
      out.decided.push_back({.says = out.allowed,
                             .where = "the dataset",
                             .what = "nothing in it says what it may be used for"});
    }
    return out;
  }

 private:
  void add(UseClause clause) { clauses_.push_back(std::move(clause)); }

  UseClause duo_clause(const std::vector<DuoTerm>& terms, std::string where) const {
    UseClause out{.says = duo_terms_say(terms, use_), .where = std::move(where)};
    std::size_t classes = 0;
    for (const DuoTerm& term : terms) {
      classes += is_duo_class(term.code) ? 1U : 0U;
      out.what += (out.what.empty() ? "" : "; ") + duo_words(term.code);
      if (term.code == "0000007" && term.disease.empty()) out.what += " (without a disease)";
      if (term.code == "0000022" && term.regions.empty()) out.what += " (without a region)";
    }
    if (classes == 0) out.what += "; no term permits a use that it restricts";
    if (classes > 1) out.what += "; of several classes one must allow";
    return out;
  }

  static std::string said(const Json& one) {
    std::string text = text_of(one);
    if (text.empty()) text = one.dump();
    if (text.size() > 120) text.resize(120);
    return format("'{}' is not a policy that can be evaluated", text);
  }

  const DataUse& use_;
  std::vector<UseClause> clauses_{};
  std::vector<UseClause> licences_{};
};

// The ids of the files that a record set's fields read.
void read_ids(const Json& value, std::set<std::string>& out) {
  for (const char* const key : {"fileObject", "fileSet"}) {
    const std::string id = text_of(get(value, key));
    if (!id.empty()) out.insert(id);
  }
  for (const Json& item : value.items()) read_ids(item, out);
  for (const auto& [key, member] : value.members()) read_ids(member, out);
}

}  // namespace

std::string_view to_string(Allowed allowed) { return enum_name(allowed); }

Result<Purpose> purpose_from(std::string_view word) {
  const auto row = std::ranges::find(kPurposes, word, &PurposeRow::word);
  if (row != kPurposes.end()) return row->purpose;
  return invalid(format("purpose: '{}' is unknown", word));
}

std::vector<std::string> purpose_words() {
  std::vector<std::string> out;
  for (const PurposeRow& row : kPurposes) out.emplace_back(row.word);
  return out;
}

UseVerdict judge_use(const Json& document, const DataUse& asked) {
  const DataUse use = completed(asked);
  Judge judge(use);
  judge.place(document, "the dataset");
  judge.licences(document);
  std::set<std::string> read;
  for (const Json* const set : list_of(get(document, "recordSet"))) {
    const std::string id = id_of(*set);
    if (!use.record_set.empty() && id != use.record_set) continue;
    judge.place(*set, format("recordSet '{}'", id));
    read_ids(*set, read);
    for (const Json* const field : list_of(get(*set, "field"))) {
      judge.place(*field, format("field '{}'", id_of(*field)));
    }
  }
  for (const Json* const file : list_of(get(document, "distribution"))) {
    if (!use.record_set.empty() && !read.contains(id_of(*file))) continue;
    judge.place(*file, format("distribution '{}'", id_of(*file)));
  }
  return judge.verdict();
}

Json UseVerdict::to_json() const {
  const auto rows = [](const std::vector<UseClause>& clauses) {
    Json out = Json::array();
    for (const UseClause& one : clauses) {
      out.push_back(
          Json().set("says", to_string(one.says)).set("where", one.where).set("what", one.what));
    }
    return out;
  };
  return Json()
      .set("verdict", to_string(allowed))
      .set("decided", rows(decided))
      .set("clauses", rows(all));
}

}  // namespace assay::dataset::croissant
