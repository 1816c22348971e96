// Files of rows: by name, by bytes, several in a cell; and never a transcript as a prompt.
#include "dataset/file_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/format.h"
#include "dataset/dataset.h"

namespace assay::dataset {
namespace {

using testing::HasSubstr;

constexpr std::array<std::string_view, 3> kFileNames{"audio", "image", "mask"};

class FileRows : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              format("file_rows_{}", testing::UnitTest::GetInstance()->random_seed());
    folder_ /= testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_ / "clips");
    EXPECT_TRUE(write_file_atomic(folder_ / "clips/a.flac", "fLaC1234"));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Result<Dataset> load(std::string_view row) {
    EXPECT_TRUE(write_file_atomic(folder_ / "x.jsonl", std::string(row) + "\n"));
    return load_dataset(
        {.path = (folder_ / "x.jsonl").string(), .kind_columns = kFileNames, .keep_columns = true});
  }
  std::string why(std::string_view row) {
    const auto data = load(row);
    EXPECT_FALSE(data) << row;
    return data ? "" : data.error().message;
  }

  std::filesystem::path folder_{};
};

TEST_F(FileRows, a_cell_names_a_file_and_the_transcript_stays_for_the_scorer) {
  const auto data = load(R"({"audio": "clips/a.flac", "text": "hello world"})");
  ASSERT_TRUE(data) << data.error().message;
  const Sample& sample = data->samples[0];
  ASSERT_EQ(sample.attachments.size(), 1U);
  EXPECT_EQ(sample.attachments[0].name, "file");
  EXPECT_EQ(sample.attachments[0].file, "a.flac");
  EXPECT_EQ(sample.attachments[0].type, "audio/flac");
  EXPECT_EQ(sample.attachments[0].bytes, "fLaC1234");
  EXPECT_EQ(sample.prompt, "");
  EXPECT_TRUE(sample.body.is_null());
  EXPECT_EQ(sample.columns["text"].as_string(), "hello world");
  EXPECT_EQ(load(R"({"audio": "clips/a.flac", "prompt": "names"})")->samples[0].prompt, "names");
}

TEST_F(FileRows, a_cell_may_hold_the_bytes) {
  const auto plain = load(R"({"audio": "data:;base64,UklGRgAA"})");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->samples[0].attachments[0].file, "sound.wav");
  EXPECT_EQ(plain->samples[0].attachments[0].bytes, std::string("RIFF\0\0", 6));
  const auto named = load(R"({"audio": {"path": "far/b.wav", "bytes": "data:;base64,UklGRgAA"}})");
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->samples[0].attachments[0].file, "b.wav");
}

TEST_F(FileRows, pictures_are_files_of_a_form_one_by_its_name_and_several_as_a_list) {
  EXPECT_TRUE(write_file_atomic(folder_ / "a.png", "\x89PNG1"));
  const auto one = load(R"({"prompt": "x", "image": "a.png", "mask": "data:;base64,/9j/AAA="})");
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_EQ(one->samples[0].attachments.size(), 2U);
  EXPECT_EQ(one->samples[0].attachments[0].name, "image");
  EXPECT_EQ(one->samples[0].attachments[0].type, "image/png");
  EXPECT_EQ(one->samples[0].attachments[1].name, "mask");
  EXPECT_EQ(one->samples[0].attachments[1].file, "picture.jpg");
  EXPECT_EQ(one->samples[0].attachments[1].type, "image/jpeg");
  const auto several = load(R"({"prompt": "x", "image": ["a.png", "clips/a.flac"]})");
  ASSERT_TRUE(several) << several.error().message;
  ASSERT_EQ(several->samples[0].attachments.size(), 2U);
  for (const Attachment& file : several->samples[0].attachments) EXPECT_EQ(file.name, "image[]");
}

TEST_F(FileRows, what_is_no_file_is_refused) {
  EXPECT_THAT(why(R"({"audio": "../a.flac"})"), HasSubstr("data set's folder"));
  EXPECT_THAT(why(R"({"audio": "clips/none.wav"})"), HasSubstr("none.wav"));
  EXPECT_THAT(why(R"({"audio": 7})"), HasSubstr("a file's name, or bytes"));
  EXPECT_TRUE(write_file_atomic(folder_ / "empty.wav", ""));
  EXPECT_THAT(why(R"({"audio": "empty.wav"})"), HasSubstr("'empty.wav' is empty"));
}

}  // namespace
}  // namespace assay::dataset
