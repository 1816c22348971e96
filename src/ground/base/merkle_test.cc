#include "base/merkle.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/format.h"
#include "base/hash.h"

namespace assay {
namespace {

// The leaves and roots of the reference implementation of RFC 6962.
TEST(Merkle, roots_are_those_of_certificate_transparency) {
  const std::vector<std::string> entries = {
      "",
      std::string(1, '\0'),
      "\x10",
      "\x20\x21",
      "\x30\x31",
      "\x40\x41\x42\x43",
      "\x50\x51\x52\x53\x54\x55\x56\x57",
      "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f"};
  const auto root_of = [&entries](std::size_t count) {
    std::vector<std::string> leaves;
    for (std::size_t i = 0; i < count; ++i) leaves.push_back(merkle_leaf(entries[i]));
    return MerkleTree(leaves).root();
  };
  EXPECT_EQ(root_of(1), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
  EXPECT_EQ(root_of(2), "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125");
  EXPECT_EQ(root_of(3), "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77");
  EXPECT_EQ(root_of(8), "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328");
}

TEST(Merkle, every_path_holds_and_no_other_does) {
  for (std::size_t count = 1; count <= 20; ++count) {
    std::vector<std::string> leaves;
    for (std::size_t i = 0; i < count; ++i) leaves.push_back(merkle_leaf(format("entry {}", i)));
    const MerkleTree tree(leaves);
    for (std::size_t i = 0; i < count; ++i) {
      const auto path = tree.path(i);
      EXPECT_TRUE(merkle_path_holds(leaves[i], i, count, path, tree.root()));
      EXPECT_FALSE(merkle_path_holds(leaves[i], i + 1, count, path, tree.root()));
      EXPECT_FALSE(merkle_path_holds(merkle_leaf("other"), i, count, path, tree.root()));
      if (path.empty()) continue;
      auto changed = path;
      changed.front().front() = changed.front().front() == '0' ? '1' : '0';
      EXPECT_FALSE(merkle_path_holds(leaves[i], i, count, changed, tree.root()));
      changed = path;
      changed.pop_back();
      EXPECT_FALSE(merkle_path_holds(leaves[i], i, count, changed, tree.root()));
      changed = path;
      changed.push_back(path.back());
      EXPECT_FALSE(merkle_path_holds(leaves[i], i, count, changed, tree.root()));
    }
  }
}

// By the recursion of the RFC, for trees that are no power of two.
TEST(Merkle, the_tree_is_the_recursive_one) {
  std::vector<std::string> leaves;
  const std::function<std::string(std::size_t, std::size_t)> slow = [&](std::size_t from,
                                                                        std::size_t count) {
    if (count == 1) return leaves[from];
    std::size_t left = 1;
    while (left * 2 < count) left *= 2;
    return MerkleTree({slow(from, left), slow(from + left, count - left)}).root();
  };
  for (std::size_t count = 1; count <= 40; ++count) {
    leaves.push_back(merkle_leaf(format("{}", count)));
    EXPECT_EQ(MerkleTree(leaves).root(), slow(0, count)) << count;
  }
}

}  // namespace
}  // namespace assay
