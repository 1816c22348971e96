#include "dataset/croissant_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/croissant_check.h"

namespace assay::dataset {
namespace {

Json row(std::string_view text) { return Json::parse(text).value(); }

TEST(CroissantWrite, a_column_has_the_type_that_all_its_values_have) {
  ColumnFold fold(false);
  fold.add(row(R"({"a":1,"b":1,"c":"x","d":[1,2],"e":true,"f":1,"g":[1],"h":{"x":1},"i":null})"));
  fold.add(row(R"({"a":2,"b":1.5,"c":null,"d":[],"e":false,"f":"x","g":2,"j":["s"]})"));
  EXPECT_THAT(
      fold.columns(),
      ::testing::ElementsAre(
          DescribedColumn{"a", "sc:Integer", false}, DescribedColumn{"b", "sc:Float", false},
          DescribedColumn{"c", "sc:Text", false}, DescribedColumn{"d", "sc:Integer", true},
          DescribedColumn{"e", "sc:Boolean", false}, DescribedColumn{"f", "sc:Text", false},
          DescribedColumn{"g", "sc:Text", false}, DescribedColumn{"h", "sc:Text", false},
          DescribedColumn{"i", "sc:Text", false}, DescribedColumn{"j", "sc:Text", true}));
}

TEST(CroissantWrite, texts_of_csv_are_numbers_if_each_is_one) {
  ColumnFold fold(true);
  fold.add(row(R"({"n":"1","x":"1.5","t":"1","empty":""})"));
  fold.add(row(R"({"n":"22","x":"2","t":"one","empty":""})"));
  EXPECT_THAT(fold.columns(), ::testing::ElementsAre(DescribedColumn{"n", "sc:Integer", false},
                                                     DescribedColumn{"x", "sc:Float", false},
                                                     DescribedColumn{"t", "sc:Text", false},
                                                     DescribedColumn{"empty", "sc:Text", false}));
}

TEST(CroissantWrite, what_is_written_is_valid_and_names_what_nobody_said) {
  Description about{.name = "set"};
  about.files = {{.url = "a.jsonl",
                  .mime = "application/jsonlines",
                  .bytes = 3,
                  .sha256 = std::string(64, 'a')}};
  about.columns = {
      {"two words", "sc:Text", false}, {"two/words", "sc:Text", false}, {"list", "sc:Float", true}};
  const Json bare = croissant_document(about);
  for (const auto& one : croissant::check_document(bare.dump())) {
    EXPECT_FALSE(one.error) << one.rule << " " << one.what;
    EXPECT_EQ(one.rule, "recommended") << one.what;
  }
  const Json& fields = bare["recordSet"][0]["field"];
  EXPECT_EQ(fields[0]["@id"].as_string(), "rows/two_words");
  EXPECT_EQ(fields[1]["@id"].as_string(), "rows/two_words-2");
  EXPECT_EQ(fields[1]["source"]["extract"]["column"].as_string(), "two/words");
  EXPECT_EQ(fields[2]["arrayShape"].as_string(), "-1");
  about.facts = {
      {"license", "CC0-1.0"}, {"url", "https://example.com"},  {"creator", "us"},
      {"citeAs", "us 2026"},  {"datePublished", "2026-11-24"}, {"derivedFrom", "urn:from"}};
  const Json whole = croissant_document(about);
  EXPECT_THAT(croissant::check_document(whole.dump()), ::testing::IsEmpty());
  EXPECT_EQ(whole["prov:wasDerivedFrom"]["@id"].as_string(), "urn:from");
}

}  // namespace
}  // namespace assay::dataset
