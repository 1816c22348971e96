#include "dataset/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/compression.h"
#include "dataset/croissant_value.h"
#include "dataset/json_path.h"
#include "dataset/parquet.h"

namespace assay::dataset {
namespace {

using testing::HasSubstr;

TEST(Paths, what_leaves_a_folder_is_not_safe) {
  for (const char* name : {"a", "a/b.csv", "a..b/..c", "...", "./a"}) {
    EXPECT_TRUE(is_safe_path(name)) << name;
  }
  for (const char* name : {"", "/a", "..", "a/../b", "../a", "a/..", "a\\..\\b", "C:/a", "C:a"}) {
    EXPECT_FALSE(is_safe_path(name)) << name;
  }
  EXPECT_FALSE(is_safe_path(std::string_view("a\0b", 3)));
}

// Literals, overlapping copies, and every kind of broken block.
TEST(Compression, snappy_blocks) {
  const std::string run = std::string("\x0A", 1) + std::string("\x00", 1) + "a" +  // literal "a"
                          std::string("\x15\x01", 2);                              // 9 from 1 back
  const auto plain = decompress(Compression::snappy, run, 10);
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(*plain, "aaaaaaaaaa");
  EXPECT_FALSE(decompress(Compression::snappy, run, 9));
  for (std::size_t cut = 0; cut < run.size(); ++cut) {
    EXPECT_FALSE(decompress(Compression::snappy, run.substr(0, cut), 10));
  }
  // A copy from before the beginning is an error.
  EXPECT_FALSE(decompress(Compression::snappy, std::string("\x0A\x00\x61\x15\x02", 5), 10));
}

// One literal, then 9 bytes from 1 back; then the last literals, at least five.
constexpr std::string_view kLz4Block(
    "\x15\x61\x01\x00\x50"
    "bcdef",
    10);
constexpr std::string_view kLz4Plain = "aaaaaaaaaabcdef";

TEST(Compression, lz4_blocks) {
  const auto plain = decompress(Compression::lz4_raw, kLz4Block, 15);
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(*plain, kLz4Plain);
  EXPECT_FALSE(decompress(Compression::lz4_raw, kLz4Block, 16));
  EXPECT_FALSE(decompress(Compression::lz4_raw, kLz4Block, std::size_t{1} << 31));
  for (std::size_t cut = 0; cut < kLz4Block.size(); ++cut) {
    EXPECT_FALSE(decompress(Compression::lz4_raw, kLz4Block.substr(0, cut), 15)) << cut;
  }
}

TEST(Compression, hadoops_lz4_is_blocks_behind_their_sizes_or_one_plain_block) {
  const std::string framed =
      std::string("\x00\x00\x00\x0F\x00\x00\x00\x0A", 8) + std::string(kLz4Block);
  const auto once = decompress(Compression::lz4_hadoop, framed, 15);
  ASSERT_TRUE(once) << once.error().message;
  EXPECT_EQ(*once, kLz4Plain);
  const auto twice = decompress(Compression::lz4_hadoop, framed + framed, 30);
  ASSERT_TRUE(twice) << twice.error().message;
  EXPECT_EQ(*twice, std::string(kLz4Plain) + std::string(kLz4Plain));
  EXPECT_EQ(decompress(Compression::lz4_hadoop, kLz4Block, 15).value_or("broken"), kLz4Plain);
  for (std::size_t cut = 0; cut < framed.size(); ++cut) {
    EXPECT_FALSE(decompress(Compression::lz4_hadoop, framed.substr(0, cut), 15)) << cut;
  }
  EXPECT_FALSE(decompress(Compression::lz4_hadoop, framed + framed, 15));
  EXPECT_EQ(decompress(Compression::lz4_hadoop, "", 0).value_or("broken"), "");
}

TEST(Compression, brotli_streams) {
  // 40 times "a", by the program `brotli`.
  const std::string stream("\x1F\x27\x00\xF8\x25\xC2\xA2\x8C\x00\xC0", 10);
  const auto plain = decompress(Compression::brotli, stream, 40);
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(*plain, std::string(40, 'a'));
  EXPECT_FALSE(decompress(Compression::brotli, stream, 39));
  EXPECT_FALSE(decompress(Compression::brotli, stream, 41));
  EXPECT_FALSE(decompress(Compression::brotli, stream + "x", 40));
  EXPECT_FALSE(decompress(Compression::brotli, "not brotli", 40));
  for (std::size_t cut = 0; cut < stream.size(); ++cut) {
    EXPECT_FALSE(decompress(Compression::brotli, stream.substr(0, cut), 40)) << cut;
  }
}

TEST(Compression, more_than_may_come_out_is_an_error) {
  // A gzip of a megabyte of zeros has a thousand bytes; this text is not gzip.
  EXPECT_THAT(decompress_up_to(Compression::gzip, "\x1F\x8Bxx", 10).error().message,
              HasSubstr("gzip"));
  EXPECT_THAT(decompress_up_to(Compression::zstd, "(\xB5/\xFDxx", 10).error().message,
              HasSubstr("zstd"));
  EXPECT_THAT(decompress_up_to(Compression::none, "abc", 2).error().message,
              HasSubstr("more than"));
}

TEST(JsonPath, names_what_it_says) {
  const Json json = *Json::parse(R"({"a":[{"b":1},{"b":2,"c":{"b":3}}],"x y":4})");
  const auto found = [&](std::string_view text) {
    const auto path = JsonPath::parse(text);
    EXPECT_TRUE(path) << text;
    std::string out;
    if (!path) return out;
    for (const Json* value : path->find(json)) out += value->dump() + ";";
    return out;
  };
  EXPECT_EQ(found("$.a[*].b"), "1;2;");
  EXPECT_EQ(found("$.a[-1].c"), R"({"b":3};)");
  EXPECT_EQ(found("$..b"), "1;2;3;");
  EXPECT_EQ(found("$['x y']"), "4;");
  EXPECT_EQ(found("a[0].*"), "1;");
  EXPECT_EQ(found("$.nothing[3]"), "");
  for (const char* text : {"$.a[", "$.a[?(@.b)]", "$.", "$a b]", "$.a..", "$.a[x]"}) {
    EXPECT_FALSE(JsonPath::parse(text)) << text;
  }
}

TEST(GroupRegex, gives_its_group_as_pythons_match) {
  const auto group = [](const char* pattern, std::string_view text) {
    const auto regex = croissant::GroupRegex::compile(pattern);
    EXPECT_TRUE(regex) << pattern;
    std::string out;
    if (!regex) return std::string("?");
    const auto found = regex->match(text, out);
    EXPECT_TRUE(found);
    return found && *found ? out : std::string("none");
  };
  EXPECT_EQ(group("^(train|test)/.*\\.csv$", "train/x.csv"), "train");
  EXPECT_EQ(group("q(\\d+)\\.csv", "q12.csv"), "12");
  EXPECT_EQ(group("q(\\d+)\\.csv", "aq12.csv"), "none");
  EXPECT_EQ(group(".*?(a+)b", "xaaab"), "aaa");
  EXPECT_EQ(group("(?P<year>\\d{4})-(\\d\\d)", "2026-11"), "2026");
  EXPECT_EQ(group("abc", "abcd"), "abc");
  EXPECT_EQ(group("[(](\\w+)[)]", "(in)"), "in");
}

TEST(Parquet, what_is_none_is_an_error) {
  const auto error = [](std::string bytes) {
    const auto source = open_parquet(InputFile::of(std::move(bytes)), "x");
    return source ? std::string("no error") : source.error().message;
  };
  EXPECT_THAT(error(""), HasSubstr("too short"));
  EXPECT_THAT(error("PAR1 and no more than text"), HasSubstr("no PAR1 at its end"));
  EXPECT_THAT(error(std::string("PAR1\xFF\xFF\xFF\xFFPAR1", 12)), HasSubstr("footer"));
  EXPECT_THAT(error(std::string("PAR1\0\0\0\0PARE", 12)), HasSubstr("encrypted"));
}

}  // namespace
}  // namespace assay::dataset
