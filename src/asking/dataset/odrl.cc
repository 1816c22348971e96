#include "dataset/odrl.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "dataset/croissant_json.h"
#include "dataset/duo.h"

namespace assay::dataset::croissant {
namespace {

// Whether a rule is about the use. Three values, as everything here.
enum class Match : std::uint8_t { no, maybe, yes };

constexpr int kPolicyDepthMax = 8;

// Actions that a run does not do: it reads the data and sends it to an endpoint.
constexpr std::array<std::string_view, 14> kOthers = {
    "distribute", "reproduce", "derive", "modify", "sell",      "sublicense", "transfer",
    "give",       "lend",      "lease",  "delete", "translate", "print",      "archive"};
constexpr std::array<std::string_view, 5> kUses = {"use", "read", "execute", "index", "aggregate"};

Match match_of(Allowed allowed) {
  switch (allowed) {
    case Allowed::deny:
      return Match::no;
    case Allowed::unknown:
      return Match::maybe;
    case Allowed::allow:
      return Match::yes;
  }
  return Match::maybe;
}
Match negated(Match match) {
  return match == Match::maybe ? match : match == Match::yes ? Match::no : Match::yes;
}

std::string word_of(const Json& value) { return lower(bare(text_of(value))); }

// An action's own name, or that of its rdf:value (a refined action).
std::string action_word(const Json& action) {
  const std::string plain = text_of(action);
  if (!plain.empty()) return duo_code(plain).empty() ? lower(bare(plain)) : plain;
  return text_of(get(action, "value"));
}

Match purpose_is(const std::string& word, const DataUse& use) {
  if (use.purpose == Purpose::unstated && !use.commercial) return Match::maybe;
  const auto yes = [](bool is) { return is ? Match::yes : Match::no; };
  if (word == "commercial") return use.commercial ? yes(*use.commercial) : Match::maybe;
  if (word == "noncommercial" || word == "non-commercial") {
    return use.commercial ? yes(!*use.commercial) : Match::maybe;
  }
  if (use.purpose == Purpose::unstated) return Match::maybe;
  if (word == "research" || word == "academicresearch" || word == "scientificresearch") {
    return match_of(duo_says({.code = "0000042"}, use));
  }
  const auto known = purpose_from(word);
  return known ? yes(*known == use.purpose) : Match::maybe;
}

class Rules {
 public:
  explicit Rules(const DataUse& use) : use_(use) {}

  // A rule's action and constraints; a duty that is not proven leaves it open.
  Match rule(const Json& one, bool permission) const {
    if (!one.is_object()) return Match::maybe;
    const auto actions = list_of(get(one, "action"));
    Match out = actions.empty() ? Match::maybe : Match::no;
    for (const Json* const action : actions) out = std::max(out, action_match(*action, permission));
    for (const Json* const constraint : list_of(get(one, "constraint"))) {
      out = std::min(out, constraint_match(*constraint, 0));
    }
    for (const char* const duty : {"duty", "obligation"}) {
      if (permission && !get(one, duty).is_null()) out = std::min(out, Match::maybe);
    }
    return out;
  }

 private:
  Match action_match(const Json& action, bool permission) const {
    Match refined = Match::yes;
    for (const Json* const one : list_of(get(action, "refinement"))) {
      refined = std::min(refined, constraint_match(*one, 0));
    }
    return std::min(refined, plain_action(action_word(action), permission));
  }

  Match plain_action(const std::string& word, bool permission) const {
    if (const std::string code = duo_code(word); !code.empty()) {
      // Croissant's examples permit by a DUO code. A code that forbids has no such meaning.
      return permission ? match_of(duo_says({.code = code}, use_)) : Match::maybe;
    }
    if (std::ranges::find(kUses, word) != kUses.end()) return Match::yes;
    if (word == "commercialize" || word == "commercialise") {
      if (use_.commercial) return *use_.commercial ? Match::yes : Match::no;
      return Match::maybe;
    }
    return std::ranges::find(kOthers, word) != kOthers.end() ? Match::no : Match::maybe;
  }

  Match all_of(const Json& list, int depth) const {
    Match out = Match::yes;
    for (const Json* const one : operands(list)) {
      out = std::min(out, constraint_match(*one, depth + 1));
    }
    return out;
  }
  Match any_of(const Json& list, int depth) const {
    Match out = Match::no;
    for (const Json* const one : operands(list)) {
      out = std::max(out, constraint_match(*one, depth + 1));
    }
    return out;
  }
  Match one_of(const Json& list, int depth) const {
    int yes = 0;
    bool maybe = false;
    for (const Json* const one : operands(list)) {
      const Match match = constraint_match(*one, depth + 1);
      yes += match == Match::yes ? 1 : 0;
      maybe = maybe || match == Match::maybe;
    }
    if (yes > 1) return Match::no;
    return maybe ? Match::maybe : yes == 1 ? Match::yes : Match::no;
  }
  static std::vector<const Json*> operands(const Json& list) {
    return list_of(list.find("@list") != nullptr ? list["@list"] : list);
  }

  Match constraint_match(const Json& one, int depth) const {
    if (!one.is_object() || depth > kPolicyDepthMax) return Match::maybe;
    if (const Json& list = get(one, "and"); !list.is_null()) return all_of(list, depth);
    if (const Json& list = get(one, "or"); !list.is_null()) return any_of(list, depth);
    if (const Json& list = get(one, "xone"); !list.is_null()) return one_of(list, depth);
    const Json& right = get(one, "rightOperand");
    const std::string left = word_of(get(one, "leftOperand"));
    const std::string op = word_of(get(one, "operator"));
    const std::vector<std::string> values = values_of(right);
    if (values.empty()) return Match::maybe;
    // DUO_0000010 is the property "is restricted to", with a DUO term on the right.
    const bool by_term = left.empty() || duo_code(text_of(get(one, "leftOperand"))) == "0000010";
    if (by_term) return with(op.empty() ? "eq" : op, term_match(values));
    if (left == "spatial" || left == "spatialcoordinates") {
      return with(op, match_of(in_regions(use_.region, values)));
    }
    if (left == "purpose") return with(op, any_purpose(values));
    return Match::maybe;
  }

  // The operators that compare with a set of values.
  static Match with(const std::string& op, Match is_one) {
    for (const char* const same : {"eq", "isa", "isanyof", "ispartof"}) {
      if (op == same) return is_one;
    }
    for (const char* const other : {"neq", "isnoneof"}) {
      if (op == other) return negated(is_one);
    }
    return Match::maybe;
  }

  static std::vector<std::string> values_of(const Json& right) {
    std::vector<std::string> out;
    for (const Json* const one : operands(right)) {
      std::string text = text_of(*one);
      if (text.empty()) text = text_of(get(*one, "termCode"));
      if (!text.empty()) out.push_back(std::move(text));
    }
    return out;
  }

  Match term_match(const std::vector<std::string>& values) const {
    Match out = Match::no;
    for (const std::string& value : values) {
      const std::string code = duo_code(value);
      out = std::max(out, code.empty() ? Match::maybe : match_of(duo_says({.code = code}, use_)));
    }
    return out;
  }

  Match any_purpose(const std::vector<std::string>& values) const {
    Match out = Match::no;
    for (const std::string& value : values) {
      const std::string code = duo_code(value);
      out = std::max(out, code.empty() ? purpose_is(lower(bare(value)), use_)
                                       : match_of(duo_says({.code = code}, use_)));
    }
    return out;
  }

  const DataUse& use_;
};

}  // namespace

bool is_odrl(const Json& node) {
  for (const std::string_view type : {"Offer", "Policy", "Set", "Agreement"}) {
    if (is_type(node, type)) return true;
  }
  return false;
}

UseClause odrl_clause(const Json& policy, const DataUse& use, std::string where) {
  const Rules rules(use);
  const auto permissions = list_of(get(policy, "permission"));
  const auto prohibitions = list_of(get(policy, "prohibition"));
  Match permitted = Match::no;
  for (const Json* const one : permissions) permitted = std::max(permitted, rules.rule(*one, true));
  Match prohibited = Match::no;
  for (const Json* const one : prohibitions) {
    prohibited = std::max(prohibited, rules.rule(*one, false));
  }
  std::string conflict = word_of(get(policy, "conflict"));
  if (conflict.empty()) conflict = "prohibit";
  std::string name = text_of(get(policy, "name"));
  if (name.empty()) name = text_of(policy["@id"]);
  UseClause out{.where = std::move(where)};
  const auto say = [&](Allowed says, std::string_view what) {
    out.says = says;
    out.what = format("policy{}{}: {}", name.empty() ? "" : " ", name, what);
    return out;
  };
  const bool duty = !get(policy, "obligation").is_null() || !get(policy, "duty").is_null();
  const bool known = conflict == "prohibit" || conflict == "perm" || conflict == "invalid";
  if (!known) return say(Allowed::unknown, "its conflict strategy is unknown");
  if (prohibited == Match::yes && permitted == Match::yes) {
    if (conflict == "perm") return say(Allowed::allow, "permitted and prohibited; permission wins");
    if (conflict == "invalid") return say(Allowed::unknown, "permitted and prohibited: invalid");
  }
  if (prohibited == Match::yes) return say(Allowed::deny, "a prohibition is about this use");
  const bool wins = conflict == "perm" && permitted == Match::yes;
  if (prohibited == Match::maybe && !wins) {
    return say(Allowed::unknown, "a prohibition may be about this use");
  }
  if (permitted == Match::yes && duty) return say(Allowed::unknown, "it has a duty, not proven");
  if (permitted == Match::yes) return say(Allowed::allow, "a permission is about this use");
  if (permitted == Match::maybe) {
    return say(Allowed::unknown, "a permission may be about this use, or has a duty");
  }
  if (!permissions.empty()) return say(Allowed::deny, "no permission is about this use");
  return say(Allowed::unknown, "it permits nothing and prohibits something else");
}

}  // namespace assay::dataset::croissant
