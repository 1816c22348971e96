// What replies made, as files of a run folder: by hash, found by query, lost only with a count.
#include "campaign/artefact_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/testing_temp_folder.h"

namespace assay::campaign {
namespace {

using testing::HasSubstr;

std::string png_reply(std::string_view base64) {
  return format(R"({{"data":[{{"b64_json":"{0}"}},{{"b64_json":"{0}"}}]}})", base64);
}

class ArtefactFiles : public testing::Test {
 protected:
  std::unique_ptr<ArtefactWriter> open() {
    auto made = ArtefactWriter::open(folder_.path(), {false, true}, budget_);
    EXPECT_TRUE(made);
    return std::move(*made);
  }

  TempFolder folder_{};
  MemoryBudget budget_{4096};
};

TEST_F(ArtefactFiles, equal_bytes_are_one_file_that_each_query_of_a_counted_phase_names) {
  const auto writer = open();
  writer->queue().put({.index = 1, .phase = 0}, Api::openai_images, png_reply("iVBORw0K"));
  writer->queue().put({.index = 2, .phase = 1}, Api::openai_images, png_reply("iVBORw0K"));
  writer->queue().put({.index = 3, .phase = 1}, Api::openai_images, png_reply("iVBORw0L"));
  writer->queue().put({.index = 4, .phase = 1}, Api::openai_images, R"({"data":[{"url":"x"}]})");
  const ArtefactTally tally = writer->finish();
  EXPECT_EQ(tally.kept, 4U);
  EXPECT_EQ(tally.files, 2U);
  EXPECT_EQ(tally.lost, 0U);
  const auto found = read_artefacts(folder_.path());
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  const Json& second = found->at({1, 2});
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[0]["type"].as_string(), "image/png");
  const auto bytes = read_file(std::string(second[1]["path"].as_string()));
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, "\x89PNG\r\n");
  EXPECT_EQ(second[1]["sha256"].as_string(), sha256_hex(*bytes));
  EXPECT_EQ(budget_.in_use(), 0U);
}

TEST_F(ArtefactFiles, what_has_no_room_or_cannot_be_read_is_counted_with_the_first_reason) {
  const auto writer = open();
  writer->queue().put({.index = 1, .phase = 1}, Api::openai_images,
                      R"({"data":[{"b64_json":"?"}]})");
  writer->queue().put({.index = 2, .phase = 1}, Api::openai_speech, std::string(5000, 'x'));
  const ArtefactTally tally = writer->finish();
  EXPECT_EQ(tally.kept, 0U);
  EXPECT_EQ(tally.lost, 2U);
  EXPECT_THAT(tally.trouble, HasSubstr("base64"));
}

TEST_F(ArtefactFiles, a_folder_without_them_has_none_and_a_broken_index_is_named_by_its_line) {
  const auto none = read_artefacts(folder_.path());
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
  ASSERT_TRUE(make_folders(folder_.path() / "artefacts"));
  ASSERT_TRUE(write_file_atomic(folder_.path() / "artefacts/index.jsonl",
                                "{\"phase\":1,\"query\":2,\"file\":\"a\"}\n{\"phase\":1}\n"));
  const auto broken = read_artefacts(folder_.path());
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("index.jsonl:2"));
}

}  // namespace
}  // namespace assay::campaign
