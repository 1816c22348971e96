// Tensors of NumPy's files and of rows that name files.
#include "dataset/tensor_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/format.h"
#include "domain/tensor.h"

namespace assay::dataset {
namespace {

using testing::HasSubstr;

// As numpy.save writes it.
std::string npy(std::string_view type, std::string_view shape, std::string_view elements,
                std::string_view order = "False") {
  std::string header =
      format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, order, shape);
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  return out.append(header).append(elements);
}

class TensorRows : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              format("tensor_rows_{}", testing::UnitTest::GetInstance()->random_seed());
    folder_ /= testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, std::string_view bytes) {
    EXPECT_TRUE(write_file_atomic(folder_ / name, bytes));
    return (folder_ / name).string();
  }

  std::filesystem::path folder_{};
};

TEST_F(TensorRows, each_row_of_an_array_is_a_tensor_with_a_batch_of_one) {
  const std::string path = file("pixels.npy", npy("|u1", "(2, 3)", "abcdef"));
  const auto data = load_dataset({.path = path, .parser = {{"image", "pixels"}}});
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->samples.size(), 2U);
  ASSERT_EQ(data->samples[1].attachments.size(), 1U);
  const Attachment& tensor = data->samples[1].attachments[0];
  EXPECT_EQ(tensor.name, "image");
  EXPECT_EQ(tensor.type, "UINT8");
  EXPECT_EQ(tensor.shape, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(tensor.bytes, "def");
  EXPECT_EQ(data->name, "pixels");
  EXPECT_EQ(data->sha256.size(), 64U);
  EXPECT_EQ(load_dataset({.path = path, .rows_max = 1})->samples.size(), 1U);
  EXPECT_EQ(load_dataset({.path = path, .keep_max = 1})->not_kept, 1U);
}

TEST_F(TensorRows, texts_become_elements_with_their_length) {
  const auto narrow = read_npy(npy("|S3", "(2,)", std::string_view("ab\0abc", 6)));
  ASSERT_TRUE(narrow) << narrow.error().message;
  EXPECT_EQ(narrow->type, "BYTES");
  EXPECT_EQ(tensor_texts(narrow->bytes), (std::vector<std::string_view>{"ab", "abc"}));
  const auto wide =
      read_npy(npy("<U2", "(1,)", std::string_view("\xe9\x00\x00\x00\x00\xf6\x01\x00", 8)));
  ASSERT_TRUE(wide) << wide.error().message;
  EXPECT_EQ(tensor_texts(wide->bytes)[0], "\xc3\xa9\xf0\x9f\x98\x80");
}

TEST_F(TensorRows, what_cannot_be_sent_is_refused_with_the_remedy) {
  const auto why = [&](std::string_view bytes) {
    const auto data = load_dataset({.path = file("x.npy", bytes)});
    EXPECT_FALSE(data);
    return data ? std::string() : data.error().message;
  };
  EXPECT_THAT(why(npy(">f4", "(1, 1)", "abcd")), HasSubstr("astype('<f4')"));
  EXPECT_THAT(why(npy("<f4", "(1, 1)", "abcd", "True")), HasSubstr("ascontiguousarray"));
  EXPECT_THAT(why(npy("|O", "(1,)", "abcd")), HasSubstr("not a plain NumPy type"));
  EXPECT_THAT(why(npy("<c8", "(1,)", "abcdefgh")), HasSubstr("none of bool"));
  EXPECT_THAT(why(npy("<f4", "(2, 1)", "abcd")), HasSubstr("4 bytes, where its shape"));
  EXPECT_THAT(why(npy("<f4", "()", "abcd")), HasSubstr("has no rows"));
  EXPECT_THAT(why("\x93NUMPY"), HasSubstr("no .npy file"));
  EXPECT_THAT(why(npy("|u1", "(9999999999, 9999999999, 9999999999)", "")), HasSubstr("too many"));
  const auto missing = load_dataset(
      {.path = file("x.npy", npy("|u1", "(1, 1)", "a")), .parser = {{"image", "pixels"}}});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("there is no array 'pixels'; it has: x"));
}

TEST_F(TensorRows, rows_may_name_files_of_tensors_in_their_folder) {
  constexpr std::array<std::string_view, 1> kColumns{"inputs"};
  file("a.npy", npy("<i4", "(1, 2)", "aaaabbbb"));
  file("raw.bin", "12345678");
  const std::string rows = file("rows.jsonl", R"({"inputs": [{"name": "a", "file": "a.npy"},
 {"name": "c", "shape": [1], "datatype": "FP32", "data": [1.5]},
 {"name": "b", "file": "raw.bin", "datatype": "FP32", "shape": [1, 2]}]})"
                                              "\n");
  std::string one_line = *read_file(rows);
  std::erase(one_line, '\n');
  const auto data = load_dataset({.path = file("rows.jsonl", one_line), .kind_columns = kColumns});
  ASSERT_TRUE(data) << data.error().message;
  const Sample& sample = data->samples[0];
  ASSERT_EQ(sample.attachments.size(), 2U);
  EXPECT_EQ(sample.attachments[0].type, "INT32");
  EXPECT_EQ(sample.attachments[1].bytes, "12345678");
  EXPECT_EQ(sample.body["inputs"].size(), 1U);
  const auto why = [&](std::string_view entry) {
    const auto read = load_dataset({.path = file("x.jsonl", format(R"({{"inputs": [{}]}})", entry)),
                                    .kind_columns = kColumns});
    EXPECT_FALSE(read);
    return read ? std::string() : read.error().message;
  };
  EXPECT_THAT(why(R"({"name": "a", "file": "../a.npy"})"), HasSubstr("data set's folder"));
  EXPECT_THAT(why(R"({"name": "a", "file": "/etc/hostname"})"), HasSubstr("data set's folder"));
  EXPECT_THAT(why(R"({"name": "a", "file": "raw.bin", "datatype": "FP32", "shape": [3]})"),
              HasSubstr("3 elements of FP32 are 12 bytes, and it has 8"));
}

TEST(Tensor, a_shape_says_how_many_bytes_belong_to_it) {
  const std::array<std::int64_t, 2> shape{2, 3};
  EXPECT_TRUE(check_tensor("FP16", shape, "abcdefghijkl"));
  EXPECT_FALSE(check_tensor("FP16", shape, "abcdefghijk"));
  EXPECT_FALSE(check_tensor("FLOAT", shape, "abcdef"));
  const std::array<std::int64_t, 3> huge{1 << 30, 1 << 30, 1 << 30};
  EXPECT_FALSE(check_tensor("INT8", huge, ""));
  const std::array<std::int64_t, 1> negative{-1};
  EXPECT_FALSE(check_tensor("INT8", negative, "a"));
  std::string texts;
  append_tensor_text(texts, "ab");
  append_tensor_text(texts, "");
  const std::array<std::int64_t, 1> two{2};
  EXPECT_TRUE(check_tensor("BYTES", two, texts));
  EXPECT_FALSE(check_tensor("BYTES", two, texts.substr(0, texts.size() - 1)));
  EXPECT_FALSE(check_tensor("BYTES", negative, texts));
}

}  // namespace
}  // namespace assay::dataset
