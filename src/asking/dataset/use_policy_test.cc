#include "dataset/use_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "dataset/duo.h"

namespace assay::dataset::croissant {
namespace {

constexpr std::string_view kDuo = R"({"@type": "DefinedTerm", "termCode": "DUO_)";

// A document whose dataset has this usageInfo.
Json with_policy(const std::string& usage, const std::string& more = "") {
  const auto json = Json::parse(R"({"@type": "sc:Dataset", "usageInfo": )" + usage + more + "}");
  EXPECT_TRUE(json) << usage;
  return json.value_or(Json());
}
std::string duo(const std::string& code, const std::string& more = "") {
  return std::string(kDuo) + code + "\"" + more + "}";
}
std::string odrl(const std::string& rules) { return R"({"@type": "odrl:Offer", )" + rules + "}"; }

// "research commercial=no nonprofit=yes develops=no region=DE disease=D1 set=r"
DataUse use_of(std::string_view text) {
  DataUse out;
  std::string word;
  for (const char c : std::string(text) + " ") {
    if (c != ' ') {
      word += c;
      continue;
    }
    const std::size_t at = word.find('=');
    const std::string key = word.substr(0, at);
    const std::string value = at == std::string::npos ? "" : word.substr(at + 1);
    if (key == "commercial" && at != std::string::npos) out.commercial = value == "yes";
    if (key == "nonprofit") out.nonprofit = value == "yes";
    if (key == "develops") out.develops = value == "yes";
    if (key == "region") out.region = value;
    if (key == "disease") out.disease = value;
    if (key == "set") out.record_set = value;
    if (key == "ontology") out.above = {{"D11", {"D1"}}, {"D2", {"D0"}}, {"D1", {"D0"}}};
    if (at == std::string::npos && purpose_from(key)) out.purpose = *purpose_from(key);
    word.clear();
  }
  return out;
}

struct Case {
  std::string policy{};
  std::string_view use{};
  Allowed wanted = Allowed::unknown;
};

void hold(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    const UseVerdict verdict = judge_use(with_policy(one.policy), use_of(one.use));
    EXPECT_EQ(to_string(verdict.allowed), to_string(one.wanted)) << one.policy << "\n" << one.use;
    ASSERT_FALSE(verdict.decided.empty());
    EXPECT_EQ(verdict.decided.front().says, verdict.allowed);
  }
}

constexpr Allowed kYes = Allowed::allow;
constexpr Allowed kNo = Allowed::deny;
constexpr Allowed kOpen = Allowed::unknown;

TEST(UsePolicy, single_terms_of_duo) {
  hold({
      {R"("https://example.org/terms")", "research", kOpen},
      {R"("please be kind")", "benchmark", kOpen},
      {duo("9999999"), "research", kOpen},
      {"17", "research", kOpen},
      {duo("0000004"), "", kYes},
      {duo("0000004"), "commercial", kYes},
      {R"({"@id": "duo:0000042"})", "research", kYes},
      {R"("http://purl.obolibrary.org/obo/DUO_0000042")", "research", kYes},
      {duo("0000042"), "health-research", kYes},
      {duo("0000042"), "product-training", kNo},
      {duo("0000042"), "benchmark", kNo},
      {duo("0000042"), "", kOpen},
      {duo("0000006"), "health-research", kYes},
      {duo("0000006"), "disease-research disease=D1", kYes},
      {duo("0000006"), "benchmark", kNo},
      {duo("0000006"), "research", kOpen},
      {duo("0000007"), "disease-research disease=D1", kOpen},
      {duo("0000007", R"(, "disease": "D1")"), "disease-research disease=D1", kYes},
      {duo("0000007", R"(, "disease": "D1")"), "disease-research disease=D11 ontology=yes", kYes},
      {duo("0000007", R"(, "disease": "D1")"), "disease-research disease=D2 ontology=yes", kNo},
      {duo("0000007", R"(, "disease": "D1")"), "disease-research disease=D2", kOpen},
      {duo("0000007", R"(, "disease": "D1")"), "disease-research", kOpen},
      {duo("0000007", R"(, "disease": "D1")"), "benchmark", kNo},
      {duo("0000011"), "ancestry-research", kYes},
      {duo("0000011"), "health-research", kNo},
      {duo("0000011"), "", kOpen},
  });
}

std::string both(const std::string& one, const std::string& other) {
  return "[" + one + ", " + other + "]";
}

TEST(UsePolicy, several_terms_of_duo_are_a_class_and_its_modifiers) {
  const std::string research = duo("0000042");
  const std::string profit = both(research, duo("0000018"));
  const std::string methods = both(research, duo("0000015"));
  const std::string where = both(research, duo("0000022", R"(, "region": ["DE", "FR"])"));
  hold({
      {profit, "research commercial=no nonprofit=yes", kYes},
      {profit, "research commercial=yes", kNo},
      {profit, "research nonprofit=no commercial=no", kNo},
      {profit, "research", kOpen},
      {profit, "research commercial=no", kOpen},
      {profit, "commercial", kNo},
      {methods, "research develops=no", kYes},
      {methods, "research develops=yes", kNo},
      {methods, "methods-development", kNo},
      {methods, "research", kOpen},
      {where, "research region=DE", kYes},
      {where, "research region=fr", kYes},
      {where, "research region=US", kNo},
      {where, "research region=EU", kOpen},
      {where, "research", kOpen},
      {both(research, duo("0000022")), "research region=DE", kOpen},
      {both(research, duo("0000012")), "research", kOpen},
      {both(research, duo("0000006")), "research", kYes},
      {both(duo("0000006"), duo("0000011")), "benchmark", kNo},
      {duo("0000018"), "research commercial=no nonprofit=yes", kOpen},
      {duo("0000018"), "commercial", kNo},
      {both(research, R"("https://example.org/terms")"), "research", kOpen},
      {both(research, R"("https://example.org/terms")"), "benchmark", kNo},
  });
}

TEST(UsePolicy, odrl_permits_prohibits_and_leaves_open) {
  const std::string spatial =
      R"("odrl:constraint": [{"odrl:leftOperand": {"@id": "odrl:spatial"},
          "odrl:operator": {"@id": "odrl:eq"}, "odrl:rightOperand": "DE"}])";
  const std::string permission =
      R"("odrl:permission": {"odrl:action": {"@id": "odrl:use"}, )" + spatial + "}";
  const std::string commerce =
      R"("odrl:prohibition": {"odrl:action": {"@id": "odrl:commercialize"}})";
  const std::string all = R"("permission": {"action": "odrl:use"})";
  const auto constrained = [](const std::string& constraint) {
    return odrl(R"("permission": {"action": "use", "constraint": )" + constraint + "}");
  };
  hold({
      {odrl(permission), "research region=DE", kYes},
      {odrl(permission), "research region=FR", kNo},
      {odrl(permission), "research", kOpen},
      {odrl(permission + ", " + commerce), "commercial region=DE", kNo},
      {odrl(permission + ", " + commerce), "research commercial=no region=DE", kYes},
      {odrl(permission + ", " + commerce), "research region=DE", kOpen},
      {odrl(all + ", " + commerce + R"(, "conflict": {"@id": "odrl:perm"})"), "commercial", kYes},
      {odrl(all + ", " + commerce + R"(, "conflict": "odrl:invalid")"), "commercial", kOpen},
      {odrl(all + ", " + commerce + R"(, "conflict": "odrl:prohibit")"), "commercial", kNo},
      {odrl(all + ", " + commerce + R"(, "conflict": "coin-toss")"), "benchmark", kOpen},
      {odrl(commerce), "research commercial=no", kOpen},
      {odrl(commerce), "commercial", kNo},
      {odrl(all), "", kYes},
      {odrl(R"("permission": {"action": "use", "duty": {"action": "attribute"}})"), "research",
       kOpen},
      {odrl(all + R"(, "obligation": {"action": "attribute"})"), "research", kOpen},
      {odrl(R"("permission": {"action": "teleport"})"), "research", kOpen},
      {odrl(R"("permission": {"action": "distribute"})"), "research", kNo},
      {odrl(R"("permission": "yes")"), "research", kOpen},
      {constrained(R"({"leftOperand": "spatial", "operator": "resembles", "rightOperand": "DE"})"),
       "research region=DE", kOpen},
      {constrained(R"({"leftOperand": "mood", "operator": "eq", "rightOperand": "good"})"),
       "research", kOpen},
      {constrained(R"({"leftOperand": "spatial", "operator": "neq", "rightOperand": "DE"})"),
       "research region=DE", kNo},
      {constrained(
           R"({"leftOperand": "spatial", "operator": "isAnyOf", "rightOperand": ["EU", "US"]})"),
       "research region=IT", kYes},
      {constrained(R"({"leftOperand": "purpose", "operator": "eq", "rightOperand": "research"})"),
       "health-research", kYes},
      {constrained(R"({"leftOperand": "purpose", "operator": "eq", "rightOperand": "research"})"),
       "benchmark", kNo},
      {constrained(R"({"or": {"@list": [
           {"leftOperand": "spatial", "operator": "eq", "rightOperand": "DE"},
           {"leftOperand": "spatial", "operator": "eq", "rightOperand": "FR"}]}})"),
       "research region=FR", kYes},
      {constrained(R"({"and": [
           {"leftOperand": "spatial", "operator": "eq", "rightOperand": "DE"},
           {"leftOperand": "mood", "operator": "eq", "rightOperand": "x"}]})"),
       "research region=FR", kNo},
  });
}

TEST(UsePolicy, croissants_own_examples_are_read) {
  hold({
      {odrl(R"("odrl:permission": {"odrl:action": {"@id": "duo:0000006"}})"), "health-research",
       kYes},
      {odrl(R"("odrl:permission": {"odrl:action": {"@id": "duo:0000006"}})"), "benchmark", kNo},
      {odrl(R"("permission": {"action": "use", "constraint":
               {"operator": "eq", "rightOperand": {"@id": "duo:0000018"}}})"),
       "research commercial=no nonprofit=yes", kYes},
      {odrl(R"("permission": {"action": "use", "constraint":
               {"leftOperand": {"@id": "duo:0000010"}, "operator": "eq",
                "rightOperand": {"@id": "duo:0000018"}}})"),
       "commercial", kNo},
  });
}

TEST(UsePolicy, a_record_set_that_is_not_used_does_not_count) {
  const Json json = with_policy(duo("0000004"), R"(, "recordSet": [{"@id": "open", "field": []},
          {"@id": "closed", "usageInfo": {"termCode": "DUO_0000011"}, "field": [
              {"@id": "closed/a", "source": {"fileObject": {"@id": "f"}}}]}])");
  EXPECT_EQ(judge_use(json, use_of("research set=open")).allowed, kYes);
  EXPECT_EQ(judge_use(json, use_of("research set=closed")).allowed, kNo);
  const UseVerdict all = judge_use(json, use_of("research"));
  EXPECT_EQ(all.allowed, kNo);
  EXPECT_EQ(all.decided.front().where, "recordSet 'closed' > usageInfo");
}

TEST(UsePolicy, licences_count_where_they_are_known) {
  const auto with_licence = [](const std::string& licence, std::string_view use) {
    const auto json = Json::parse(R"({"@type": "sc:Dataset", "license": )" + licence + "}");
    return judge_use(*json, use_of(use)).allowed;
  };
  EXPECT_EQ(with_licence(R"("CC-BY-NC-4.0")", "commercial"), kNo);
  EXPECT_EQ(with_licence(R"("https://creativecommons.org/licenses/by-nc/4.0/")", ""), kOpen);
  EXPECT_EQ(with_licence(R"("CC BY-NC 4.0")", "research commercial=no"), kYes);
  EXPECT_EQ(with_licence(R"("https://creativecommons.org/licenses/by/4.0/")", "commercial"), kYes);
  EXPECT_EQ(with_licence(R"("Apache-2.0")", "commercial"), kYes);
  EXPECT_EQ(with_licence(R"("house rules")", "research"), kOpen);
  EXPECT_EQ(with_licence(R"(["CC-BY-NC-4.0", "MIT"])", "commercial"), kYes);
  // A policy may restrict what a licence allows, and the other way round.
  const Json both_say = with_policy(duo("0000042"), R"(, "license": "MIT")");
  EXPECT_EQ(judge_use(both_say, use_of("benchmark")).allowed, kNo);
  const Json other = with_policy(duo("0000004"), R"(, "license": "CC-BY-NC-4.0")");
  EXPECT_EQ(judge_use(other, use_of("commercial")).allowed, kNo);
}

TEST(UsePolicy, nothing_said_is_unknown) {
  const auto json = Json::parse(R"({"@type": "sc:Dataset"})");
  const UseVerdict verdict = judge_use(*json, use_of("research"));
  EXPECT_EQ(verdict.allowed, kOpen);
  EXPECT_EQ(verdict.decided.front().what, "nothing in it says what it may be used for");
}

TEST(UsePolicy, codes_are_found_in_every_spelling) {
  EXPECT_EQ(duo_code("duo:0000042"), "0000042");
  EXPECT_EQ(duo_code("DUO_0000042"), "0000042");
  EXPECT_EQ(duo_code("http://purl.obolibrary.org/obo/DUO_0000042"), "0000042");
  EXPECT_EQ(duo_code("a duo of singers"), "");
  EXPECT_EQ(duo_code("duo:42"), "");
}

}  // namespace
}  // namespace assay::dataset::croissant
