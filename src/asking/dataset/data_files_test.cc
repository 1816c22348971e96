#include "dataset/data_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "dataset/chunks.h"
#include "dataset/dataset.h"

namespace assay::dataset {
namespace {

using testing::HasSubstr;

std::string gzipped(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string zstandard(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

// All plain bytes, read in pieces of `step` packed ones.
std::string unpacked(std::string_view packed, std::size_t step) {
  Chunks chunks = Chunks::of(packed, step);
  std::string out;
  for (;;) {
    const auto piece = chunks.next();
    if (!piece) return "! " + piece.error().message;
    if (piece->empty()) break;
    out += *piece;
  }
  EXPECT_EQ(chunks.sha256().value(), sha256_hex(packed));
  return out;
}

class DataFilesTest : public testing::Test {
 protected:
  DataFilesTest() { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, std::string_view text) {
    const std::filesystem::path path = std::filesystem::path(folder_) / name;
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(write_file_atomic(path, text));
    return path.string();
  }
  std::string prompts(const Spec& spec) {
    const auto dataset = load_dataset(spec);
    if (!dataset) return "! " + dataset.error().message;
    std::string out;
    for (const Sample& sample : dataset->samples) out += sample.prompt + "|";
    return out;
  }

  std::string folder_ = testing::TempDir() + "/assay_data_files_" +
                        testing::UnitTest::GetInstance()->current_test_info()->name();
};

std::string prompt_line(std::string_view prompt) {
  return format("{{\"prompt\": \"{}\"}}\n", prompt);
}

TEST(Unpacker, streams_are_unpacked_however_they_are_cut) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += format("row {} of many\n", i * 7919 % 40'000);
  const std::string two = gzipped(text.substr(0, 1000)) + gzipped(text.substr(1000));
  const std::string frames = zstandard(text.substr(0, 70'000)) + zstandard(text.substr(70'000));
  for (const std::string& packed : {gzipped(text), two, zstandard(text), frames}) {
    for (const std::size_t step : {std::size_t{7}, std::size_t{1000}, packed.size()}) {
      ASSERT_EQ(unpacked(packed, step), text) << step;
    }
    EXPECT_THAT(unpacked(packed.substr(0, packed.size() - 5), 1000), HasSubstr("cut short"));
  }
  EXPECT_EQ(unpacked(gzipped(""), 9), "");
  EXPECT_THAT(unpacked(gzipped("abc") + "junk", 1000), HasSubstr("broken"));
  EXPECT_THAT(unpacked(zstandard("abc") + "junk", 1000), HasSubstr("zstd"));
  // A frame that states 1 byte and holds none: broken, however it is cut.
  const std::string short_frame("\x28\xb5\x2f\xfd\x20\x01\x01\x00\x00", 9);
  for (std::size_t step = 1; step <= short_frame.size(); ++step) {
    EXPECT_THAT(unpacked(short_frame, step), HasSubstr("zstd")) << step;
  }
}

TEST_F(DataFilesTest, a_packed_file_is_read_as_what_is_in_it) {
  const std::string rows = prompt_line("a") + prompt_line("b");
  EXPECT_EQ(prompts({.path = file("x.jsonl.gz", gzipped(rows))}), "a|b|");
  EXPECT_EQ(prompts({.path = file("x.jsonl.zst", zstandard(rows))}), "a|b|");
  EXPECT_EQ(prompts({.path = file("x.csv.gz", gzipped("prompt\na\n"))}), "a|");
  EXPECT_EQ(prompts({.path = file("x.json.gz", gzipped(R"([{"prompt": "a"}])"))}), "a|");
  EXPECT_EQ(prompts({.path = file("c.json.zst", zstandard(R"({"prompt": ["a", "b"]})"))}), "a|b|");
}

TEST_F(DataFilesTest, tabs_separate_and_other_separators_are_named) {
  EXPECT_EQ(prompts({.path = file("x.tsv", "prompt\tsystem\na, b\tc\n")}), "a, b|");
  EXPECT_THAT(prompts({.path = file("x.csv", "prompt\tid\na\tb\n")}), HasSubstr("format=tsv"));
  EXPECT_EQ(prompts({.path = file("y.csv", "prompt\tid\na\tb\n"), .format = "tsv"}), "a|");
  EXPECT_THAT(prompts({.path = file("z.csv", "prompt;id\na;b\n")}), HasSubstr("separated by ';'"));
}

TEST_F(DataFilesTest, the_shards_of_a_part_are_one_dataset) {
  file("data/train-00001-of-00002.jsonl", prompt_line("c"));
  file("data/train-00000-of-00002.jsonl", prompt_line("a") + prompt_line("b"));
  file("README.md", "# no rows");
  file("dataset_infos.json", "{}");
  EXPECT_EQ(prompts({.path = folder_}), "a|b|c|");
  EXPECT_EQ(prompts({.path = folder_, .format = "huggingface"}), "a|b|c|");
  EXPECT_EQ(prompts({.path = folder_, .rows_max = 2}), "a|b|");
  const auto dataset = load_dataset({.path = folder_});
  EXPECT_EQ(dataset->sha256,
            sha256_hex(sha256_hex(prompt_line("a") + prompt_line("b")) +
                       "  train-00000-of-00002.jsonl\n" + sha256_hex(prompt_line("c")) +
                       "  train-00001-of-00002.jsonl\n"));
  file("data/train-00001-of-00002.jsonl", "{}\n");
  EXPECT_THAT(prompts({.path = folder_}), HasSubstr("train-00001-of-00002.jsonl:1: this row asks"));
}

TEST_F(DataFilesTest, a_part_is_chosen_by_its_name) {
  file("data/train-00000-of-00001-0a1b2c3d.jsonl", prompt_line("train"));
  file("data/test-00000-of-00001.jsonl", prompt_line("test"));
  EXPECT_THAT(prompts({.path = folder_}), HasSubstr("several parts: test, train"));
  EXPECT_EQ(prompts({.path = folder_ + "#test"}), "test|");
  EXPECT_EQ(prompts({.path = folder_ + "#train"}), "train|");
  EXPECT_THAT(prompts({.path = folder_ + "#dev"}), HasSubstr("it has: test, train"));
  file("main/validation-00000-of-00001.jsonl", prompt_line("main"));
  file("default/deep/0001.jsonl", prompt_line("second"));
  file("default/deep/0000.jsonl", prompt_line("first"));
  EXPECT_EQ(prompts({.path = folder_ + "#main/validation"}), "main|");
  EXPECT_EQ(prompts({.path = folder_ + "#validation"}), "main|");
  EXPECT_EQ(prompts({.path = folder_ + "#deep"}), "first|second|");
}

TEST_F(DataFilesTest, what_does_not_belong_together_is_an_error) {
  file("a/train-00000-of-00003.jsonl", prompt_line("a"));
  file("a/train-00002-of-00003.jsonl", prompt_line("c"));
  EXPECT_THAT(prompts({.path = folder_}), HasSubstr("2 of 3 files are here; number 1 is missing"));
  file("a/train-00001-of-00003.csv", "prompt\nb\n");
  EXPECT_THAT(prompts({.path = folder_}), HasSubstr("several formats"));
  std::filesystem::remove(folder_ + "/a/train-00001-of-00003.csv");
  file("a/train-00001-of-00002.jsonl", prompt_line("b"));
  EXPECT_THAT(prompts({.path = folder_}), HasSubstr("do not belong together"));
  std::filesystem::create_directories(folder_ + "/empty");
  EXPECT_THAT(prompts({.path = folder_ + "/empty"}), HasSubstr("without a file of rows"));
  file("saved/state.json", "{}");
  file("saved/dataset_info.json", "{}");
  file("saved/cache-0123.arrow", "");
  EXPECT_THAT(prompts({.path = folder_ + "/saved"}), HasSubstr("without a file of rows"));
  file("saved/data-00000-of-00001.arrow", "");
  EXPECT_THAT(prompts({.path = folder_ + "/saved"}), HasSubstr("not an Arrow stream"));
  file("saved/indices.arrow", "");
  EXPECT_THAT(prompts({.path = folder_ + "/saved"}), HasSubstr("flatten_indices()"));
}

std::string tar_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out;
  for (const auto& [name, bytes] : members) {
    std::string head(512, '\0');
    head.replace(0, name.size(), name);
    const std::string size = format("{:011o}", bytes.size());
    head.replace(124, size.size(), size);
    head[156] = '0';
    head.replace(257, 5, "ustar");
    out += head + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
  }
  return out + std::string(1024, '\0');
}

TEST_F(DataFilesTest, shards_of_webdataset_are_rows_of_what_has_one_name) {
  const std::string first = tar_of({{"0/a.txt", "one"},
                                    {"0/a.json", R"({"prompt": "p1", "id": 4})"},
                                    {"0/a.cls", "7\n"},
                                    {"0/.hidden", "x"},
                                    {"0/b.json", R"({"prompt": "p2"})"},
                                    {"0/b.seg.png", "\x89PNG\r\n\x1a\n\xff"}});
  file("train-000000.tar", first);
  file("train-000001.tar.gz", gzipped(tar_of({{"c.json", R"({"prompt": "p3"})"}})));
  file("notes.txt", "no rows");
  EXPECT_EQ(prompts({.path = folder_}), "p1|p2|p3|");
  EXPECT_EQ(prompts({.path = folder_ + "#train", .rows_max = 1}), "p1|");
  const Spec spec{.path = folder_ + "/train-000000.tar"};
  const auto rows = open_rows(spec);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ((*rows)->next().value()->dump(),
            R"({"__key__":"0/a","txt":"one","prompt":"p1","id":4,"cls":7})");
  EXPECT_EQ((*rows)->place(), "0/a");
  EXPECT_EQ((*rows)->next().value()->dump(),
            R"({"__key__":"0/b","prompt":"p2","seg.png":"data:image/png;base64,iVBORw0KGgr/"})");
  EXPECT_FALSE((*rows)->next().value());
  EXPECT_EQ((*rows)->sha256().value_or(""), sha256_hex(first));
  EXPECT_EQ(prompts({.path = spec.path, .parser = {{"prompt", "txt"}}, .rows_max = 1}), "one|");
  EXPECT_EQ(prompts({.path = file("no_name", first), .format = "webdataset", .rows_max = 1}),
            "p1|");
}

TEST_F(DataFilesTest, numbers_alone_are_shards_and_archives_beside_rows_are_none) {
  file("n/00001.tar", tar_of({{"b.json", R"({"prompt": "b"})"}}));
  file("n/00000.tar", tar_of({{"a.json", R"({"prompt": "a"})"}}));
  EXPECT_EQ(prompts({.path = folder_ + "/n"}), "a|b|");
  file("m/images.tar", tar_of({{"a.jpg", "x"}}));
  file("m/train.jsonl", prompt_line("row"));
  EXPECT_EQ(prompts({.path = folder_ + "/m"}), "row|");
}

TEST_F(DataFilesTest, a_broken_shard_is_named_with_its_member) {
  const auto said = [&](const std::vector<std::pair<std::string, std::string>>& members) {
    return prompts({.path = file("x.tar", tar_of(members))});
  };
  EXPECT_THAT(said({{"a.json", "{"}}), HasSubstr("'a.json': "));
  EXPECT_THAT(said({{"a.json", R"({"txt": 1, "prompt": "p"})"}, {"a.txt", "t"}}),
              HasSubstr("'a.txt': its row 'a' has a column 'txt' already"));
  EXPECT_THAT(said({{"a.cls", "many"}}), HasSubstr("'a.cls': expected a whole number"));
  EXPECT_THAT(said({{"../a.json", "{}"}}), HasSubstr("../a.json"));
  EXPECT_THAT(prompts({.path = file("y.tar", "no archive")}),
              HasSubstr("y.tar': no tar file with a row"));
  EXPECT_THAT(said({{"a.jpg", "x"}}), HasSubstr("a: this row asks"));
}

TEST_F(DataFilesTest, a_pointer_of_git_lfs_is_named) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
  for (const char* name : {"x.jsonl", "x.json", "x.csv", "x.parquet"}) {
    EXPECT_THAT(prompts({.path = file(name, pointer)}), HasSubstr("git lfs pull")) << name;
  }
}

TEST_F(DataFilesTest, alpacas_columns_and_text_are_asked) {
  EXPECT_EQ(prompts({.path = file("alpaca.json", R"([
      {"instruction": "Add", "input": "1 2", "output": "3"},
      {"instruction": "Sing", "input": "", "output": "la"}])")}),
            "Add\n\n1 2|Sing|");
  EXPECT_EQ(prompts({.path = file("t.jsonl", "{\"text\": \"once\", \"id\": 3}\n")}), "once|");
  EXPECT_EQ(prompts({.path = file("q.jsonl", "{\"text\": \"no\", \"question\": \"yes\"}\n")}),
            "yes|");
  EXPECT_EQ(
      prompts({.path = file("i.jsonl", "{\"instruction\": \"no\", \"question\": \"yes\"}\n")}),
      "yes|");
}

}  // namespace
}  // namespace assay::dataset
