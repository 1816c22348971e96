#include "metrics/token_counts.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing_temp_folder.h"

namespace assay::metrics {
namespace {

class TokenCountsFile : public testing::Test {
 protected:
  Result<TokenCounts> read(const std::string& text) {
    EXPECT_TRUE(write_file_atomic(path_, text));
    return TokenCounts::read(path_);
  }

  TempFolder folder_{};
  std::filesystem::path path_ = folder_.path() / "token_counts.jsonl";
};

constexpr const char* kHead =
    "{\"format\":\"assay-token-counts\",\"version\":1,\"source\":{\"t\":1}}\n";

TEST_F(TokenCountsFile, is_written_in_the_order_of_its_queries_and_read_back) {
  TokenCounts counts;
  counts.source = Json().set("t", 1);
  counts.set({.index = 7, .phase = 1}, {3, 2, 1});
  counts.set({.index = 0xffffffff, .phase = 0xffff}, {2147483647, -1, 0});
  counts.set({.index = 9, .phase = 0}, {});
  counts.set({.index = 2, .phase = 1}, {-1, 5, 4});
  ASSERT_TRUE(counts.write(path_));
  EXPECT_EQ(*read_file(path_), std::string(kHead) +
                                   "[0,9,-1,-1,-1]\n[1,2,-1,5,4]\n[1,7,3,2,1]\n"
                                   "[65535,4294967295,2147483647,-1,0]\n");
  const auto back = TokenCounts::read(path_);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->size(), 4U);
  EXPECT_EQ(back->source, counts.source);
  ASSERT_NE(back->find({.index = 7, .phase = 1}), nullptr);
  EXPECT_EQ(*back->find({.index = 7, .phase = 1}), (TokenCount{3, 2, 1}));
  EXPECT_EQ(*back->find({.index = 0xffffffff, .phase = 0xffff}), (TokenCount{2147483647, -1, 0}));
  EXPECT_EQ(back->find({.index = 7, .phase = 0}), nullptr);
  EXPECT_EQ(back->find({.index = 1, .phase = 7}), nullptr);
}

TEST_F(TokenCountsFile, each_number_is_taken_up_to_its_limits_and_none_beyond) {
  const auto reads = [this](const std::string& row) {
    const auto counts = read(kHead + row + "\n");
    if (!counts) {
      EXPECT_NE(counts.error().message.find("token_counts.jsonl:2"), std::string::npos)
          << counts.error().message;
    }
    return counts.has_value();
  };
  EXPECT_TRUE(reads("[0,0,-1,-1,-1]"));
  EXPECT_TRUE(reads("[65535,4294967295,2147483647,2147483647,2147483647]"));
  for (const char* const row :
       {"[-1,0,0,0,0]", "[65536,0,0,0,0]", "[0,-1,0,0,0]", "[0,4294967296,0,0,0]", "[0,0,-2,0,0]",
        "[0,0,2147483648,0,0]", "[0,0,0,-2,0]", "[0,0,0,2147483648,0]", "[0,0,0,0,-2]",
        "[0,0,0,0,2147483648]", "[0,0,0,0]", "[0,0,0,0,0,0]", "{}", "7", "[", "[null,0,0,0,0]"}) {
    EXPECT_FALSE(reads(row)) << row;
  }
}

TEST_F(TokenCountsFile, what_is_no_such_file_is_refused_with_its_place) {
  const auto why = [this](const std::string& text) {
    const auto counts = read(text);
    EXPECT_FALSE(counts) << text;
    return counts ? std::string() : counts.error().message;
  };
  EXPECT_NE(why("{\n").find("token_counts.jsonl:1"), std::string::npos);
  EXPECT_NE(
      why("{\"format\":\"other\",\"version\":1}\n").find("not version 1 of assay-token-counts"),
      std::string::npos);
  EXPECT_NE(why("{\"format\":\"assay-token-counts\",\"version\":2}\n").find(":1: not version 1"),
            std::string::npos);
  EXPECT_NE(why(std::string(kHead) + "[0,0,0,0,0]\n\n[0,0]\n").find("token_counts.jsonl:4"),
            std::string::npos)
      << "an empty line counts as a line";
  EXPECT_FALSE(TokenCounts::read(folder_.path() / "none"));
  EXPECT_EQ(read(std::string(kHead) + "\n[1,2,3,4,5]")->size(), 1U);
  EXPECT_EQ(TokenCounts{}.size(), 0U);
}

}  // namespace
}  // namespace assay::metrics
