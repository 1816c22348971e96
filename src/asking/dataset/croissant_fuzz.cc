// Any bytes as a dataset's Croissant file, beside files that it may name: its findings, what it may
// be used for, and the rows that can be read. Nothing outside its folder is read.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "base/text.h"
#include "dataset/croissant_check.h"
#include "dataset/datasheet.h"
#include "dataset/provenance.h"
#include "dataset/use_policy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  using namespace assay::dataset;
  static const TempFolder kFolder;
  static const bool kWritten =
      write_file_atomic(kFolder.path() / "d.csv", "a,b\n1,x\n2,y\n3,\"z,z\"\n").has_value() &&
      write_file_atomic(kFolder.path() / "d.jsonl", "{\"a\":[1,{\"b\":2}]}\n{\"a\":null}\n")
          .has_value() &&
      write_file_atomic(kFolder.path() / "d.json", "{\"rows\":[{\"a\":1},{\"a\":\"t\"}]}")
          .has_value() &&
      write_file_atomic(kFolder.path() / "t/one.txt", "first\nsecond\n").has_value();
  CHECK(kWritten);
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const croissant::Finding& finding : croissant::check_document(text)) {
    CHECK(!finding.rule.empty() && !finding.what.empty());
  }
  if (const auto json = Json::parse(text)) {
    const croissant::UseVerdict verdict = croissant::judge_use(*json, {.region = "EU"});
    CHECK(!verdict.decided.empty() && verdict.decided.front().says == verdict.allowed);
    // Every answer takes a while: only short documents.
    if (size < 2000) static_cast<void>(datasheet_of(*json));
    static_cast<void>(croissant::provenance_graph(croissant::provenance_of(*json), "d"));
  }
  const auto file = kFolder.path() / "croissant.json";
  // Do not sync: this runs thousands of times.
  File out(std::fopen(file.c_str(), "wbe"));
  CHECK(out && std::fwrite(text.data(), 1, text.size(), out.get()) == text.size());
  CHECK(std::fclose(out.release()) == 0);
  for (const croissant::Finding& finding : croissant::check_rows(file, 20)) {
    CHECK(!finding.rule.empty() && !finding.what.empty());
  }
  return 0;
}
