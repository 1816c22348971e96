#include "dataset/croissant_fact.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/testing_temp_folder.h"
#include "dataset/croissant.h"

namespace assay::dataset {
namespace {

constexpr const char* kText = R"({"@context": {"cr": "http://mlcommons.org/croissant/"},
  "@type": "sc:Dataset", "name": "d", "license": "CC0-1.0",
  "recordSet": {"@type": "cr:RecordSet", "@id": "r", "data": [{"r/prompt": "a secret"}]}})";

PlannedDataset asked(const std::string& path) {
  PlannedDataset out;
  out.dataset.name = "prompts";
  out.dataset.path = path;
  return out;
}

TEST(CroissantFact, keeps_what_the_data_was_described_as_and_none_of_its_rows) {
  const TempFolder folder;
  const std::string file = (folder.path() / "d.json").string();
  ASSERT_TRUE(write_file_atomic(file, kText));
  const std::string spec = "croissant:" + file + "#r?split=test";
  const Json facts = croissant_facts({asked(spec), asked(spec), asked("other.jsonl"), asked("")});
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts[0]["record_set"].as_string(), "r");
  EXPECT_EQ(facts[0]["sha256"].as_string(), sha256_hex(kText));
  EXPECT_EQ(facts[0]["document"]["license"].as_string(), "CC0-1.0");
  EXPECT_EQ(facts.dump().find("a secret"), std::string::npos);
  EXPECT_EQ(croissant_facts({asked(file)}).size(), 1u);  // by format, without the prefix
}

TEST(CroissantFact, a_long_description_leaves_its_digest) {
  const TempFolder folder;
  const std::string file = (folder.path() / "d.json").string();
  std::string text = kText;
  text.insert(1, format("\"description\": \"{}\",", std::string(kCroissantFactMax, 'x')));
  ASSERT_TRUE(write_file_atomic(file, text));
  const Json facts = croissant_facts({asked("croissant:" + file)});
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts[0].find("document"), nullptr);
  EXPECT_EQ(facts[0]["sha256"].as_string(), sha256_hex(text));
}

TEST(CroissantFact, data_without_a_description_has_none) {
  const TempFolder folder;
  const std::string file = (folder.path() / "rows.json").string();
  ASSERT_TRUE(write_file_atomic(file, R"([{"prompt": "a"}])"));
  EXPECT_EQ(croissant_facts({asked(file), asked("croissant:" + file + ".gone")}).size(), 0u);
}

TEST(CroissantFact, a_spec_has_three_parts) {
  const auto parts = [](std::string_view spec) {
    const CroissantSpec out = croissant_spec(spec);
    return format("{}|{}|{}", out.file, out.record_set, out.filters);
  };
  EXPECT_EQ(parts("croissant:a.json#r?x=1&y=2"), "a.json|r|x=1&y=2");
  EXPECT_EQ(parts("a.json#r"), "a.json|r|");
  EXPECT_EQ(parts("a?b.json"), "a?b.json||");
  EXPECT_EQ(parts("a.json#?x=1"), "a.json||x=1");
  EXPECT_EQ(parts(""), "||");
}

}  // namespace
}  // namespace assay::dataset
