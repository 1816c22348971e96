#include "dataset/datasheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/rng.h"
#include "dataset/use_policy.h"

namespace assay::dataset {
namespace {

constexpr const char* kDocument = R"({
  "@context": {"cr": "http://mlcommons.org/croissant/", "sc": "https://schema.org/"},
  "@type": "sc:Dataset", "name": "prompts", "conformsTo": "http://mlcommons.org/croissant/1.1",
  "license": ["https://creativecommons.org/licenses/by/4.0/", {"name": "house licence"}],
  "creator": {"@type": "sc:Person", "name": "A. Person"}, "inLanguage": ["en", "fr"],
  "usageInfo": {"@type": "odrl:Offer", "odrl:permission": {"odrl:action": {"@id": "odrl:use"},
    "odrl:constraint": [{"odrl:leftOperand": {"@id": "odrl:spatial"},
      "odrl:operator": {"@id": "odrl:eq"}, "odrl:rightOperand": "EU"}]},
    "odrl:prohibition": {"odrl:action": {"@id": "odrl:commercialize"}}},
  "rai:dataCollection": "asked of volunteers", "rai:dataBiases": ["few regions", "one age group"],
  "prov:wasDerivedFrom": {"@id": "urn:from"},
  "distribution": [{"@type": "cr:FileObject", "@id": "a.csv", "contentUrl": "a.csv",
    "encodingFormat": "text/csv", "contentSize": "12 B", "sha256": "00"}],
  "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "field": [
    {"@type": "cr:Field", "@id": "rows/prompt", "dataType": "sc:Text", "description": "asked",
     "subField": {"@type": "cr:Field", "@id": "rows/prompt/lang", "dataType": "sc:Text"}}]}]
})";

Json document() { return Json::parse(kDocument).value(); }

TEST(Datasheet, says_what_the_file_says) {
  ASSERT_TRUE(is_croissant(document()));
  const Json sheet = datasheet_of(document());
  EXPECT_EQ(sheet["name"].as_string(), "prompts");
  EXPECT_EQ(sheet["licences"].dump(),
            R"(["https://creativecommons.org/licenses/by/4.0/","house licence"])");
  EXPECT_EQ(sheet["creators"].dump(), R"(["A. Person"])");
  EXPECT_EQ(sheet["languages"].dump(), R"(["en","fr"])");
  EXPECT_EQ(sheet["files"][0]["size"].as_string(), "12 B");
  EXPECT_EQ(sheet["fields_total"].as_uint(), 2u);
  EXPECT_EQ(sheet["fields"][1]["id"].as_string(), "rows/prompt/lang");
  EXPECT_EQ(sheet["fields"][0]["type"].as_string(), "Text");
  EXPECT_EQ(sheet["provenance"][0].dump(),
            R"({"of":"","relation":"wasDerivedFrom","what":"urn:from"})");
  EXPECT_EQ(sheet["responsible_ai"][1]["says"].dump(), R"(["few regions","one age group"])");
  EXPECT_GT(sheet["findings"].size(), 0u);  // no url, no citeAs
  EXPECT_EQ(sheet.find("url"), nullptr);
}

// Each answer of the table is what judge_use says of that use.
void hold_answers(const Json& described, std::size_t verdicts) {
  const Json sheet = datasheet_of(described);
  const Json& use = sheet["use"];
  const std::array<const char*, 5> axes = {"purposes", "commercial", "nonprofit", "methods",
                                           "regions"};
  std::size_t all = 1;
  for (const char* const axis : axes) all *= use[axis].size();
  ASSERT_EQ(use["answers"].size(), all);
  const auto yes = [](std::string_view word, std::string_view is) {
    return word.empty() ? std::optional<bool>() : std::optional(word == is);
  };
  const std::uint64_t seed = 20261126;
  SCOPED_TRACE(format("seed {}", seed));
  Rng rng(seed);
  std::set<std::string> seen;
  for (int i = 0; i < 400; ++i) {
    std::size_t at = 0;
    std::vector<std::string> words;
    for (const char* const axis : axes) {
      const std::size_t choice = rng.below(use[axis].size());
      at = at * use[axis].size() + choice;
      words.emplace_back(use[axis][choice].as_string());
    }
    croissant::DataUse asked{.commercial = yes(words[1], "yes"),
                             .nonprofit = yes(words[2], "yes"),
                             .develops = yes(words[3], "develop"),
                             .region = words[4]};
    if (!words[0].empty()) asked.purpose = croissant::purpose_from(words[0]).value();
    const croissant::UseVerdict verdict = croissant::judge_use(described, asked);
    const Json& shown = use["verdicts"][use["answers"][at].as_uint()];
    ASSERT_EQ(shown["verdict"].as_string(), to_string(verdict.allowed)) << at;
    ASSERT_EQ(shown["decided"].dump(), verdict.to_json()["decided"].dump()) << at;
    seen.insert(std::string(shown["verdict"].as_string()));
  }
  EXPECT_EQ(seen.size(), verdicts);
}

TEST(Datasheet, every_answer_is_the_engines) {
  hold_answers(document(), 3);
  const Json use = datasheet_of(document())["use"];
  EXPECT_EQ(use["regions"].size(), 1u + 1u + 27u + 1u);  // the EU, its countries, another one
  EXPECT_EQ(use["methods"].dump(), R"([""])");           // no term asks
  Json terms = document();
  terms.set("usageInfo", Json::parse(R"([{"@type": "DefinedTerm", "termCode": "DUO_0000042"},
      {"@type": "DefinedTerm", "termCode": "DUO_0000018"},
      {"@type": "DefinedTerm", "termCode": "DUO_0000015"},
      {"@type": "DefinedTerm", "termCode": "DUO_0000022", "region": ["DE", "JP"]}])")
                             .value());
  hold_answers(terms, 3);
  EXPECT_EQ(datasheet_of(terms)["use"]["regions"].dump(), R"(["","DE","JP","EU","ZZ"])");
  EXPECT_EQ(datasheet_of(terms)["use"]["nonprofit"].dump(), R"(["","yes","no"])");
}

TEST(Datasheet, other_json_is_no_croissant_file) {
  for (const char* const text :
       {"{}", "[]", R"({"@type":"sc:Dataset"})", R"({"@context":{},"@type":"sc:Person"})",
        R"({"@context":{},"@type":"sc:Dataset","name":"a page's own description"})"}) {
    EXPECT_FALSE(is_croissant(Json::parse(text).value())) << text;
  }
}

TEST(Datasheet, more_rows_than_are_listed_are_counted) {
  Json crowd = document();
  Json files = Json::array();
  for (std::size_t i = 0; i < kDatasheetRowsMax + 7; ++i) {
    files.push_back(Json().set("@type", "cr:FileObject").set("@id", format("{}.csv", i)));
  }
  crowd.set("distribution", std::move(files));
  const Json sheet = datasheet_of(crowd);
  EXPECT_EQ(sheet["files"].size(), kDatasheetRowsMax);
  EXPECT_EQ(sheet["files_total"].as_uint(), kDatasheetRowsMax + 7);
}

}  // namespace
}  // namespace assay::dataset
